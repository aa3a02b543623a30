"""Compute every number of README's answers again, from the rows, with nothing but numpy.

    python -m studies.check_claims

It shares no code with the other files of the study: it reads the records of docs/results/atlas,
computes each number in the plainest way, and compares the numbers of each answer, in their order,
with those that README shows. A number that is wrong, missing or not computed here is an error.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "results" / "atlas"
REGIMES = ("tuned", "paper")
REPLICATES = ("deup", "dirichlet_multinomial", "pairs", "snapshots")
Row = dict[str, Any]
Table = dict[tuple[str, str], float]
"""A number for each (data set, method), mean over seeds."""


def rows_of(regime: str) -> list[Row]:
    """Return one row for each cell and loss of a regime."""
    rows = []
    for path in sorted(RECORDS.glob(f"{regime}-*.json")):
        record = json.loads(path.read_text())
        extras = {(e["method"], e["seed"], e["loss"]): e for e in record["extras"]}
        for cell in record["rows"]:
            name, method, seed = (cell["cell"][key] for key in ("dataset", "method", "seed"))
            for row in cell["rows"]:
                extra = extras.get((method, seed, row["loss"]), {})
                where = {"dataset": name, "method": method, "seed": seed}
                rows.append({**where, **row, **cell["proxies"], "extra": extra})
    return rows


def cells_of(name: str) -> list[Row]:
    """Return the cells of a record that has rows alone."""
    return list(json.loads((RECORDS / f"{name}.json").read_text())["rows"])


def table(rows: list[Row], loss: str, value: Callable[[Row], float | None]) -> Table:
    """Return the mean over seeds of a function of a row."""
    numbers: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["loss"] == loss and (number := value(row)) is not None:
            numbers.setdefault((row["dataset"], row["method"]), []).append(number)
    return {key: float(np.mean(ones)) for key, ones in numbers.items()}


def key(name: str) -> Callable[[Row], float | None]:
    """Return the function that takes a column from a row."""
    return lambda row: row.get(name)


def family(dataset: str) -> str:
    for name in ("sentiment", "emobank"):
        if dataset.startswith(name):
            return name
    return dataset


def by_family(numbers: Mapping[str, float]) -> np.ndarray:
    """Return the mean within each family, families in order of name."""
    names = sorted({family(d) for d in numbers})
    return np.array([np.mean([x for d, x in numbers.items() if family(d) == n]) for n in names])


def interval(x: np.ndarray) -> tuple[float, float]:
    """Return a 95 % interval of the mean: 2,000 resamples of the families, seed 0."""
    rng = np.random.default_rng(0)
    means = [np.mean(x[rng.integers(len(x), size=len(x))]) for _ in range(2_000)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def words(
    numbers: Mapping[str, float], digits: int, scale: float = 1, sign: str = "+"
) -> list[str]:
    """Return the mean over families and, with five families or more, its interval, as printed."""
    x = by_family(numbers)
    shown = [float(x.mean()), *(interval(x) if len(x) >= 5 else ())]
    return [f"{scale * one:{sign}.{digits}f}" for one in shown]


def n_families(numbers: Mapping[str, float]) -> str:
    return str(len({family(d) for d in numbers}))


def average(values: Table) -> dict[str, float]:
    """Return the mean over the methods of each data set."""
    return {
        name: float(np.mean([x for (d, _), x in values.items() if d == name]))
        for name in {d for d, _ in values}
    }


def tau(a: list[float], b: list[float]) -> float:
    """Return Kendall's tau-b by all pairs."""
    concordant, n_a, n_b = 0.0, 0, 0
    for i in range(len(a)):
        for j in range(i):
            x, y = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
            concordant, n_a, n_b = concordant + x * y, n_a + (x != 0), n_b + (y != 0)
    return float(concordant / np.sqrt(n_a * n_b)) if n_a and n_b else float("nan")


def taus(first: Table, second: Table, sign: int = 1) -> dict[str, float]:
    """Return tau between two columns on each data set with three methods that have both."""
    numbers = {}
    for name in {d for d, _ in first}:
        methods = sorted(m for d, m in first if d == name and (name, m) in second)
        if len(methods) >= 3:
            value = tau(
                [first[name, m] for m in methods], [sign * second[name, m] for m in methods]
            )
            if np.isfinite(value):
                numbers[name] = value
    return numbers


def first_methods(values: Table) -> str:
    """Return the method of the lowest mean rank among those that all data sets have."""
    names = {d for d, _ in values}
    methods = sorted(m for m in {m for _, m in values} if all((d, m) in values for d in names))
    means = {}
    for m in methods:
        places = {
            d: sum(
                (values[d, o] < values[d, m]) + 0.5 * (values[d, o] == values[d, m] and o != m)
                for o in methods
            )
            for d in names
        }
        means[m] = by_family(places).mean()
    best = min(means.values())
    return " and ".join(m for m in methods if means[m] <= best + 1e-12)


def answer_1(rows: Mapping[str, list[Row]]) -> list[str]:
    cells = {
        (loss, column): [first_methods(table(rows[r], loss, key(column))) for r in REGIMES]
        for loss in ("log", "zero_one")
        for column in ("n_aurec", "aurec")
    }
    shown = []
    for loss in ("log", "zero_one"):
        if len({name for column in ("n_aurec", "aurec") for name in cells[loss, column]}) == 1:
            shown.append(cells[loss, "aurec"][0])
        else:
            for column in ("n_aurec", "aurec"):
                shown += list(dict.fromkeys(cells[loss, column]))
    return [*shown, n_families(average(table(rows["tuned"], "log", key("n_aurec"))))]


def answer_2(rows: Mapping[str, list[Row]]) -> list[str]:  # noqa: ARG001
    shown: list[str] = []
    gaps: dict[str, float] = {}
    spread = ["dropout", "ensemble", "evidential"]
    for loss in ("log", "zero_one"):
        for regime in REGIMES:
            first, second = (table(baselines(regime), loss, noiseless(by)) for by in ("", "_total"))
            gaps = average({key: first[key] - second[key] for key in first if key[1] in spread})
            shown += words(gaps, 3)
        shown.append(n_families(gaps))
    shown += spread
    return shown


def is_clearly_below(numbers: Mapping[str, float]) -> bool:
    """Whether the interval and all flipped signs of the families say that a mean is below 0."""
    x = by_family(numbers)
    if len(x) < 5 or x.mean() >= 0 or interval(x)[1] >= 0:
        return False
    flips = [np.mean(x * (1 - 2 * ((i >> np.arange(len(x))) & 1))) for i in range(2 ** len(x))]
    return bool(np.mean(np.abs(flips) >= abs(x.mean()) - 1e-12) <= 0.05)


def baselines(regime: str) -> list[Row]:
    """Return the rows of the baselines; ensembles of twenty and tempered ones have other names."""
    rows = []
    for name, after in (("baselines", ""), ("twenty", " of twenty"), ("temperature", " tempered")):
        if regime == "paper" and name == "temperature":
            continue
        for cell in cells_of(name if regime == "tuned" else f"{name}-paper"):
            where = {key: cell["cell"][key] for key in ("dataset", "seed")}
            method = cell["cell"]["method"] + after
            rows += [{**row, **where, "method": method} for row in cell["rows"]]
    return rows


def noiseless(by: str) -> Callable[[Row], float | None]:
    """Return corrected n-AuReC, the plain one if p* is known."""
    exact, usual = f"n_aurec{by}", f"n_aurec{by}_corrected"
    return lambda row: row.get(exact if row["annotators_min"] is None else usual)


def against_one_network(rows: list[Row], method: str, by: str) -> dict[str, float]:
    """Return n-AuReC of a method minus that of one network's entropy, by data set."""
    base, values = table(rows, "log", noiseless("_total")), table(rows, "log", noiseless(by))
    return {
        d: x - base[d, "single"] for (d, m), x in values.items() if m == method and (d, m) in values
    }


def answer_3(rows: Mapping[str, list[Row]]) -> list[str]:
    shown: list[str] = []
    differences: dict[str, float] = {}
    for ours, theirs in (
        ("n_aurec", "n_aurec"),
        ("n_aurec", "n_aurec_total"),
        ("regret_calibration", "regret_calibration"),
    ):
        for regime in REGIMES:
            a, b = (table(rows[regime], "log", key(column)) for column in (ours, theirs))
            differences = {}
            for name in {d for d, m in a if m in REPLICATES}:
                x = np.mean([abs(v) for (d, m), v in a.items() if d == name and m in REPLICATES])
                y = np.mean(
                    [abs(v) for (d, m), v in b.items() if d == name and m not in REPLICATES]
                )
                differences[name] = float(x / y - 1)
            below = by_family(differences).mean() < 0  # then README says how much lower it is
            numbers = words(differences, 1, scale=-100 if below else 100, sign="")
            shown += [numbers[0], *(numbers[1:][::-1] if below else numbers[1:])]
    return [*shown, n_families(differences)]


def answer_4(rows: Mapping[str, list[Row]]) -> list[str]:
    shown: list[str] = []
    numbers: dict[str, float] = {}
    for proxy in ("near_ood", "far_ood", "auac"):
        for regime in REGIMES:
            first, second = (table(rows[regime], "log", key(c)) for c in ("aurec", proxy))
            numbers = taus(first, second, sign=-1)
            shown += words(numbers, 2)
        shown.append(n_families(numbers))
        for regime in REGIMES:
            first, second = (table(rows[regime], "log", key(c)) for c in ("n_aurec", proxy))
            shown.append(words(taus(first, second, sign=-1), 2)[0])
    active = [
        {**cell["cell"], **cell["proxies"], "loss": "log"} for cell in cells_of("active-learning")
    ]
    second = table(active, "log", key("nauc_epistemic"))
    numbers = taus(table(rows["paper"], "log", key("aurec")), second, sign=-1)
    other = taus(table(rows["paper"], "log", key("n_aurec")), second, sign=-1)
    return [*shown, *words(numbers, 2), n_families(numbers), words(other, 2)[0]]


def answer_5(rows: Mapping[str, list[Row]]) -> list[str]:
    tuned = rows["tuned"]
    whole = table(tuned, "log", key("n_aurec"))
    shown = []
    for other in (
        table(rows["paper"], "log", key("n_aurec")),
        table(tuned, "log", key("aurec")),
    ):
        numbers = taus(whole, other)
        shown += [*words(numbers, 2, sign=""), n_families(numbers)]
    return shown


def answer_6(rows: Mapping[str, list[Row]]) -> list[str]:
    def gain(row: Row) -> float | None:
        if row["extra"]["predicted_regret"] is None:
            return None
        rules = row["extra"]["rules"]
        return float(rules["learned"]["matched"] - rules["total"]["matched"])

    numbers = [average(table(rows[r], "log", gain)) for r in REGIMES]
    return [w for one in numbers for w in words(one, 2, scale=100)] + [n_families(numbers[0])]


def answer_7(rows: Mapping[str, list[Row]]) -> list[str]:  # noqa: ARG001
    ours = {regime: baselines(regime) for regime in REGIMES}
    shown = []
    for group in ours.values():
        for method in dict.fromkeys(row["method"] for row in group):
            rankings = ("_total",) if method.startswith("single") else ("", "_total")
            if any(is_clearly_below(against_one_network(group, method, by)) for by in rankings):
                shown.append(method.partition(" ")[0])
    for method in ("ensemble", "ensemble of twenty"):
        for group in ours.values():
            shown += words(against_one_network(group, method, ""), 3)
    return [*shown, n_families(against_one_network(ours["paper"], "ensemble of twenty", ""))]


def answer_8(rows: Mapping[str, list[Row]]) -> list[str]:  # noqa: ARG001
    pairs: list[str] = []
    for regime in REGIMES:
        scores = table(baselines(regime), "log", key("pair_log_loss"))
        names = {d for d, _ in scores}
        there = {m for _, m in scores if all((d, m) in scores for d in names)}
        values = {(d, m): x for (d, m), x in scores.items() if m in there}
        first = [m.partition(" ")[0] for m in first_methods(values).split(" and ")]
        pairs += [*first, str(len(there)), str(len({family(d) for d in names}))]
    ours = baselines("tuned")
    star, hat = (table(ours, "log", key(f"agreement_{end}")) for end in ("star", "hat"))
    pairs.append(f"{star['sentiment-movies', 'single']:.3f}")
    for method in ("ensemble", "dirichlet_multinomial"):
        pairs += [method, f"{hat['sentiment-movies', method]:.3f}"]
    return pairs


ANSWERS = (answer_1, answer_2, answer_3, answer_4, answer_5, answer_6, answer_7, answer_8)


def claims(text: str, methods: set[str]) -> list[str]:
    """Return the numbers and the names of methods in a text, in their order."""
    text = text.replace("95 %", "").replace("0/1", "").replace("1 - max", "")
    names = "|".join(sorted(methods | {"no method"}, key=len, reverse=True))
    return re.findall(rf"\b(?:{names})\b|[+-]?\d+(?:\.\d+)?", text)


def errors(readme: str) -> list[str]:
    """Return what README says and the rows do not."""
    block = readme.partition("<!-- begin atlas -->")[2].partition("<!-- end atlas -->")[0]
    lines = [line.partition(". ")[2] for line in block.strip().splitlines()]
    if len(lines) != len(ANSWERS):
        return [f"README has {len(lines)} answers, and {len(ANSWERS)} can be computed"]
    rows = {regime: rows_of(regime) for regime in REGIMES}
    methods = {row["method"] for row in rows["tuned"]} | {"knn", "strength", "confidence", "single"}
    wrong = []
    for number, (line, answer) in enumerate(zip(lines, ANSWERS, strict=True), 1):
        shown, computed = claims(line, methods), answer(rows)
        if shown != computed:
            wrong.append(f"answer {number}: README shows {shown}, the rows give {computed}")
    return wrong


def main() -> None:
    wrong = errors((ROOT / "README.md").read_text())
    print("\n".join(wrong) or f"all numbers of the {len(ANSWERS)} answers follow from the rows")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

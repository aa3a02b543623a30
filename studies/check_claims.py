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
from functools import cache
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
    drawn = np.random.default_rng(0).integers(len(x), size=(2_000, len(x)))
    low, high = np.quantile(x[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


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


def mean_ranks(values: Table) -> dict[str, np.ndarray]:
    """Return the rank by family of each method that all data sets have, 1 the lowest."""
    names = {d for d, _ in values}
    methods = sorted(m for m in {m for _, m in values} if all((d, m) in values for d in names))
    ranks = {}
    for m in methods:
        places = {}
        for d in names:
            others = [values[d, o] - values[d, m] for o in methods if o != m]
            places[d] = 1 + sum((x < 0) + 0.5 * (x == 0) for x in others)
        ranks[m] = by_family(places)
    return ranks


def first_methods(values: Table) -> list[str]:
    """Return the methods with the lowest mean rank."""
    ranks = mean_ranks(values)
    best = min(x.mean() for x in ranks.values())
    return [m for m, x in ranks.items() if x.mean() <= best + 1e-12]


def ranked(tables: Mapping[str, Table]) -> list[str]:
    """Return the first methods and their mean rank in each regime; equal names once."""
    shown: list[str] = []
    for values in tables.values():
        first = first_methods(values)
        x = mean_ranks(values)[first[0]]
        new = [name_of(m) for m in first]
        shown += [*(new if new != shown[: len(new)] else ()), f"{x.mean():.1f}"]
        shown += [f"{end:.1f}" for end in interval(x)]
    return shown


def name_of(method: str) -> str:
    """Return the name of a method without that of its variant."""
    return method.partition(" ")[0]


def answer_1(rows: Mapping[str, list[Row]]) -> list[str]:
    def corrected(row: Row) -> float | None:
        is_exact = row["annotators_min"] is None
        number: float | None = row["n_aurec"] if is_exact else row["extra"]["corrected"]["n_aurec"]
        return number

    main = {r: table(rows[r], "log", corrected) for r in REGIMES}
    n_methods, families = len(mean_ranks(main["tuned"])), n_families(average(main["tuned"]))
    shown = [*ranked(main), str(n_methods), families]
    for loss, column in (("log", "aurec"), ("zero_one", "n_aurec")):
        names = [first_methods(table(rows[r], loss, key(column))) for r in REGIMES]
        shown += names[0] if names[0] == names[1] else names[0] + names[1]
    return shown


def answer_2(rows: Mapping[str, list[Row]]) -> list[str]:  # noqa: ARG001
    shown: list[str] = []
    clear = []
    gaps: dict[str, float] = {}
    for loss in ("log", "zero_one"):
        for regime in REGIMES:
            first, second = (table(baselines(regime), loss, noiseless(by)) for by in ("", "_total"))
            chosen = [key for key in first if key[1] in ("dropout", "ensemble", "evidential")]
            gaps = average({key: first[key] - second[key] for key in chosen})
            shown += words(gaps, 3) if loss == "log" else ()
            clear.append(is_clearly_below({d: -x for d, x in gaps.items()}))
        shown += [n_families(gaps)] if loss == "log" else ()
    return [*shown, *where(clear[:2]), *where(clear[2:])]


def where(clear: list[bool]) -> list[str]:
    """Return the words that say in which regimes something is clear."""
    if len(set(clear)) == 1:
        return ["in both regimes" if clear[0] else "in neither regime"]
    return [f"in the {REGIMES[clear.index(True)]} regime only"]


def is_clearly_below(numbers: Mapping[str, float]) -> bool:
    """Whether the interval and all flipped signs of the families say that a mean is below 0."""
    x = by_family(numbers)
    if len(x) < 5 or x.mean() >= 0 or interval(x)[1] >= 0:
        return False
    flips = [np.mean(x * (1 - 2 * ((i >> np.arange(len(x))) & 1))) for i in range(2 ** len(x))]
    return bool(np.mean(np.abs(flips) >= abs(x.mean()) - 1e-12) <= 0.05)


@cache
def baselines(regime: str) -> list[Row]:
    """Return the rows of the baselines; ensembles of twenty and tempered ones have other names."""
    rows = []
    for name, after in (("baselines", ""), ("twenty", " of twenty"), ("temperature", " tempered")):
        if regime == "paper" and name == "temperature":
            continue
        path = RECORDS / f"{name if regime == 'tuned' else f'{name}-paper'}.json"
        record = json.loads(path.read_text())
        partial = {cell.partition("/")[0] for cell in record["missing"]}
        for cell in record["rows"]:
            if cell["cell"]["dataset"] in partial:
                continue
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
    mine = [row for row in rows if row["method"] in (method, "single")]
    base, values = (table(mine, "log", noiseless(ranking)) for ranking in ("_total", by))
    return {
        d: x - base[d, "single"] for (d, m), x in values.items() if m == method and (d, m) in values
    }


def answer_3(rows: Mapping[str, list[Row]]) -> list[str]:
    shown: list[str] = []
    differences: dict[str, float] = {}
    for ours, theirs in (("regret_calibration",) * 2, ("n_aurec", "n_aurec_total")):
        for regime in REGIMES:
            a, b = (table(rows[regime], "log", key(column)) for column in (ours, theirs))
            differences = {}
            for name in {d for d, m in a if m in REPLICATES}:
                x = np.mean([abs(v) for (d, m), v in a.items() if d == name and m in REPLICATES])
                y = np.mean(
                    [abs(v) for (d, m), v in b.items() if d == name and m not in REPLICATES]
                )
                differences[name] = float(x / y - 1)
            shown += words(differences, 0, scale=100)
    return [*shown, n_families(differences)]


def answer_4(rows: Mapping[str, list[Row]]) -> list[str]:
    shown: list[str] = []
    for column in ("aurec", "n_aurec"):
        for regime in REGIMES:
            first, second = (table(rows[regime], "log", key(c)) for c in (column, "auac"))
            numbers = taus(first, second, sign=-1)
            shown += words(numbers, 2)[: 3 if column == "aurec" else 1]
        shown += [n_families(numbers)] if column == "aurec" else ()
    regret = {r: table(rows[r], "log", key("aurec")) for r in REGIMES}
    ood = [
        len({family(d) for d in taus(regret[r], table(rows[r], "log", key(c)))})
        for r in REGIMES
        for c in ("near_ood", "far_ood")
    ]
    cells = json.loads((RECORDS / "active-learning.json").read_text())["rows"]
    learnt = [{**cell["cell"], **cell["proxies"], "loss": "log"} for cell in cells]
    asked = taus(regret["paper"], table(learnt, "log", key("nauc_epistemic")))
    return [*shown, str(max(ood)), n_families(asked)]


def answer_5(rows: Mapping[str, list[Row]]) -> list[str]:
    whole = table(rows["tuned"], "log", key("n_aurec"))
    others = (("paper", "n_aurec"), ("tuned", "aurec"))
    numbers = [taus(whole, table(rows[r], "log", key(column))) for r, column in others]
    return [w for one in numbers for w in words(one, 2, sign="")] + [n_families(numbers[0])]


def answer_6(rows: Mapping[str, list[Row]]) -> list[str]:
    def gain(row: Row) -> float | None:
        if row["extra"]["predicted_regret"] is None:
            return None
        rules = row["extra"]["rules"]
        return float(rules["learned"]["matched"] - rules["total"]["matched"])

    numbers = [average(table(rows[r], "log", gain)) for r in REGIMES]
    shown = [w for one in numbers for w in words(one, 2, scale=100)]
    clear = [
        any(is_clearly_below({d: s * x for d, x in n.items()}) for s in (1, -1)) for n in numbers
    ]
    return [*shown, n_families(numbers[0]), *where(clear)]


def answer_7(rows: Mapping[str, list[Row]]) -> list[str]:  # noqa: ARG001
    names, shown = [], []
    for regime in REGIMES:
        group = baselines(regime)
        for method in dict.fromkeys(row["method"] for row in group):
            rankings = ("_total",) if method.startswith("single") else ("", "_total")
            if any(is_clearly_below(against_one_network(group, method, by)) for by in rankings):
                names.append(name_of(method))
        gaps = against_one_network(group, "ensemble", "")
        shown += words(gaps, 3)
    return [*names, "ensemble", *shown, n_families(gaps)]


def answer_8(rows: Mapping[str, list[Row]]) -> list[str]:  # noqa: ARG001
    scores, errors = {}, []
    for regime in REGIMES:
        group = baselines(regime)
        scores[regime] = table(group, "log", key("pair_log_loss"))
        hat, star = (table(group, "log", key(f"agreement_{end}")) for end in ("hat", "star"))
        gaps = {d: abs(x - star[d, "single"]) for (d, m), x in hat.items() if m == "ensemble"}
        errors += words(gaps, 3, sign="")
    shared = mean_ranks(scores["tuned"]).keys() & mean_ranks(scores["paper"]).keys()
    scores = {r: {k: x for k, x in t.items() if k[1] in shared} for r, t in scores.items()}
    return [*ranked(scores), str(len(shared)), "ensemble", *errors, n_families(gaps)]


ANSWERS = (answer_1, answer_2, answer_3, answer_4, answer_5, answer_6, answer_7, answer_8)


def claims(text: str, methods: set[str]) -> list[str]:
    """Return the numbers, the names of methods and the regimes of clear results, in their order."""
    text = text.replace("95 %", "").replace("0/1", "").replace("1 - max", "")
    names = "|".join(sorted(methods, key=len, reverse=True))
    regimes = r"in (?:both|neither|the \w+) regimes?(?: only)?"
    return re.findall(rf"\b(?:{names})\b|{regimes}|[+-]?\d+(?:\.\d+)?", text)


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

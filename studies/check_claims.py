"""Compute every number of the eight answers again, from the rows, with nothing but numpy.

    python -m studies.check_claims

It shares no code with the other files of the study: it reads the records of docs/results/atlas,
computes each number in the plainest way, and compares the numbers of each answer, in their order,
with those that README and docs/findings.md show. So it does with the names of methods, the regimes
and what is clear in which. What is wrong, missing or not computed here is an error.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "results" / "atlas"
README, FINDINGS = ROOT / "README.md", ROOT / "docs" / "findings.md"
REGIMES = ("tuned", "paper")
ENSEMBLE = "ensemble"
REPLICATES = ("deup", "dirichlet_multinomial", "pairs", "snapshots")
Row = dict[str, Any]
Table = dict[tuple[str, str], float]
"""A number for each (data set, method), mean over seeds."""
Shown = tuple[list[str], list[str]]
"""What README and docs/findings.md show of an answer."""


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


def both(
    numbers: Mapping[str, Mapping[str, float]], digits: int, scale: float = 1, sign: str = "+"
) -> list[str]:
    """Return these words in each regime, with its name."""
    return [w for r, one in numbers.items() for w in (*words(one, digits, scale, sign), r)]


def alone(
    numbers: Mapping[str, Mapping[str, float]], digits: int, scale: float = 1, sign: str = "+"
) -> list[str]:
    """Return these words in the first regime, with its name and the number of families."""
    regime, one = next(iter(numbers.items()))
    return [*words(one, digits, scale, sign), regime, n_families(one)]


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
    for regime, values in tables.items():
        first = first_methods(values)
        x = mean_ranks(values)[first[0]]
        new = [name_of(m) for m in first]
        shown += [*(new if new != shown[: len(new)] else ()), f"{x.mean():.1f}"]
        shown += [*(f"{end:.1f}" for end in interval(x)), regime]
    return shown


def lead(tables: Mapping[str, Table]) -> list[str]:
    """Return the first methods of the first regime, and in which regimes the lead is clear."""
    regime, values = next(iter(tables.items()))
    shown = ranked({regime: values})[:-1]
    n_methods, families = str(len(mean_ranks(values))), n_families(average(values))
    return [*shown, n_methods, regime, families, where(list(map(is_ahead, tables.values())))]


def is_ahead(values: Table) -> bool:
    """Whether Nemenyi's test separates one method from all others at the 5 % level.

    The probability that the range of k standard normal numbers is above q is one minus k times the
    integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1).
    """
    ranks = mean_ranks(values)
    best, second, *_ = sorted(x.mean() for x in ranks.values())
    k, n = len(ranks), len(next(iter(ranks.values())))
    q = (second - best) * np.sqrt(12 * n / (k * (k + 1)))
    z = np.linspace(-9, 9, 9_001)
    below, shifted = (0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) for x in (z, z - q))
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    inside = k * np.sum(density * (below - shifted) ** (k - 1)) * (z[1] - z[0])
    return bool(n >= 5 and 1 - inside <= 0.05)


def name_of(method: str) -> str:
    """Return the name of a method without that of its variant."""
    return method.partition(" ")[0]


def answer_1(rows: Mapping[str, list[Row]]) -> Shown:
    def corrected(row: Row) -> float | None:
        is_exact = row["annotators_min"] is None
        number: float | None = row["n_aurec"] if is_exact else row["extra"]["corrected"]["n_aurec"]
        return number

    main = {r: table(rows[r], "log", corrected) for r in REGIMES}
    *_, n_methods, _, families, clear = line = lead(main)
    shown = [*ranked(main), n_methods, families, clear]
    for loss, column in (("log", "aurec"), ("zero_one", "n_aurec")):
        names = [first_methods(table(rows[r], loss, key(column))) for r in REGIMES]
        same = names[0] == names[1]
        shown += names[0] if same else [*names[0], REGIMES[0], *names[1], REGIMES[1]]
    return line, shown


def answer_2(rows: Mapping[str, list[Row]]) -> Shown:  # noqa: ARG001
    log, zero_one = (
        {r: above_total(baselines(r), loss) for r in REGIMES} for loss in ("log", "zero_one")
    )
    sure = {r: above_total(reliable(baselines(r)), "log") for r in REGIMES}
    better, worse = (clear_where(log, sign) for sign in (-1, 1))
    lost = [r for r in REGIMES if is_clear(log[r]) and not is_clear(sure[r])]
    shown = [better, *both(log, 3), n_families(log["paper"]), worse, clear_where(zero_one, 1)]
    return [better, worse, *alone(log, 3), *lost], shown + lost


def above_total(rows: list[Row], loss: str) -> dict[str, float]:
    """Return n-AuReC by epistemic minus that by total, mean over three methods, by data set."""
    first, second = (table(rows, loss, noiseless(by)) for by in ("", "_total"))
    chosen = [key for key in first if key[1] in ("dropout", "ensemble", "evidential")]
    return average({key: first[key] - second[key] for key in chosen})


def reliable(rows: list[Row]) -> list[Row]:
    """Return the rows of data sets without a mark under log loss that a number is unreliable."""
    log = [row for row in rows if row["loss"] == "log"]
    marked = {row["dataset"] for row in log if any("unreliable" in note for note in row["notes"])}
    return [row for row in rows if row["dataset"] not in marked]


def where(clear: list[bool]) -> str:
    """Return the words that say in which regimes something is clear."""
    if len(set(clear)) == 1:
        return "in both regimes" if clear[0] else "in neither regime"
    return f"in the {REGIMES[clear.index(True)]} regime only"


def clear_where(numbers: Mapping[str, Mapping[str, float]], *signs: int) -> str:
    """Return in which regimes a mean is clear, and of one of these signs."""
    return where([is_clear(numbers[r], *signs) for r in REGIMES])


def is_clear(numbers: Mapping[str, float], *signs: int) -> bool:
    """Whether the interval and all flipped signs of the families agree on the sign of a mean."""
    x = by_family(numbers)
    if len(x) < 5 or np.sign(x.mean()) not in (signs or (-1, 1)):
        return False
    low, high = interval(x)
    if low <= 0 <= high:
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


def answer_3(rows: Mapping[str, list[Row]]) -> Shown:
    shown: list[str] = []
    line: list[str] = []
    for ours, theirs in (("regret_calibration",) * 2, ("n_aurec", "n_aurec_total")):
        differences: dict[str, dict[str, float]] = {r: {} for r in REGIMES}
        for regime, by_name in differences.items():
            a, b = (table(rows[regime], "log", key(column)) for column in (ours, theirs))
            for name in {d for d, m in a if m in REPLICATES}:
                x = np.mean([abs(v) for (d, m), v in a.items() if d == name and m in REPLICATES])
                y = np.mean(
                    [abs(v) for (d, m), v in b.items() if d == name and m not in REPLICATES]
                )
                by_name[name] = float(x / y - 1)
        line = line or alone(differences, 0, scale=100)
        shown += both(differences, 0, scale=100)
    untested = ["cannot be tested"] if int(line[-1]) < 5 else []
    return line + untested, [*shown, line[-1], *untested]


def answer_4(rows: Mapping[str, list[Row]]) -> Shown:
    tables = {r: {c: table(rows[r], "log", key(c)) for c in ("aurec", "n_aurec")} for r in REGIMES}
    auac = {r: table(rows[r], "log", key("auac")) for r in REGIMES}
    main, other = (
        {r: taus(tables[r][c], auac[r], sign=-1) for r in REGIMES} for c in ("aurec", "n_aurec")
    )
    ood = [
        len({family(d) for d in taus(tables[r]["aurec"], table(rows[r], "log", key(c)))})
        for r in REGIMES
        for c in ("near_ood", "far_ood")
    ]
    cells = json.loads((RECORDS / "active-learning.json").read_text())["rows"]
    learnt = [{**cell["cell"], **cell["proxies"], "loss": "log"} for cell in cells]
    asked = taus(tables["paper"]["aurec"], table(learnt, "log", key("nauc_epistemic")))
    untested = "cannot be tested"
    means = [words(one, 2)[0] for one in other.values()]
    shown = [*both(main, 2), n_families(main["tuned"]), *means, str(max(ood)), n_families(asked)]
    return [*alone(main, 2), clear_where(main), untested], [*shown, untested]


def answer_5(rows: Mapping[str, list[Row]]) -> Shown:
    whole = table(rows["tuned"], "log", key("n_aurec"))
    regimes, criteria = (
        taus(whole, table(rows[r], "log", key(column)))
        for r, column in (("paper", "n_aurec"), ("tuned", "aurec"))
    )
    shown, families = words(regimes, 2), n_families(regimes)
    return [*shown, families], ["tuned", *shown, *words(criteria, 2), families]


def answer_6(rows: Mapping[str, list[Row]]) -> Shown:
    def gain(row: Row) -> float | None:
        if row["extra"]["predicted_regret"] is None:
            return None
        rules = row["extra"]["rules"]
        return float(rules["learned"]["matched"] - rules["total"]["matched"])

    numbers = {r: average(table(rows[r], "log", gain)) for r in REGIMES}
    clear = clear_where(numbers)
    shown = [*both(numbers, 2, scale=100), n_families(numbers["tuned"]), clear]
    return [*alone(numbers, 2, scale=100), clear], shown


def answer_7(rows: Mapping[str, list[Row]]) -> Shown:  # noqa: ARG001
    names: dict[str, list[str]] = {r: [] for r in REGIMES}
    gaps = {r: against_one_network(baselines(r), "ensemble", "") for r in REGIMES}
    for regime, better in names.items():
        group = baselines(regime)
        for method in dict.fromkeys(row["method"] for row in group):
            rankings = ("_total",) if method.startswith("single") else ("", "_total")
            if any(is_clear(against_one_network(group, method, by), -1) for by in rankings):
                better.append(name_of(method))
    better_in = where([bool(names[r]) for r in REGIMES])
    named = [word for r in REGIMES for word in (*names[r], r)]
    shown = [*named, "ensemble", *both(gaps, 3), n_families(gaps["paper"])]
    return [better_in, "ensemble", *alone(gaps, 3)], shown


def answer_8(rows: Mapping[str, list[Row]]) -> Shown:  # noqa: ARG001
    scores, gaps = {}, {}
    for regime in REGIMES:
        group = baselines(regime)
        scores[regime] = table(group, "log", key("pair_log_loss"))
        hat, star = (table(group, "log", key(f"agreement_{end}")) for end in ("hat", "star"))
        gaps[regime] = {d: abs(x - star[d, "single"]) for (d, m), x in hat.items() if m == ENSEMBLE}
    shared = mean_ranks(scores["tuned"]).keys() & mean_ranks(scores["paper"]).keys()
    scores = {r: {k: x for k, x in t.items() if k[1] in shared} for r, t in scores.items()}
    misjudged = [*both(gaps, 3, sign=""), n_families(gaps["paper"])]
    return lead(scores), [*ranked(scores), str(len(shared)), ENSEMBLE, *misjudged]


ANSWERS = (answer_1, answer_2, answer_3, answer_4, answer_5, answer_6, answer_7, answer_8)


def claims(text: str, methods: set[str]) -> list[str]:
    """Return numbers, names of methods, regimes and what is clear where, in their order."""
    text = text.replace("95 %", "").replace("0/1", "").replace("1 - max", "")
    names = "|".join(sorted(methods, key=len, reverse=True))
    clear = r"in (?:both|neither|the \w+) regimes?(?: only)?|cannot be tested"
    regimes = r"\b(?:tuned|paper)\b(?!'s| settings)"
    return re.findall(rf"\b(?:{names})\b|{clear}|{regimes}|[+-]?\d+(?:\.\d+)?", text)


def block(page: str, name: str) -> list[str]:
    """Return the answers of a page between its marks."""
    text = page.partition(f"<!-- begin {name} -->")[2].partition(f"<!-- end {name} -->")[0]
    return [re.sub(r"^(\*\*.*?\*\*|\d\. \*.*?\*)", "", line) for line in text.split("\n") if line]


def errors(readme: str, findings: str) -> list[str]:
    """Return what README and the page of findings say and the rows do not."""
    rows = {regime: rows_of(regime) for regime in REGIMES}
    methods = {row["method"] for row in rows["tuned"]} | {"knn", "strength", "confidence", "single"}
    computed = list(zip(*(answer(rows) for answer in ANSWERS), strict=True))
    wrong = []
    for i, (page, lines) in enumerate(
        {"README": block(readme, "atlas"), "findings": block(findings, "answers")}.items()
    ):
        if len(lines) != len(ANSWERS):
            wrong.append(f"{page} has {len(lines)} answers, and {len(ANSWERS)} can be computed")
            continue
        for number, (line, expected) in enumerate(zip(lines, computed[i], strict=True), 1):
            shown = claims(line, methods)
            if shown != expected:
                wrong.append(f"answer {number}: {page} shows {shown}, the rows give {expected}")
    return wrong


def main() -> None:
    wrong = errors(README.read_text(), FINDINGS.read_text())
    print("\n".join(wrong) or f"all numbers of the {len(ANSWERS)} answers follow from the rows")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

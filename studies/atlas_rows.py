"""Import the cells of the atlas: rows, intervals, tests, and what needs the predictions.

A record is docs/results/atlas/REGIME-DATASET.json: every cell's row, the table with intervals over
test points, paired tests, and ``extras`` of each cell and loss: n-AuReC under the published
convention, corrected columns, and the coverage that deployed rules attain.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rue import Components, realize
from rue._arrays import FloatArray
from rue._schema import plain
from rue.beliefs import Belief
from rue.bench.baselines import pack
from rue.bench.cells import Cell, CellRow, cells, has_settings
from rue.bench.resampling import compare_methods, draw, with_intervals
from rue.bench.store import Store
from rue.bench.suite import read_suite
from rue.bench.tables import Results, read_results, table_rows
from rue.components import Run
from rue.deploy import compare_rules
from rue.io.predictions import read_belief
from rue.io.runs import make_run
from rue.metrics.evaluation import evaluate_run
from rue.selectors.selector import Problem
from studies import RESULTS
from studies.results import is_part, paired_tests, with_again
from studies.rows import Row

FOLDER = RESULTS / "atlas"
SUITES = {"tuned": "atlas", "paper": "atlas-paper"}
ACTIVE = "atlas-active"
"""The suite of active learning, in the paper's regime."""
PLAIN = {
    ACTIVE: "active-learning",
    "atlas-single-tuned": "single-tuned",
    "atlas-single-paper": "single-paper",
    "atlas-baselines": "baselines",
    "atlas-twenty": "twenty",
    "atlas-temperature": "temperature",
    "atlas-baselines-paper": "baselines-paper",
    "atlas-twenty-paper": "twenty-paper",
}
"""Suites of which pages need the rows alone, and the names of their records."""
TWENTY = {"ensemble": "ensemble of twenty"}
BASELINES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "tuned": {
        "baselines": {},
        "twenty": TWENTY,
        "temperature": {"single": "single, tempered", "ensemble": "ensemble, tempered"},
    },
    "paper": {"baselines-paper": {}, "twenty-paper": TWENTY},
}
"""The records of the baselines in each regime, and the names of methods that are variants."""
LEVEL = 0.95
N_REPLICATES = 4_000
"""Enough for Holm's correction over the 66 pairs of twelve methods."""
EXTRAS = 2
"""Raise it when :func:`extra` changes: what was computed before is computed again then."""
LOSS = "log"
"""The loss of intervals, paired tests and extras."""
INTERVALS = ("aurec", "n_aurec", "regret_calibration")
RISK_SHARE, REGRET_SHARE = 0.6, 0.5
"""Budgets of the deployed rules, as shares of what accepting every point costs."""


def names(regime: str) -> list[str]:
    """Return the data sets that have a record, in the order of the suite."""
    return [n for n in read_suite(SUITES[regime]).datasets if path(regime, n).exists()]


def path(regime: str, dataset: str) -> Path:
    """Return where the record of a data set is."""
    return FOLDER / f"{regime}-{dataset}.json"


def read(regime: str, dataset: str) -> Row:
    """Return the record of a data set; an empty one if there is none."""
    file = path(regime, dataset)
    return dict(json.loads(file.read_text())) if file.exists() else {}


def import_cells(regime: str, folder: Path) -> None:
    """Write the record of every data set of which a folder has cells.

    A folder with some of the cells of a record replaces these (:func:`studies.results.with_again`).
    """
    store = Store(folder)
    results = read_results(store)
    for dataset in dict.fromkeys(cell.dataset for cell in results.raw):
        record = make_record(store, results, dataset, known=read(regime, dataset))
        FOLDER.mkdir(parents=True, exist_ok=True)
        path(regime, dataset).write_text(as_lines(record))


def make_record(store: Store, results: Results, dataset: str, *, known: Row) -> Row:
    """Return the record of one data set; what a former one has is not computed again."""
    raw = {cell: row for cell, row in results.raw.items() if cell.dataset == dataset}
    done = {row["predictions_sha256"] for row in known.get("rows", ())}
    part = replace(results, raw=raw)
    if known and is_part(known, part):
        return _with_extras(store, with_again(known, part), raw)
    same = known.get("n_replicates") == N_REPLICATES
    if same and done == {row.predictions_sha256 for row in raw.values()}:
        intervals = {key: known[key] for key in ("table", "tests")}
    else:
        rows = table_rows(row for row in results.rows if row["dataset"] == dataset)
        first = [row for row in rows if row["loss"] == LOSS]
        drawn = draw(store, first, n_replicates=N_REPLICATES)
        ranking = compare_methods(first, drawn, level=LEVEL)
        table = [_with_few_intervals(row) for row in with_intervals(rows, drawn, level=LEVEL)]
        intervals = {"table": table, "tests": paired_tests(first, ranking)}
    record = {
        "suite": results.suite,
        "text": store.suite().text,
        "rows": [plain(row) for row in raw.values()],
        "n_replicates": N_REPLICATES,
        **intervals,
        "extras": known.get("extras", []),
        "missing": [str(cell) for cell in results.missing if cell.dataset == dataset],
    }
    return _with_extras(store, record, raw)


def _with_extras(store: Store, record: Row, raw: Mapping[Cell, CellRow]) -> Row:
    """Return a record with the extras of its rows; those of new predictions are computed."""
    extras = {each["sha256"]: each for each in record["extras"] if each.get("version") == EXTRAS}
    for cell, row in raw.items():
        key = row.predictions_sha256
        if key not in extras:
            named = {"method": cell.method, "seed": cell.seed, "loss": LOSS, "sha256": key}
            extras[key] = (
                named
                | {"version": EXTRAS}
                | extra(read_belief(store.predictions(cell)), seed=cell.seed)
            )
    rows = [without_details(row) for row in record["rows"]]
    return {**record, "rows": rows, "extras": [extras[row["predictions_sha256"]] for row in rows]}


def without_details(row: Row) -> Row:
    """Return a cell's row without the curves of its proxies, which no page shows."""
    proxies = {key: value for key, value in row.get("proxies", {}).items() if key != "details"}
    return {**row, "proxies": proxies}


def _with_few_intervals(row: Row) -> Row:
    """Return a line of the table with the intervals that pages show."""
    ends = [f"{key}_ci_{end}" for key in INTERVALS for end in ("low", "high")]
    return {key: value for key, value in row.items() if "_ci_" not in key or key in ends}


def as_lines(record: Row) -> str:
    """Return a record as JSON with one line for each row: a third shorter than indented."""
    parts = []
    for key, value in record.items():
        text = json.dumps(value, separators=(",", ":"))
        if isinstance(value, list) and value:
            lines = [json.dumps(each, separators=(",", ":")) for each in value]
            text = "[\n" + ",\n".join(lines) + "]"
        parts.append(f"{json.dumps(key)}:{text}")
    return "{\n" + ",\n".join(parts) + "}\n"


def extra(belief: Belief, *, seed: int) -> Row:
    """Return what one prediction file says beyond its row, under log loss.

    ``predicted_regret`` is the mean epistemic uncertainty. The mean true regret is between
    ``regret_low``, with leave-one-out Bayes risks, and ``regret_high``, the plug-in one; they are
    the same if p* is known.
    """
    run = make_run(belief, None, LOSS, with_answers=None)
    published = make_run(belief, None, LOSS, convention="published")
    answers = belief.truth
    assert answers is not None
    high = low = float(run.star.epistemic.mean())
    if run.answers is not None:
        star = realize(answers, belief, LOSS, estimator="leave_one_out")
        low = float(star.epistemic.mean())
    corrected = evaluate_run(run, gap=False, corrected=True).to_dict()
    return {
        "published": {"n_aurec": evaluate_run(published, gap=False).to_dict()["n_aurec"]},
        "corrected": {"n_aurec": corrected["n_aurec_corrected"]},
        "predicted_regret": None if run.hat.outside_score else float(run.hat.epistemic.mean()),
        "regret_low": low,
        "regret_high": high,
        "rules": rules(run, seed=seed),
    }


def rules(run: Run, *, seed: int) -> dict[str, Any]:
    """Return the coverage that rules fitted on half of the points attain on the other half.

    They maximise coverage under budgets on risk and on regret; ``kept`` says whether the rule kept
    both on the new points. A rule that breaks its budgets accepts more, so ``matched`` is the
    coverage with the threshold that uses up the budgets on the new points: it depends on the
    rule's order alone.
    """
    halves = np.array_split(np.random.default_rng(seed).permutation(len(run)), 2)
    cal, new = (run[np.sort(half)] for half in halves)
    risk = RISK_SHARE * float(cal.star.total.mean())
    regret = REGRET_SHARE * float(cal.star.epistemic.mean())
    problem = Problem(maximize="coverage", risk_max=risk, regret_max=regret)
    found = compare_rules(cal.star, cal.hat, new.star, new.hat, problem, seed=seed)
    return {
        one.name: {
            "coverage": one.coverage,
            "kept": bool(one.risk <= risk and one.regret <= regret),
            "matched": one.coverage
            if one.rule is None
            else matched_coverage(one.rule.score(new.hat), new.star, risk, regret),
        }
        for one in found
    }


def matched_coverage(score: FloatArray, star: Components, risk: float, regret: float) -> float:
    """Return the largest share of points, lowest scores first, that keeps both budgets.

    Points with the same score are accepted together.
    """
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    ends = np.append(np.flatnonzero(ordered[1:] > ordered[:-1]), len(order) - 1)
    kept = np.ones(len(ends), dtype=bool)
    for losses, budget in ((star.total, risk), (star.epistemic, regret)):
        kept &= np.cumsum(losses[order])[ends] <= budget * len(order)
    first_broken = len(ends) if kept.all() else int(np.argmin(kept))
    return 0.0 if first_broken == 0 else float((ends[first_broken - 1] + 1) / len(order))


def import_plain(name: str, folder: Path) -> None:
    """Add the cells of a folder to the record of a suite of which pages need the rows alone."""
    store = Store(folder)
    suite = store.suite()
    stored = {Cell(**row["cell"]): row for row in plain_record(name)["rows"]}
    rows = {c: row for c, row in stored.items() if has_settings(suite, c, row["config"])}
    rows |= {cell: plain(row) for cell, row in read_results(store).raw.items()}
    record = {
        "suite": suite.name,
        "text": suite.text,
        "rows": [rows[cell] for cell in cells(suite) if cell in rows],
        "missing": [str(cell) for cell in cells(suite) if cell not in rows],
    }
    plain_path(name).write_text(as_lines(record))


def plain_path(name: str) -> Path:
    """Return where the record of such a suite is."""
    return FOLDER / f"{name}.json"


def plain_record(name: str) -> Row:
    """Return the record of such a suite; an empty one if there is none."""
    file = plain_path(name)
    return dict(json.loads(file.read_text())) if file.exists() else {"rows": []}


def active_rows() -> list[Row]:
    """Return one row for each cell of active learning, with its NAUC by acquisition."""
    return [
        {**{key: cell["cell"][key] for key in ("dataset", "method", "seed")}, **cell["proxies"]}
        for cell in plain_record(PLAIN[ACTIVE])["rows"]
    ]


def single_rows(regime: str) -> list[Row]:
    """Return one row for each cell and loss of a single network."""
    return _by_loss(f"single-{regime}")


def baseline_rows(regime: str) -> list[Row]:
    """Return one row for each cell and loss of the baselines."""
    return [
        row | {"method": labels.get(row["method"], row["method"])}
        for name, labels in BASELINES[regime].items()
        for row in _by_loss(name)
    ]


def _by_loss(name: str) -> list[Row]:
    """Return one row for each cell and loss of the data sets of which no cell is missing."""
    record = plain_record(name)
    partial = {cell.partition("/")[0] for cell in record.get("missing", ())}
    return [
        {**row, **{key: cell["cell"][key] for key in ("dataset", "method", "seed")}}
        for cell in record["rows"]
        for row in cell["rows"]
        if cell["cell"]["dataset"] not in partial
    ]


def packed_rows() -> dict[str, str]:
    """Return the tables that come with rue, by suite, from the records."""
    files = {}
    for regime, suite in SUITES.items():
        records = [read(regime, name) for name in names(regime)]
        rows = [row for record in records for row in record["table"]]
        if rows:
            packed = pack(suite, regime, rows, n_missing=n_missing(regime))
            text = json.dumps(packed, separators=(",", ":")).replace("],[", "],\n[")
            files[suite] = f"{text}\n"
    return files


def n_missing(regime: str) -> int:
    """Return the number of the suite's cells that have no row."""
    there = sum(len(read(regime, name)["rows"]) for name in names(regime))
    return read_suite(SUITES[regime]).n_cells - there


def flat(regime: str) -> list[Row]:
    """Return one row for each cell and loss: columns, proxies and extras together."""
    rows = []
    for name in names(regime):
        record = read(regime, name)
        extras = {(e["method"], e["seed"], e["loss"]): e for e in record["extras"]}
        for cell in record["rows"]:
            where = {key: cell["cell"][key] for key in ("dataset", "method", "seed")}
            for row in cell["rows"]:
                found = extras.get((where["method"], where["seed"], row["loss"]), {})
                rows.append({**where, **row, **cell["proxies"], "regime": regime, **found})
    return rows

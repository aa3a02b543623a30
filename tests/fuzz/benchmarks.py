"""Suites, the folders of benchmark runs, and tables of scores."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rue
from fuzz import worlds
from fuzz.arrays import change_arrays, write_npz
from fuzz.bytewise import change_bytes, change_lines, encode
from fuzz.kinds import Case, kind
from fuzz.tables import change_table, write_csv
from fuzz.trees import change_tree, to_json
from rue.bench.cells import CellRow, DataFacts, cells, configuration, json_checksum
from rue.bench.resampling import draw, with_intervals
from rue.bench.store import Store
from rue.bench.suite import parse_suite, read_suite
from rue.bench.tables import read_results, summarize, table_rows
from rue.bench.tasks import Result

SUITE = """name = "small"
description = "a suite"
datasets = ["random-rbf"]
methods = ["dropout", "ensemble"]
losses = ["log", "zero_one"]
seeds = 2

[training]
epochs = 3

[method.dropout]
n_draws = 5

[dataset.random-rbf]
n_points = 400
"""
ONE = SUITE.replace('"dropout", "ensemble"', '"ensemble"').replace(
    "method.dropout", "method.ensemble"
)
ONE = ONE.replace("n_draws = 5", "n_members = 2")
_VALUES = (
    *("0", "1", "-1", "2.5", "1e400", "inf", "nan", "true", '""', '"x"', "[]", "{}", "[1]"),
    *('["log"]', '["log", "log"]', '["crps"]', '["../x"]', '["cifar10h"]', "9" * 400, "[0, 0]"),
    *(
        '"random-rbf"',
        '["/etc/passwd"]',
        "1979-05-27",
        "{ a = 1 }",
        '"tuned"',
        "[[1]]",
        '"\\u0000"',
    ),
)


@kind("suite.toml")
def suite(case: Case) -> Callable[[Path], Any]:
    text = SUITE if case.valid else change_lines(case.rng, SUITE, _VALUES)
    content = encode(case.rng, text) if case.odd_form else text.encode("utf-8", "surrogatepass")
    if case.odd_form:
        content = change_bytes(case.rng, content)
    (case.folder / "suite.toml").write_bytes(content)

    def use(folder: Path) -> Any:
        found = read_suite(str(folder / "suite.toml"))
        every = cells(found)
        return [json_checksum(configuration(found, cell)) for cell in every[:3]]

    return use


@kind("run folder")
def run_folder(case: Case) -> Callable[[Path], Any]:
    """A finished run of two cells, one of whose files is changed: state, tables, intervals."""
    text = ONE
    store = Store(case.folder / "run")
    store.folder.mkdir()
    which = 3 if case.valid else case.rng.randrange(3)
    written = text
    if which == 0:
        written = change_lines(case.rng, text, _VALUES)
    (store.folder / "suite.toml").write_bytes(written.encode("utf-8", "surrogatepass"))
    parsed = parse_suite(text)
    for seed, cell in enumerate(cells(parsed)):
        arrays: dict[str, Any] = {
            "probs": case.numbers.dirichlet(np.ones(3), (worlds.N, 2)),
            "counts": worlds.counts(case.numbers),
            "ids": np.array(worlds.IDS),
        }
        broken = seed == 0
        if which == 1 and broken:
            arrays = change_arrays(case.rng, arrays)
        file = case.folder / "predictions.npz"
        write_npz(case.rng, file, arrays, lies=which == 1 and broken)
        store.write(Result(cell, _row(seed), file.read_bytes()))
        file.unlink()
        if which == 2 and broken:
            path = store.path(cell) / "row.json"
            row: Any = change_tree(case.rng, json.loads(path.read_text()))
            if isinstance(row, dict) and row.pop("checksum", None):
                row["checksum"] = json_checksum(row)
            content = to_json(row).encode()
            path.write_bytes(change_bytes(case.rng, content) if case.odd_form else content)

    def use(folder: Path) -> Any:
        store = Store(folder / "run")
        results = read_results(store)
        rows = table_rows(results.rows)
        states = [store.state(cell) for cell in cells(store.suite())[:4]]
        drawn = draw(store, rows, n_replicates=5)
        found = {"rows": with_intervals(rows, drawn), "summary": summarize(rows)}
        return json.dumps(found, allow_nan=False), results.notes(), states

    return use


@kind("scores")
def scores(case: Case) -> Callable[[Path], Any]:
    from rue.ranking.inversions import find_inversions
    from rue.ranking.scores import read_scores

    methods = ("a", "b", "c")
    rows = [
        ["d", loss, method, repr(case.numbers.random()), repr(case.numbers.random())]
        for loss in ("log", "brier")
        for method in methods
    ]
    table = case.changed(change_table, [["dataset", "loss", "method", "aurec", "n_aurec"], *rows])
    write_csv(case.rng, case.folder / "scores.csv", table, odd_form=case.odd_form)

    def use(folder: Path) -> Any:
        return find_inversions(read_scores(folder / "scores.csv"))

    return use


@functools.cache
def _row(seed: int) -> CellRow:
    """Return a valid row of a cell."""
    suite = parse_suite(ONE)
    cell = cells(suite)[seed]
    config = configuration(suite, cell)
    numbers = np.random.default_rng(seed)
    belief = rue.Draws(numbers.dirichlet(np.ones(3), (worlds.N, 2)))
    people = rue.Annotations(worlds.counts(numbers))
    rows = [rue.evaluate(people, belief, loss=loss, gap=False) for loss in ("log", "zero_one")]
    return CellRow(
        cell=cell,
        config=config,
        config_hash=json_checksum(config),
        rows=tuple(row.to_dict() | {"method": "ensemble"} for row in rows),
        data=DataFacts(checksums={}, n_train=9, n_test=worlds.N, notes=()),
        seconds={"train": 0.1},
        versions={"rue": "0"},
        predictions_sha256="",
    )

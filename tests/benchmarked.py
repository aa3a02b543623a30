"""The folder of a benchmark, made of small worlds without any training."""

import io
from dataclasses import replace

from reported import write_world
from rue.bench.cells import Cell, CellRow, DataFacts, configuration, json_checksum
from rue.bench.store import Store
from rue.bench.suite import parse_suite
from rue.bench.tasks import Result
from rue.io.predictions import read_predictions
from rue.metrics.evaluation import evaluate

MADE_SUITE = parse_suite(
    """
name = "made"
datasets = ["random-rbf"]
methods = ["dropout", "ensemble"]
losses = ["log", "zero_one"]
seeds = 3
criteria = ["regret", "selective"]
"""
)
MADE_PROXIES = {
    "near_ood": None,
    "far_ood": None,
    "auac": 0.9,
    "nauc_epistemic": None,
    "nauc_total": None,
}


def write_benchmark(tmp_path, n_points=40, *, n_seeds=3, lead=0.0):
    """Store the cells of two methods as a run stores them, and return the store.

    The second method leads by so much in active learning.
    """
    suite = replace(MADE_SUITE, seeds=tuple(range(n_seeds)))
    store = Store(tmp_path / "run")
    store.folder.mkdir()
    store.keep_suite(suite)
    for seed in suite.seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        files = write_world(folder, n_points, 2, seed=seed).values()
        for method, path in zip(MADE_SUITE.methods, files, strict=True):
            predictions = read_predictions(path)
            people = predictions.truth
            rows = [
                evaluate(people, predictions, loss, method=method).to_dict()
                for loss in MADE_SUITE.losses
            ]
            content = io.BytesIO(path.read_bytes())
            cell = Cell("made", "random-rbf", method, seed)
            config = configuration(suite, cell)
            auac = 0.9 + 0.01 * seed + lead * (method == MADE_SUITE.methods[1])
            row = CellRow(
                cell=cell,
                config=config,
                config_hash=json_checksum(config),
                rows=tuple(rows),
                proxies={**MADE_PROXIES, "auac": auac, "details": {}},
                data=DataFacts({"a.bin": "1"}, 7, n_points, ("x",)),
                seconds={"train": 1.5, "predict": 0.5},
                versions={"rue": "0.1.0", "torch": "2", "numpy": "2"},
                predictions_sha256="",
            )
            store.write(Result(cell, row, content.getvalue()))
    return store

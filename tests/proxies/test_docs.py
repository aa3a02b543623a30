"""docs/proxies.md says what the rows in docs/proxies/ say."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def make_proxies():
    spec = importlib.util.spec_from_file_location("make_proxies", DOCS / "make_proxies.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def records():
    files = sorted((DOCS / "proxies").glob("*.json"))
    return {file.stem: json.loads(file.read_text()) for file in files}


def test_tables_are_those_of_the_rows(make_proxies, records):
    page = (DOCS / "proxies.md").read_text()
    assert make_proxies.fill(page, make_proxies.blocks(records)) == page


def test_letter_was_run_with_every_method_three_seeds_and_all_acquisitions(make_proxies, records):
    for method in make_proxies.METHODS:
        record = records[f"active-learning_letter_{method}"]
        runs = {(row["acquisition"], row["seed"]) for row in record["rows"]}
        assert runs == {(a, s) for a in make_proxies.ACQUISITIONS for s in range(3)}
        for row in record["rows"]:
            assert row["n_labelled"] == list(range(500, 3001, 250))
            assert len(row["accuracy"]) == len(row["log_loss"]) == 11
            assert row["nauc"] == pytest.approx(
                (sum(row["accuracy"]) - (row["accuracy"][0] + row["accuracy"][-1]) / 2) / 10
            )


def test_what_the_text_says_of_letter_is_so(make_proxies, records):
    nauc, first, last = {}, {}, {}
    for method in make_proxies.METHODS:
        for row in records[f"active-learning_letter_{method}"]["rows"]:
            key = method, row["acquisition"]
            nauc.setdefault(key, []).append(row["nauc"])
            first.setdefault(key, []).append(row["accuracy"][1])
            last.setdefault(key, []).append(row["accuracy"][-1])
    for method in make_proxies.METHODS:
        for acquisition in ("epistemic", "total"):
            assert (np.array(nauc[method, acquisition]) < nauc[method, "random"]).all()
        assert np.mean(nauc[method, "epistemic"]) < np.mean(nauc[method, "total"])
        assert np.mean(first[method, "oracle"]) < np.mean(first[method, "random"])
        assert np.mean(last[method, "oracle"]) > np.mean(last[method, "random"])
    for acquisition in make_proxies.ACQUISITIONS:
        means = {method: np.mean(nauc[method, acquisition]) for method in make_proxies.METHODS}
        assert min(means, key=means.get) == "evidential"

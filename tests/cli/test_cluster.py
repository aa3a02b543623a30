"""--cluster in every command that has intervals or promises, from a column of the truth."""

import csv
import json

import numpy as np
import pytest

from rue import Annotations, Draws, Run
from rue.inference.comparison import compare
from rue.inference.intervals import intervals

N, K = 60, 3


@pytest.fixture
def world(tmp_path, rng):
    """Return a folder with two methods and a table of counts with numbered documents."""
    counts = rng.multinomial(12, rng.dirichlet(np.ones(K), N))
    document = np.repeat(np.arange(20), 3)
    probs = {name: rng.dirichlet(np.ones(K), (N, 4)) for name in "ab"}
    for name, array in probs.items():
        np.savez(tmp_path / f"{name}.npz", probs=array, ids=np.arange(N), classes=list("xyz"))
    with (tmp_path / "truth.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "document", *"xyz"])
        rows.writerows([i, document[i], *counts[i]] for i in range(N))
    runs = [
        Run.from_belief(Annotations(counts), Draws(p), "brier", method=name)
        for name, p in probs.items()
    ]
    return tmp_path, document, runs


def test_evaluate(world, run):
    folder, document, runs = world
    words = ["evaluate", folder / "a.npz", "--truth", folder / "truth.csv", "--loss", "brier"]
    words += ["--no-gap", "--cluster", "document", "--replicates", "50", "--format", "json"]
    result = run(*words, "--ci", "0.9")
    assert result.code == 0, result.err
    expected = intervals(runs[0], gap=False, level=0.9, n_replicates=50, cluster=document)
    row = json.loads(result.out)[0]
    assert row["aurec_ci_low"] == pytest.approx(expected.low["aurec"])
    assert row["aurec_ci_high"] == pytest.approx(expected.high["aurec"])
    result = run(*words)
    assert result.code == 2
    assert result.err.strip().endswith("--cluster needs --ci")


def test_compare(world, run):
    folder, document, runs = world
    words = ["compare", folder / "a.npz", folder / "b.npz", "--truth", folder / "truth.csv"]
    words += ["--loss", "brier", "--criterion", "aurec", "--replicates", "50"]
    result = run(*words, "--cluster", "document", "--format", "json")
    assert result.code == 0, result.err
    expected = compare(runs, criteria=["aurec"], n_replicates=50, cluster=document)["aurec"]
    found = json.loads(result.out)[0]["criteria"]["aurec"]["differences"][0]
    assert found["low"] == pytest.approx(expected.differences[0].low)


def test_rule_fit(world, run):
    folder, document, _ = world
    words = ["rule", "fit", folder / "a.npz", "--truth", folder / "truth.csv", "--loss", "brier"]
    words += ["--risk-max", "1.5", "--delta", "0.5", "--cluster", "document", "--format", "json"]
    result = run(*words)
    note = (
        "Fitted on 20 clusters of {} points: numbers of calibration points are those of clusters."
    )
    rule = json.loads(result.out)["rule"]
    assert rule["notes"][0] == note.format(len(document))
    assert rule["calibration"]["n_points"] == 20


def test_report(world, run):
    folder, _, _ = world
    words = ["report", folder / "a.npz", "--truth", folder / "truth.csv", "--loss", "brier"]
    result = run(*words, "--ci", "0.9", "--cluster", "document", "--out", folder / "page.html")
    assert result.code == 0, result.err
    assert "--cluster document" in (folder / "page.html").read_text()

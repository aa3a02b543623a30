"""The tables of imported runs are means of their rows."""

import copy
import json
from statistics import fmean

import pytest

from rue._schema import build
from rue.bench.cells import Cell, CellRow
from rue.bench.tables import Results
from studies import RESULTS, atlas_rows, pages, result_pages, results

NAMES = result_pages.names()


def test_there_are_pages():
    assert {"demo", "cifar10h-probe", "sentiment-movies"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_the_mean_of_its_rows(name):
    """From row.json to the table again, without the benchmark's own code."""
    record = json.loads((RESULTS / f"{name}.json").read_text())
    for line in record["table"]:
        if not line["loss"]:
            continue
        cells = [
            row
            for cell in record["rows"]
            if cell["cell"]["method"] == line["method"]
            and cell["cell"]["dataset"] == line["dataset"]
            for row in cell["rows"]
            if row["loss"] == line["loss"]
        ]
        assert len(cells) == line["n_seeds"]
        for key in ("aurec", "n_aurec", "pareto_gap", "aurc"):
            assert line[key] == pytest.approx(fmean(row[key] for row in cells), rel=1e-12)
            if (line["method"], key) == ("single", "n_aurec"):
                assert line[key] == 1  # a constant ranking is a random one
            elif f"{key}_ci_low" in line:
                assert line[f"{key}_ci_low"] <= line[key] <= line[f"{key}_ci_high"]


@pytest.fixture
def known():
    return atlas_rows.read("tuned", "sentiment-nyt") | {"again": []}


def folder(rows):
    """Return what a folder with these cells would hold."""
    raw = {Cell(**row["cell"]): build(CellRow, row, unknown="ignore") for row in rows}
    return Results("atlas", (), (), (), (), raw)


def of_method(record, method):
    return [copy.deepcopy(row) for row in record["rows"] if row["cell"]["method"] == method]


def test_cells_that_are_trained_again_replace_the_former(known):
    """Two seeds of one method, one with other predictions: its means move, and nothing else."""
    first, second = of_method(known, "ensemble")[:2]
    for row in first, second:
        row["proxies"]["auac"] += 0.5
    second["predictions_sha256"] = "0" * 64
    second["rows"][0]["aurec"] += 0.25
    joined = results.with_again(known, folder([first, second]))
    assert [row["cell"] for row in joined["rows"]] == [row["cell"] for row in known["rows"]]
    pairs = zip(known["table"], joined["table"], strict=True)
    moved = {
        (new["method"], new["loss"], key): new[key] - old[key]
        for old, new in pairs
        for key in new
        if old[key] != new[key] and not key.endswith("_std")
    }
    loss = second["rows"][0]["loss"]
    assert moved == {
        ("ensemble", "", "auac"): pytest.approx(0.2),
        ("ensemble", loss, "aurec"): pytest.approx(0.05),
    }
    assert joined["tests"] == known["tests"]
    near, far = joined["again"]
    assert near == {
        "cell": first["cell"],
        "same_bits": True,
        "same_inputs": True,
        "aurec": 0.0,
        "n_aurec": 0.0,
    }
    assert (far["same_bits"], far["aurec"]) == (False, pytest.approx(0.25))
    text = pages.trained_again(joined)
    assert "The 2 cells of ensemble were trained again" in text
    assert (
        "Of these cells 1 have the former predictions to the bit; AuReC moved by at most 0.2"
        in (text)
    )
    once_more = results.with_again(joined, folder([first]))
    assert len(once_more["again"]) == 2


def test_only_some_cells_of_the_same_settings_are_a_part(known):
    rows = of_method(known, "ddu")
    assert results.is_part(known, folder(rows))
    assert not results.is_part(known, folder(known["rows"]))
    rows[0]["config"]["options"] = {"n_train_max": 7}
    assert not results.is_part(known, folder(rows))
    assert pages.trained_again(known) == ""

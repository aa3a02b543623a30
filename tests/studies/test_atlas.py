"""The pages, baselines and sentences of the atlas are those of its rows."""

import json
from statistics import fmean

import pytest

from rue._schema import build
from rue.bench.baselines import pack, read_baselines
from rue.bench.cells import Cell, CellRow
from rue.bench.store import Store
from rue.bench.suite import read_suite
from rue.bench.tasks import Result
from studies import atlas_checks, atlas_pages, atlas_rows
from studies.study import Options

RECORDS = [(regime, name) for regime in atlas_rows.SUITES for name in atlas_rows.names(regime)]


def test_there_are_records():
    assert ("tuned", "ferplus-features") in RECORDS


@pytest.mark.parametrize(("regime", "name"), RECORDS)
def test_a_table_is_the_mean_of_its_rows(regime, name):
    """From the cells to the table again, without the benchmark's own code."""
    record = atlas_rows.read(regime, name)
    assert record["suite"] == atlas_rows.SUITES[regime]
    for line in record["table"]:
        cells = [
            row
            for cell in record["rows"]
            if cell["cell"]["method"] == line["method"]
            for row in cell["rows"]
            if row["loss"] == line["loss"]
        ]
        if line["loss"]:
            assert len(cells) == line["n_seeds"]
            assert line["n_aurec"] == pytest.approx(fmean(row["n_aurec"] for row in cells))
    hashes = {cell["predictions_sha256"] for cell in record["rows"]}
    assert {extra["sha256"] for extra in record["extras"]} == hashes


def test_the_rows_that_come_with_rue_are_read_again():
    records = [atlas_rows.read("tuned", name) for name in atlas_rows.names("tuned")]
    rows = [row for record in records for row in record["table"]]
    packed = pack("atlas", "tuned", rows)
    assert len(read_baselines("atlas").rows) == len(packed["rows"])
    assert json.loads(json.dumps(packed))["rows"] == packed["rows"]


def test_findings_are_short():
    assert len(atlas_pages.FINDINGS.read_text().split()) <= 2_000


def test_the_check_of_forests_names_the_data_sets_where_the_ranking_gets_worse():
    row = {"seed": 0, "temperature": 0.5, "regret_plain": 0.3, "regret_tempered": 0.2}
    rows = [
        {**row, "dataset": name, "n_aurec_plain": 0.4, "n_aurec_tempered": after}
        for name, after in (("a", 0.6), ("a", 0.59), ("b", 0.3), ("b", 0.3), ("c", 0.1), ("c", 0.8))
    ]
    text = atlas_checks.text(rows)
    assert "n-AuReC is worse on a, better on b and no different on c (by" in text
    assert "| b | 0.500 ± 0.000 | 0.400 ± 0.000 | 0.300 ± 0.000 |" in text
    assert atlas_checks.text([]) == "Not run yet."


def test_forests_of_a_folder_replace_those_that_were_checked(monkeypatch):
    monkeypatch.setattr(
        atlas_checks, "tempered", lambda _: [{"dataset": d, "seed": 0, "x": 2} for d in "bc"]
    )
    known = {"rows": [{"dataset": d, "seed": 0, "x": 1} for d in "ab"]}
    (record,) = atlas_checks.compute(known, Options(words=("out/atlas",)))
    assert [(row["dataset"], row["x"]) for row in record["rows"]] == [("a", 1), ("b", 2), ("c", 2)]


def test_snapshots_are_compared_with_their_ensemble_by_hand():
    rows = [
        {"dataset": name, "method": method, "seed": 0, "loss": "log", "spearman_hat": 0.9}
        | {"n_aurec": by_epistemic, "n_aurec_total": by_total}
        for name in "abcdef"
        for method, by_epistemic, by_total in (("snapshots", 0.6, 0.6), ("ensemble", 0.8, 0.625))
    ]
    text = atlas_pages.snapshots(rows)
    assert "minus theirs is +0.025 [+0.025, +0.025] (mean over 6 families" in text
    assert "the difference is +0.200 [+0.200, +0.200]." in text
    assert "| a | 0.600 | 0.600 | 0.800 | 0.625 | 0.900 |" in text
    assert atlas_pages.snapshots([]) == "Not run yet."


def test_cells_of_a_folder_are_added_to_a_record(tmp_path, monkeypatch):
    """Half of the stored cells of a suite stand in a folder; the others stay as they are."""
    record = atlas_rows.plain_record("twenty-paper")
    monkeypatch.setattr(atlas_rows, "FOLDER", tmp_path)
    store = Store(tmp_path / "run")
    store.folder.mkdir()
    store.keep_suite(read_suite("atlas-twenty-paper"))
    first, *_ = record["rows"]
    parsed = build(CellRow, first, unknown="ignore")
    store.write(Result(parsed.cell, parsed, b"predictions"))
    others = [row for row in record["rows"] if row["cell"] != first["cell"]]
    stale = [{**others[0], "config": {**others[0]["config"], "seed": 9}}, *others[1:]]
    atlas_rows.plain_path("twenty-paper").write_text(json.dumps({"rows": stale}))
    atlas_rows.import_plain("twenty-paper", store.folder)
    joined = atlas_rows.plain_record("twenty-paper")
    assert [row["cell"] for row in joined["rows"]] == [
        row["cell"] for row in record["rows"] if row["cell"] != others[0]["cell"]
    ]
    assert str(Cell(**others[0]["cell"])) in joined["missing"]
    assert len(joined["rows"]) + len(joined["missing"]) == 36
    assert joined["rows"][1] == others[1]


def test_a_data_set_with_missing_cells_has_no_baselines_yet(tmp_path, monkeypatch):
    record = atlas_rows.plain_record("twenty-paper")
    monkeypatch.setattr(atlas_rows, "FOLDER", tmp_path)
    name = record["rows"][0]["cell"]["dataset"]
    text = json.dumps({**record, "missing": [f"{name}/ensemble/2"]})
    atlas_rows.plain_path("twenty-paper").write_text(text)
    datasets = {row["dataset"] for row in atlas_rows.baseline_rows("paper")}
    assert datasets == {row["cell"]["dataset"] for row in record["rows"]} - {name}

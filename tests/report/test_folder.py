"""A report of a benchmark's folder: means over seeds, proxies beside them, one seed drawn."""

import statistics

import pytest

from benchmarked import MADE_PROXIES, MADE_SUITE, write_benchmark
from reported import content
from rue.bench.cells import Cell
from rue.errors import InputError
from rue.report import from_folder, render

SUITE, PROXIES = MADE_SUITE, MADE_PROXIES


@pytest.fixture
def store(tmp_path):
    return write_benchmark(tmp_path)


def cell(method, seed):
    return Cell("made", "random-rbf", method, seed)


def test_numbers_are_means_and_points_are_of_the_first_seed(store):
    report = from_folder(store.folder)
    assert {(entry.method, entry.loss) for entry in report.entries} == {
        (method, loss) for method in SUITE.methods for loss in SUITE.losses
    }
    for entry in report.entries:
        rows = [store.row(cell(entry.method, seed)).rows for seed in range(3)]
        values = [next(r for r in row if r["loss"] == entry.loss)["aurec"] for row in rows]
        assert entry.row["aurec"] == pytest.approx(statistics.fmean(values))
        assert entry.row["aurec_std"] == pytest.approx(statistics.stdev(values))
        assert entry.row["auac"] == pytest.approx(0.91)
        assert entry.run.star.epistemic.mean() == pytest.approx(
            next(r for r in rows[0] if r["loss"] == entry.loss)["regret"]
        )
    provenance = report.provenance
    assert provenance.seeds == (0, 1, 2)
    assert provenance.checksums["a.bin"] == "1"
    assert provenance.checksums["random-rbf/dropout/0"] == (
        store.row(cell("dropout", 0)).predictions_sha256
    )
    assert "means over 3 seeds" in provenance.notes[-1]
    facts = {"n draws": "20", "lr": "0.001", "seconds per seed": "2.0"}
    assert facts.items() <= report.methods[0].facts.items()
    assert report.data[0].facts["training points"] == "7"
    run = content(render(report))["runs"][0]
    assert run["all"]["regret"] == pytest.approx(report.entries[0].run.star.epistemic.mean())


def test_a_seed_that_is_not_whole_is_not_drawn(store):
    (store.path(cell("dropout", 0)) / "row.json").unlink()
    store.predictions(cell("ensemble", 1)).write_bytes(b"damaged")
    report = from_folder(store.folder)
    assert "random-rbf/dropout/2" in report.provenance.checksums
    assert "1 cells are missing" in report.provenance.notes[0]
    (store.path(cell("dropout", 2)) / "row.json").unlink()
    with pytest.raises(InputError, match="no seed of random-rbf is done for all of"):
        from_folder(store.folder)


def test_a_folder_that_holds_no_benchmark_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no benchmark: it has no suite\.toml"):
        from_folder(tmp_path)

"""Means over seeds with points drawn anew: intervals, and who is better."""

import numpy as np
import pytest

from rue.bench.cells import Cell
from rue.bench.resampling import compare_methods, draw, paired_replicates, with_intervals
from rue.bench.tables import read_results, table_rows
from rue.errors import FileError, InputError
from rue.inference.bootstrap import replicates
from rue.io.runs import read_run


@pytest.fixture(scope="module")
def drawn(finished):
    rows = table_rows(read_results(finished).rows)
    return rows, draw(finished, rows, n_replicates=200)


def test_a_replicate_is_the_mean_of_the_seeds(finished, drawn):
    rows, found = drawn
    assert set(found) == {(r["dataset"], r["loss"], r["method"]) for r in rows}
    each = []
    for seed in (0, 1):
        file = finished.predictions(Cell("small", "random-rbf", "ddu", seed))
        run = read_run(file, None, "log")
        order = np.arange(len(run))
        each.append(replicates(run, n_replicates=200, seed=seed, rows=order))
    ours = found["random-rbf", "log", "ddu"]
    for name in ("aurec", "n_aurec", "spearman_hat"):
        np.testing.assert_allclose(ours[name], (each[0][name] + each[1][name]) / 2)
    rows = {row["loss"]: row for row in finished.row(Cell("small", "random-rbf", "ddu", 0)).rows}
    gap = rows["log"]["pareto_gap"]
    run = read_run(finished.predictions(Cell("small", "random-rbf", "ddu", 0)), None, "log")
    first = replicates(run, n_replicates=200, gap=gap, seed=0, rows=np.arange(len(run)))
    alone = paired_replicates(run, 0, gap=gap, n_replicates=200)
    np.testing.assert_array_equal(alone["pareto_gap"], first["pareto_gap"])
    assert "pareto_gap" not in paired_replicates(run, 0, n_replicates=2)
    assert len(ours["pareto_gap"]) == 200
    assert "regret_calibration" not in ours  # DDU's score has no unit
    assert "regret_calibration" in found["random-rbf", "log", "ensemble"]


def test_intervals_stand_about_the_means(drawn):
    rows, found = drawn
    narrow, wide = (with_intervals(rows, found, level=level) for level in (0.5, 0.99))
    for row, inner, outer in zip(rows, narrow, wide, strict=True):
        assert outer["ci"] == 0.99
        assert outer["aurec_ci_low"] <= inner["aurec_ci_low"] < inner["aurec_ci_high"]
        assert outer["aurec_ci_low"] < row["aurec"] < outer["aurec_ci_high"]
        assert (
            outer["pareto_gap_ci_low"] <= inner["pareto_gap_ci_low"] < inner["pareto_gap_ci_high"]
        )
    with pytest.raises(InputError, match="between 0 and 1, got 1"):
        with_intervals(rows, found, level=1)


def test_a_method_cannot_be_told_from_itself(drawn):
    rows, found = drawn
    twin = [{**row, "method": "twin"} for row in rows if row["method"] == "ddu"]
    both = [row for row in rows if row["method"] == "ddu"] + twin
    copies = {
        (dataset, loss, name): found[dataset, loss, "ddu"]
        for (dataset, loss, _) in found
        for name in ("ddu", "twin")
    }
    ranking = compare_methods(both, copies)("random-rbf", "log", "aurec")
    assert [d.p_holm for d in ranking.differences] == [1.0]
    assert set(ranking.best) == {"ddu", "twin"}
    by_gap = compare_methods(both, copies)("random-rbf", "log", "pareto_gap")
    assert [d.p_holm for d in by_gap.differences] == [1.0]


def test_a_method_that_is_better_on_every_draw_is_told_apart(drawn):
    rows, found = drawn
    worse = {name: values + 1.0 for name, values in found["random-rbf", "log", "ddu"].items()}
    row = next(r for r in rows if (r["method"], r["loss"]) == ("ddu", "log"))
    both = [row, {**row, "method": "worse", "aurec": row["aurec"] + 1.0}]
    copies = {
        ("random-rbf", "log", "ddu"): found["random-rbf", "log", "ddu"],
        ("random-rbf", "log", "worse"): worse,
    }
    ranking = compare_methods(both, copies)("random-rbf", "log", "aurec")
    assert ranking.best == ("ddu",)
    assert ranking.differences[0].p_holm < 0.02


@pytest.mark.parametrize("broken", ["missing", "damaged"])
def test_intervals_are_refused_where_a_seed_has_no_predictions(store, broken):
    # The mean was over two seeds and the interval over one, without a word.
    file = store.predictions(Cell("small", "random-rbf", "ddu", 1))
    if broken == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1])
    rows = table_rows(read_results(store).rows)
    assert {row["n_seeds"] for row in rows} == {2}
    with pytest.raises(FileError, match=r"ddu/1/predictions.npz: is missing or damaged, .* again"):
        draw(store, rows, n_replicates=20)


def test_a_seed_without_a_row_is_in_neither_the_mean_nor_the_interval(store, drawn):
    (store.path(Cell("small", "random-rbf", "ddu", 1)) / "row.json").unlink()
    rows = table_rows(read_results(store).rows)
    assert [row["n_seeds"] for row in rows if row["method"] == "ddu"] == [1, 1]
    found = draw(store, rows, n_replicates=200)
    assert set(found) == set(drawn[1])

"""docs/brackets.md shows what its studies measured; the studies themselves are slow."""

import numpy as np
import pytest

from rue.losses import LOSSES
from rue.plots import plot_brackets
from studies import uncertainty
from studies.rows import read_rows


@pytest.fixture(scope="module")
def rows():
    return read_rows("uncertainty")


def holds(rows, errors):
    return all(
        row["low"] - errors * row["low_se"] <= row["true"] <= row["high"] + errors * row["high_se"]
        for row in rows
    )


def test_every_study_is_there(rows):
    assert rows.keys() >= uncertainty.STUDIES.keys()


def test_the_page_claims_what_the_rows_show(rows):
    assert holds(rows["bracket"], 3)
    shares = [r["coverage"] for r in rows["coverage"] if r["n_points"] == 1000]
    assert all(abs(share - 0.95) < 0.03 for share in shares)


def test_a_small_world_is_in_its_bracket():
    found = uncertainty.bracket(n_points=150, n_draws=12, ms=(3, 10))
    assert len(found) == 2 * len(LOSSES)
    assert holds(found, 3)
    # The plug-in's bias falls with the number of annotators.
    for few, many in zip(found[::2], found[1::2], strict=True):
        assert few["high"] - few["true"] > many["high"] - many["true"]
    figure = plot_brackets(found)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[: len(LOSSES)] == [f"{row['loss']} loss" for row in found[::2]]


@pytest.mark.slow
def test_the_bracket_holds_under_every_loss():
    found = uncertainty.bracket()
    assert holds(found, 3)
    widths = {(row["loss"], row["m"]): row["high"] - row["low"] for row in found}
    for loss in {row["loss"] for row in found}:
        assert widths[loss, 100] < widths[loss, 10] / 5


@pytest.mark.slow
def test_intervals_cover_the_truth_at_their_rate():
    # 500 samples: the standard error of a share of 0.95 is 0.0097.
    found = {
        (r["column"], r["of"]): r["coverage"] for r in uncertainty.coverage(1000, n_samples=500)
    }
    error = np.sqrt(0.95 * 0.05 / 500)
    for column in ("aurec", "n_aurec"):
        for of in ("8", "40", "difference"):
            assert abs(found[column, of] - 0.95) < 3 * error, (column, of)

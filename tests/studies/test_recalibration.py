"""The page has the stored rows, and the worlds are those that it describes."""

import numpy as np
import pytest

from studies.recalibration import CLUSTER, _draw, worlds
from studies.rows import read_rows


def test_the_estimate_is_near_the_gap_on_new_points_in_every_world():
    rows = read_rows("recalibration")["worlds"]
    assert {row["n_points"] for row in rows} == {100, 300, 1000, 3000}
    assert all(0.8 < row["halves"] / row["gap"] < 1.2 for row in rows)


def test_a_world_is_computed_as_it_is_stored():
    first = next(worlds())
    stored = read_rows("recalibration")["worlds"][0]
    assert first == {name: pytest.approx(value) for name, value in stored.items()}


@pytest.mark.parametrize("levels", [None, 3])
def test_worlds_have_the_ties_and_clusters_that_they_claim(levels):
    regret, score, cluster = _draw(600, levels, True, np.random.default_rng(0))
    assert (np.bincount(cluster) == CLUSTER).all()
    assert len(np.unique(score)) == (levels or 600)
    noise = regret / (0.1 + 0.1 * score)
    assert noise == pytest.approx(noise[cluster])  # the first of each cluster has its number

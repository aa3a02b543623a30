"""Curves and surfaces thinned for the page are parts of the whole ones."""

import numpy as np
import pytest

from rue import Components, Curve, achievable_surface, optimal_surface, regret_coverage_curve
from rue.components import Run
from rue.report.page_content import ACROSS, LEVELS, curves_of, slices_of, thinned


def test_thinned_by_hand():
    # Strips of 1/2: corners 0 and 0.1 are in the first, and so is 0.3; 0.6, 0.9 and 1 in the last.
    coverage = np.array([0, 0.1, 0.3, 0.6, 0.9, 1])
    curve = Curve(coverage, coverage**2, coverage)
    np.testing.assert_array_equal(thinned(curve, 2)[:, 0], [0, 0.3, 0.6, 1])


@pytest.mark.parametrize("n_points", [1, 2, 150, 3000])
def test_thinned_keeps_ends_and_corners_of_the_curve(rng, n_points):
    curve = regret_coverage_curve(rng.gamma(0.5, size=n_points), rng.integers(0, 800, n_points))
    kept = thinned(curve)
    assert len(kept) <= 400
    corners = set(zip(curve.coverage, curve.value, strict=True))
    assert set(map(tuple, kept)) <= corners
    assert tuple(kept[0]) == (0, 0)
    assert tuple(kept[-1]) == (1, curve.value[-1])
    # Between kept corners nothing moves by more than a strip's worth of the steepest part.
    off = np.abs(np.interp(curve.coverage, *kept.T) - curve.value).max()
    slope = np.max(np.diff(curve.value) / np.diff(curve.coverage))
    assert off <= slope / 200


def components(rng, n):
    aleatoric, epistemic = rng.gamma(1.0, size=n), rng.gamma(0.5, size=n)
    return Components(aleatoric + epistemic, aleatoric, epistemic)


@pytest.fixture
def run(rng):
    star, hat = components(rng, 60), components(rng, 60)
    return Run(star, hat)


def test_curves_end_at_what_accepting_everything_costs(run, rng):
    correct = rng.random(60)
    curves = curves_of(run, correct)
    ends = {
        "regret": run.star.epistemic.mean(),
        "risk": run.star.total.mean(),
        "wrong": 1 - correct.mean(),
    }
    for name, curve in curves.items():
        assert curve[-1] == pytest.approx([1.0, ends[name.split("_")[0]]])
        assert (curve[:, 1] >= curves[name.split("_")[0] + "_oracle"][0, 1]).all()
    assert len(curves) == 9


def test_slices_are_points_of_the_surfaces(run):
    wholes = optimal_surface(run.star), achievable_surface(run.star, run.hat)
    for slices, whole in zip(slices_of(run), wholes, strict=True):
        assert len(slices.ends) == LEVELS
        assert np.diff(slices.ends, prepend=0).max() <= ACROSS
        assert set(map(tuple, slices.points)) <= set(map(tuple, whole.points))
        for level in np.split(slices.points, slices.ends[:-1]):
            assert (level[:, 0] == level[0, 0]).all()
            assert (np.diff(level[:, 2]) >= 0).all()

"""The Pareto-gap: by hand, against the O(N^3) twin and moocore, and its laws."""

import moocore
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_pareto
from pareto_worlds import KINDS, components, continuous, crowded, few, gridded, pair, skewed, tied
from rue import (
    Components,
    optimal_surface,
    pareto_gap,
)
from rue.errors import InputError, ShapeError
from rue.pareto.gap import arc_middles, igd_plus, plane_of


def test_by_hand():
    # Point 0 has total 1/2, all avoidable; point 1 has total 1/2, none avoidable. All lambdas
    # accept point 1 first (at 1/2 the scores are equal and the lower epistemic goes first):
    # S* is (0, 0, 0), (1/2, 1/4, 0), (1, 1/2, 1/4), for each lambda.
    star = components([0.0, 0.5], [0.5, 0.0])
    # Constant estimates: S is the straight line through (1/2, 1/4, 1/8). Gap (0 + 1/8 + 0) / 3.
    assert pareto_gap(star, components([1, 1], [2, 2])) == pytest.approx(1 / 24, abs=1e-15)
    # Normalised by 1/2 and 1/4: the regret of half the line is 1/2, too much by as much as the
    # empty selector lacks in coverage. Gap (0 + 1/2 + 0) / 3.
    one_sixth = pareto_gap(star, components([1, 1], [2, 2]), normalize=True)
    assert one_sixth == pytest.approx(1 / 6, abs=1e-15)
    # One component that tells them apart, in whichever direction, is enough.
    assert pareto_gap(star, components([3, 7], [2, 2])) == 0
    assert pareto_gap(star, components([1, 1], [-5, 2])) == 0


@settings(max_examples=60, deadline=None)
@given(tied)
def test_equals_the_naive_twin_with_ties_and_duplicates(rows):
    star, hat = pair(rows)
    naive = naive_pareto.gap(
        (star.total, star.aleatoric, star.epistemic), (hat.aleatoric, hat.epistemic), 11
    )
    assert pareto_gap(star, hat, lambdas=11) == pytest.approx(naive, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "lambdas"), [(25, 51), (60, 3)])
def test_equals_the_naive_twin(kind, n, lambdas):
    star, hat = KINDS[kind](n, seed=n)
    naive = naive_pareto.gap(
        (star.total, star.aleatoric, star.epistemic), (hat.aleatoric, hat.epistemic), lambdas
    )
    assert naive > 1e-3
    assert pareto_gap(star, hat, lambdas=lambdas) == pytest.approx(naive, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(few, few, few), min_size=1, max_size=20),
    st.lists(st.tuples(few, few, few), min_size=1, max_size=60),
)
def test_igd_plus_agrees_with_moocore(reference, points):
    reference = np.array(reference) / 7 - 0.1  # negative numbers and other levels than those below
    points = np.array(sorted(points)) / 5 - 0.2
    theirs = moocore.igd_plus(points * [-1, 1, 1], ref=reference * [-1, 1, 1])
    assert igd_plus(reference, *points.T.copy()) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_igd_plus_agrees_with_moocore_on_clouds(seed):
    rng = np.random.default_rng(seed)
    points, reference = rng.random((2000, 3)), rng.random((500, 3)) * [1, 0.9, 0.9]
    points[:, 0] = np.round(points[:, 0], 1 + seed)
    points = points[np.lexsort(points.T[[1, 0]])]
    theirs = moocore.igd_plus(points * [-1, 1, 1], ref=reference * [-1, 1, 1])
    assert igd_plus(reference, *points.T.copy()) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("n", [300, 1200])
def test_agrees_with_moocore_on_all_prefixes_of_the_sampled_directions(n):
    star, hat = continuous(n)
    plane = plane_of(star, hat)
    half = arc_middles(plane, 20)
    points = []
    for angle in np.concatenate([half, half + np.pi]):
        order = np.argsort(plane.x * np.cos(angle) + plane.y * np.sin(angle))
        risk = np.append(0, np.cumsum(plane.risk[order])) * plane.risk_unit
        regret = np.append(0, np.cumsum(plane.regret[order])) * plane.regret_unit
        points.append(np.column_stack([-np.arange(n + 1) / n, risk, regret]))
    reference = optimal_surface(star, lambdas=4).points * [-1, 1, 1]
    theirs = moocore.igd_plus(np.concatenate(points), ref=reference)
    assert pareto_gap(star, hat, lambdas=4, directions=40) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 7, 100, 512])
def test_is_0_when_the_estimates_are_the_truth(kind, n):
    star, _ = KINDS[kind](n)
    assert pareto_gap(star, star) <= 1e-13
    assert pareto_gap(star, star, normalize=True) <= 1e-13


def test_is_0_when_exact_and_almost_0_when_sampled_for_many_points():
    star, hat = crowded(1500)
    assert pareto_gap(star, star, directions="exact") <= 1e-13
    assert pareto_gap(star, star) < 1e-3 * pareto_gap(star, hat)


@settings(max_examples=60, deadline=None)
@given(tied)
def test_is_bounded_by_the_mean_coverage(rows):
    star, hat = pair(rows)
    assert 0 <= pareto_gap(star, hat, lambdas=5) <= 0.5
    assert 0 <= pareto_gap(star, hat, lambdas=5, normalize=True) <= 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [90, 600])
def test_row_order_does_not_matter(kind, n):
    star, hat = KINDS[kind](n)
    rows = np.random.default_rng(1).permutation(n)
    assert pareto_gap(star[rows], hat[rows]) == pytest.approx(pareto_gap(star, hat), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [90, 600])
@pytest.mark.parametrize(
    ("scales", "shifts"),
    [
        ((1e-9, 1.0), (0, 0)),
        ((1.0, 1e9), (0, 0)),
        ((3e8, 7e-9), (0, 0)),
        ((-1.0, 1.0), (0, 0)),
        ((1.0, -1.0), (0, 0)),
        ((-0.3, -1e5), (0, 0)),
        ((1.0, 1.0), (1e3, 0)),
        ((1.0, 1.0), (-17, -1e3)),
        ((-2e-9, 5e8), (1e3, -1e3)),
    ],
)
def test_units_zeros_and_signs_do_not_matter(kind, n, scales, shifts):
    star, hat = KINDS[kind](n)
    moved = components(
        (hat.aleatoric + shifts[0] * np.ptp(hat.aleatoric)) * scales[0],
        (hat.epistemic + shifts[1] * np.ptp(hat.epistemic)) * scales[1],
    )
    assert pareto_gap(star, moved) == pytest.approx(pareto_gap(star, hat), abs=1e-9)


@pytest.mark.parametrize("kind", [continuous, gridded, crowded, skewed])
@pytest.mark.parametrize("n", [20, 120, 300])
@pytest.mark.parametrize("seed", range(8))
def test_an_invertible_linear_image_does_not_matter_when_exact(kind, n, seed):
    star, hat = kind(n, seed)
    matrix = np.random.default_rng(seed).normal(size=(2, 2))
    image = components(*(matrix @ [hat.aleatoric, hat.epistemic]))
    assert pareto_gap(star, image) == pytest.approx(pareto_gap(star, hat), abs=1e-9)


def test_swapping_the_estimates_does_not_matter():
    star, hat = gridded(80)
    swapped = components(hat.epistemic, hat.aleatoric)
    assert pareto_gap(star, swapped) == pytest.approx(pareto_gap(star, hat), abs=1e-12)


def test_normalised_is_free_of_the_losses_unit():
    star, hat = continuous(200)
    scaled = Components(star.total * 1e6, star.aleatoric * 1e6, star.epistemic * 1e6)
    gaps = [pareto_gap(s, hat, normalize=True) for s in (star, scaled)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-9)
    unit = Components(
        star.total / star.total.mean(), star.aleatoric, star.epistemic / star.epistemic.mean()
    )
    # The same points, except that the optimal rankings are those of the unit-free regret.
    assert gaps[0] > 0
    assert pareto_gap(unit, hat) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_sample_of_directions_is_close_to_all_of_them(kind):
    star, hat = KINDS[kind](1500)
    exact = pareto_gap(star, hat, directions="exact")
    assert exact <= pareto_gap(star, hat, directions=720) <= 1.01 * exact
    assert pareto_gap(star, hat, directions=720) <= pareto_gap(star, hat, directions=8)


def test_auto_is_exact_up_to_512_points_and_takes_720_directions_above():
    for n, directions in ((512, "exact"), (513, 720)):
        star, hat = continuous(n)
        assert pareto_gap(star, hat) == pareto_gap(star, hat, directions=directions)
    assert pareto_gap(star, hat) != pareto_gap(star, hat, directions="exact")


def test_many_sweeps_are_one(monkeypatch):
    star, hat = gridded(150)
    whole = pareto_gap(star, hat)
    monkeypatch.setattr("rue.pareto.gap.SAMPLED_PAIRS", 50)
    assert pareto_gap(star, hat) == pytest.approx(whole, abs=1e-13)


def test_points_side_by_side_on_a_line_change_places():
    # Once the search for an open arc never ended here: on their line the third and the fourth
    # were at one place, whatever the direction.
    near, by = 1.001e-3, 1e-12
    hat = components([0, 1e-3, near, near + by, 0.5, 1], [0, 1e-3, near + by, near, 0.5, 1])
    star = continuous(6)[0]
    assert pareto_gap(star, components(hat.epistemic, hat.aleatoric)) == pareto_gap(star, hat)
    assert 0 < pareto_gap(star, hat) < 0.5


def test_negative_realised_components():
    # An unbiased estimate of the regret may be negative; risk and regret then also fall with the
    # coverage, and the gap is still that of the definition.
    rng = np.random.default_rng(3)
    aleatoric, epistemic = np.round(rng.random(20), 1), np.round(rng.normal(size=20) * 8) / 8
    star, hat = components(aleatoric, epistemic), components(rng.random(20), rng.random(20))
    naive = naive_pareto.gap((star.total, aleatoric, epistemic), (hat.aleatoric, hat.epistemic), 5)
    assert pareto_gap(star, hat, lambdas=5) == pytest.approx(naive, abs=1e-12)


def test_normalising_needs_a_mean():
    hat = components([1, 2], [2, 1])
    assert pareto_gap(components([1, 2], [0, 0]), hat, normalize=True) == 0
    with pytest.raises(InputError, match=r"positive mean of star.epistemic, got -0\.5"):
        pareto_gap(components([3, 2], [0, -1]), hat, normalize=True)


@pytest.mark.parametrize("directions", [0, -3, 2.5, "all", True, None])
def test_directions_are_checked(directions):
    star, hat = gridded(5)
    with pytest.raises(InputError, match="directions must be"):
        pareto_gap(star, hat, directions=directions)


@pytest.mark.parametrize("lambdas", [1, 0, 5.0, True])
def test_lambdas_are_checked(lambdas):
    star, hat = gridded(5)
    with pytest.raises(InputError, match="lambdas must be an integer of at least 2"):
        pareto_gap(star, hat, lambdas=lambdas)


def test_lengths_are_checked():
    with pytest.raises(ShapeError, match="hat must have 5 points like star, got 6"):
        pareto_gap(gridded(5)[0], gridded(6)[1])


def test_exact_has_a_limit():
    star, hat = continuous(5001)
    with pytest.raises(InputError, match=r"at most 5,000 points, got 5,001"):
        pareto_gap(star, hat, directions="exact")


def test_a_tiny_unit_of_the_loss_changes_no_sampled_direction():
    star, hat = continuous(700)
    small = Components(*(part * 2.0**-60 for part in (star.total, star.aleatoric, star.epistemic)))
    for reversed_hat in (hat, components(-hat.aleatoric, -hat.epistemic)):
        whole = pareto_gap(star, reversed_hat, normalize=True)
        assert pareto_gap(small, reversed_hat, normalize=True) == whole

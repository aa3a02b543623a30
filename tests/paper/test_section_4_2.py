"""Section 4.2: the surfaces of equation (11) and the distance between them, as the paper has them.

The paper accepts 1{score <= tau}, for all weights and thresholds. Here these selectors are drawn
at random and must lie on, or behind, what rue enumerates.
"""

import numpy as np
import pytest

from rue import Components, achievable_surface, optimal_surface, pareto_gap

N = 40


@pytest.fixture
def star(rng):
    aleatoric, epistemic = rng.random(N), rng.gamma(0.5, size=N)
    return Components(aleatoric + epistemic, aleatoric, epistemic)


@pytest.fixture
def hat(star, rng):
    aleatoric = star.aleatoric + 0.5 * rng.random(N)
    epistemic = star.epistemic + rng.gamma(1.0, size=N)
    return Components(aleatoric + epistemic, aleatoric, epistemic)


def attained(accepted, star):
    """Equations (4) to (6), of an empirical distribution."""
    return np.array(
        [np.mean(accepted), np.mean(accepted * star.total), np.mean(accepted * star.epistemic)]
    )


def d_plus(reference, points):
    """What each of the points lacks, to the reference point."""
    worse = np.maximum(0, (points - reference) * [-1, 1, 1])
    return np.sqrt((worse**2).sum(axis=1))


def test_every_optimal_selector_is_on_the_optimal_surface(star):
    surface = optimal_surface(star)
    for lam in np.linspace(0.5, 1, 51):
        score = (1 - lam) * star.aleatoric + lam * star.epistemic
        ours = surface.points[surface.lam == lam]
        for tau in score:
            point = attained(score <= tau, star)
            assert np.abs(ours - point).max(axis=1).min() < 1e-12


def test_no_selector_dominates_the_optimal_surface(star, rng):
    # Theorem 1: a point of lambda minimises (1 - lambda) (risk - regret) + lambda regret at its
    # coverage, so whatever has less of the one has more of the other.
    surface = optimal_surface(star)
    for _ in range(300):
        point = attained(rng.random(N) < rng.random(), star)
        level = surface.points[np.isclose(surface.coverage, point[0])]
        lam = surface.lam[np.isclose(surface.coverage, point[0])]
        weights = np.column_stack([0 * lam, 1 - lam, 2 * lam - 1])
        assert ((weights * level).sum(axis=1) <= weights @ point + 1e-12).all()


def test_every_linear_selector_is_on_or_behind_the_achievable_surface(star, hat, rng):
    surface = achievable_surface(star, hat)
    for _ in range(2000):
        score = rng.normal(size=2) @ [hat.aleatoric, hat.epistemic]
        point = attained(score <= rng.choice(score), star)
        assert d_plus(point, surface.points).min() < 1e-12


def test_every_point_of_the_achievable_surface_is_a_linear_selector(star, hat):
    surface = achievable_surface(star, hat)
    for point, weights in zip(surface.points[::7], surface.weights[::7], strict=True):
        score = weights @ [hat.aleatoric, hat.epistemic]
        tau = np.append(-np.inf, np.sort(score))[round(point[0] * N)]
        assert attained(score <= tau, star) == pytest.approx(point)


def test_the_gap_is_the_mean_distance_of_the_surfaces(star, hat):
    optimal, achievable = optimal_surface(star).points, achievable_surface(star, hat).points
    igd_plus = np.mean([d_plus(reference, achievable).min() for reference in optimal])
    assert pareto_gap(star, hat) == pytest.approx(igd_plus, abs=1e-14)
    unit = [1, star.total.mean(), star.epistemic.mean()]
    optimal, achievable = optimal / unit, achievable / unit
    igd_plus = np.mean([d_plus(reference, achievable).min() for reference in optimal])
    assert pareto_gap(star, hat, normalize=True) == pytest.approx(igd_plus, abs=1e-14)

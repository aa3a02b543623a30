"""Section 5.2: AuReC, AuRC and their normalised forms, as the paper writes them."""

import numpy as np
import pytest

from rue import aurc, aurec, excess_aurec, n_aurec, oracle_aurec, random_aurec


def paper_area(truth, score):
    """Integral over c of (1/N) sum over the floor(cN) points of least score, on a fine grid."""
    n = len(truth)
    heights = np.concatenate(([0.0], np.cumsum(truth[np.argsort(score)]))) / n
    c = (np.arange(1000 * n) + 0.5) / (1000 * n)
    return heights[np.floor(c * n).astype(int)].mean()


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_the_floor_rule_is_rule_step(n, rng):
    regret, score = rng.gamma(0.5, size=n), rng.permutation(n)
    assert aurec(regret, score, rule="step") == pytest.approx(paper_area(regret, score))
    assert aurc(regret, score, rule="step") == pytest.approx(paper_area(regret, score))
    half_a_step = regret.mean() / (2 * n)
    assert aurec(regret, score) == pytest.approx(paper_area(regret, score) + half_a_step)


def test_a_random_selector_has_half_the_regret(rng):
    regret = rng.gamma(0.5, size=40)
    areas = [aurec(regret, rng.permutation(40)) for _ in range(4000)]
    error = np.std(areas) / np.sqrt(len(areas))
    assert np.mean(areas) == pytest.approx(random_aurec(regret), abs=4 * error)
    assert random_aurec(regret) == pytest.approx(regret.mean() / 2)


def test_excess_and_normalised_are_as_defined(rng):
    regret, score = rng.gamma(0.5, size=40), rng.normal(size=40)
    area, oracle, chance = aurec(regret, score), oracle_aurec(regret), random_aurec(regret)
    assert excess_aurec(regret, score) == pytest.approx(area - oracle)
    assert n_aurec(regret, score) == pytest.approx((area - oracle) / (chance - oracle))

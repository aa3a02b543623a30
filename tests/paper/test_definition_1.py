"""Definition 1: the three components, by hand and by sampling (theta, y) as it is written."""

import numpy as np
import pytest

from rue import Annotations, Dirichlet, Draws, decompose, realize
from rue.losses import LOSSES, get_loss


def loss_of_outcome(name, action, y):
    """l(action, y) for arrays of outcomes, without any expectation."""
    if name == "log":
        return -np.log(np.maximum(action[..., y], 1e-12))
    if name == "brier":
        return ((action - np.eye(action.shape[-1])[y]) ** 2).sum(axis=-1)
    if name == "zero_one":
        return (np.asarray(action) != y).astype(float)
    if name == "rps":
        below = np.arange(action.shape[-1] - 1) >= y
        return ((np.cumsum(action, axis=-1)[..., :-1] - below) ** 2).sum(axis=-1)
    if name == "pinball:0.8":
        return np.where(y < action, -0.2, 0.8) * (y - action)
    return np.abs(y - action) ** (2 if name == "squared" else 1)


@pytest.mark.parametrize("name", [*LOSSES, "pinball:0.8"])
def test_components_are_expectations_over_parameters_and_outcomes(name, rng):
    # theta picks one of the draws, y follows it: the joint expectation of the definition is a
    # finite sum, taken here as it stands.
    probs = rng.dirichlet(np.ones(4), (1, 6))
    loss = get_loss(name)
    H = loss.action(probs.mean(axis=1))[0]
    total = aleatoric = epistemic = 0.0
    for p in probs[0]:
        h = loss.action(p[None])[0]
        for y, weight in enumerate(p / 6):
            deployed, best = loss_of_outcome(name, H, y), loss_of_outcome(name, h, y)
            total += weight * deployed
            aleatoric += weight * best
            epistemic += weight * (deployed - best)
    hat = decompose(Draws(probs), name)
    assert hat.total[0] == pytest.approx(total, abs=1e-9)
    assert hat.aleatoric[0] == pytest.approx(aleatoric, abs=1e-9)
    assert hat.epistemic[0] == pytest.approx(epistemic, abs=1e-9)


def test_by_hand():
    # Two draws, (1, 0) and (0, 1): each is sure, so nothing is aleatoric; the mean is (1/2, 1/2).
    # log: total log 2; brier: 1/2; zero_one: 1/2; squared (0, 1): 1/4; absolute: 1/2;
    # rps: 1/4; pinball at 0.8: the quantile is 1, which costs 0.2 under the first draw: 0.1.
    belief = Draws([[[1, 0], [0, 1]]])
    expected = {"log": np.log(2), "brier": 0.5, "zero_one": 0.5, "squared": 0.25, "absolute": 0.5}
    expected |= {"rps": 0.25, "pinball:0.8": 0.1}
    for name, total in expected.items():
        hat = decompose(belief, name)
        assert hat.aleatoric[0] == 0
        assert hat.epistemic[0] == pytest.approx(total)
    # People split 3 : 1; the model says (1/2, 1/2): regret of log loss is
    # log 2 - H(3/4) = 3/4 log 3 - log 2
    star = realize(Annotations([[3, 1]]), belief, "log")
    assert star.epistemic[0] == pytest.approx(0.75 * np.log(3) - np.log(2))


@pytest.mark.parametrize("name", [*LOSSES, "pinball:0.8"])
def test_realised_components_are_expectations_over_answers(name, rng):
    answers = rng.integers(0, 3, 17)
    counts = np.bincount(answers, minlength=3)[None]
    belief = Dirichlet(rng.gamma(2.0, size=(1, 3)))
    loss = get_loss(name)
    H = loss.action(belief.mean())[0]
    best = loss.action(counts / 17)[0]
    star = realize(Annotations(counts), belief, name)
    paid = np.mean([loss_of_outcome(name, H, y) for y in answers])
    least = np.mean([loss_of_outcome(name, best, y) for y in answers])
    assert star.total[0] == pytest.approx(paid, abs=1e-9)
    assert star.aleatoric[0] == pytest.approx(least, abs=1e-9)
    assert star.epistemic[0] == pytest.approx(paid - least, abs=1e-9)


@pytest.mark.parametrize("name", [*LOSSES, "pinball:0.8"])
def test_many_draws_tend_to_the_dirichlet(name, rng):
    alpha = np.array([2.0, 1.0, 4.0, 0.7])
    draws = rng.dirichlet(alpha, (1, 40_000))
    sampled, exact = decompose(Draws(draws), name), decompose(Dirichlet([alpha]), name)
    # 40,000 draws of a loss of size about one: standard error below 1/100 of a third.
    assert sampled.aleatoric[0] == pytest.approx(exact.aleatoric[0], abs=0.02)
    assert sampled.epistemic[0] == pytest.approx(exact.epistemic[0], abs=0.02)

"""Section 3.1, "Divergent Bayes-optimal scorers": when BALD is regret, and when it is not."""

import numpy as np
import pytest

from rue.sandbox import REGIONS, run_sandbox

# Gauss-Hermite: E g(z) of a standard normal z, exact here, where g is a quadratic polynomial.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def log_density(y, mean, sd):
    return -0.5 * np.log(2 * np.pi * sd**2) - 0.5 * ((y - mean) / sd) ** 2


@pytest.mark.parametrize("seed", range(3))
def test_bald_is_the_expected_regret_under_log_loss(seed):
    """Both sides by their own definitions and by quadrature, to 1e-10, at every input.

    BALD: E over f of KL(p(y | f), p(y | D)). Regret: E over (f, y) of the log loss of p(y | D)
    minus that of p(y | f), as total minus aleatoric, an entropy each.
    """
    run = run_sandbox(loss="log", seed=seed)
    sigma = run.world.sigma[:, None, None]
    mean, variance = (part[:, None, None] for part in run.posterior.predict(run.world.x))
    s = np.sqrt(sigma**2 + variance)
    f = mean + np.sqrt(variance) * NODES[:, None]
    y = f + sigma * NODES
    divergence = (log_density(y, f, sigma) - log_density(y, mean, s)) @ WEIGHTS
    mutual_information = divergence @ WEIGHTS
    y_predicted = (mean + s * NODES)[:, 0, :]
    total = -log_density(y_predicted, mean[:, 0], s[:, 0]) @ WEIGHTS
    aleatoric = (-log_density(y, f, sigma) @ WEIGHTS) @ WEIGHTS

    np.testing.assert_allclose(run.scores["bald"], mutual_information, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.hat.total, total, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.hat.aleatoric, aleatoric, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.hat.epistemic, total - aleatoric, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.scores["bald"], total - aleatoric, rtol=0, atol=1e-10)
    assert run.overlap["bald"]["epistemic"] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_bald_is_not_the_regret_under_squared_loss(seed):
    """BALD puts the median of A above that of C, regret the other way round."""
    run = run_sandbox(loss="squared", seed=seed)
    x = run.world.x
    a, c = ((REGIONS[name][0] <= x) & (x < REGIONS[name][1]) for name in "AC")
    bald, epistemic = run.scores["bald"], run.scores["epistemic"]
    assert np.median(bald[a]) > np.median(bald[c])
    assert np.median(epistemic[a]) < np.median(epistemic[c])
    assert run.overlap["bald"]["epistemic"] < 0.5


def test_ood_and_bald_do_not_know_the_loss_and_the_others_do():
    squared, log = run_sandbox(loss="squared"), run_sandbox(loss="log")
    for scorer in ("ood", "bald"):
        assert (squared.scores[scorer] == log.scores[scorer]).all()
    for scorer in ("eer", "total", "epistemic"):
        order = [np.argsort(run.scores[scorer]) for run in (squared, log)]
        if scorer == "total":  # both rise with sigma^2 + variance
            assert (order[0] == order[1]).all()
        else:
            assert (order[0] != order[1]).any()

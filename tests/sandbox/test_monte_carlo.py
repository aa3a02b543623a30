"""The sandbox's closed forms against Monte Carlo, within four standard errors."""

import math

import numpy as np
import pytest

from rue.sandbox import SANDBOX_LOSSES, make_world
from rue.sandbox.posterior import expected_components, fit_posterior, realized_components
from rue.sandbox.summary import expected_error
from rue.sandbox.world import noise


def assert_four_standard_errors(draws, expected):
    """Draws of shape (n_draws, n_points) average to ``expected``."""
    error = draws.std(axis=0, ddof=1) / math.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - expected) <= 4 * error + 1e-15).all()


def test_draws_have_the_posterior_moments(posterior):
    draws = posterior.draw(50_000, seed=1)
    assert_four_standard_errors(draws, posterior.mean)
    assert_four_standard_errors((draws - posterior.mean) ** 2, posterior.covariance.diagonal())


@pytest.mark.parametrize("loss", SANDBOX_LOSSES)
def test_components_against_monte_carlo(world, posterior, loss):
    """Draw weights, then labels; average the losses of the Bayesian action and of the truth's."""
    cells = np.arange(10, len(world.x), 50)
    x, sigma = world.x[cells], world.sigma[cells]
    mean, variance = posterior.predict(x)
    s = np.sqrt(sigma**2 + variance)
    f = posterior.draw(20_000, seed=2) @ world.features(x).T
    y = f + sigma * np.random.default_rng(3).standard_normal(f.shape)
    total, aleatoric = {
        "squared": lambda: ((y - mean) ** 2, (y - f) ** 2),
        "absolute": lambda: (np.abs(y - mean), np.abs(y - f)),
        "log": lambda: (minus_log_density(y, mean, s), minus_log_density(y, f, sigma)),
    }[loss]()
    hat = expected_components(loss, sigma, variance)
    assert_four_standard_errors(total, hat.total)
    assert_four_standard_errors(aleatoric, hat.aleatoric)
    assert_four_standard_errors(total - aleatoric, hat.epistemic)


@pytest.mark.parametrize("loss", SANDBOX_LOSSES)
def test_realised_regret_averages_to_the_expected_one(world, posterior, loss):
    """The frequentist view, averaged over functions of the posterior, is the Bayesian one."""
    cells = np.arange(5, len(world.x), 50)
    x, sigma = world.x[cells], world.sigma[cells]
    mean, variance = posterior.predict(x)
    functions = posterior.draw(5_000, seed=4) @ world.features(x).T
    stars = [realized_components(loss, sigma, variance, mean - f) for f in functions]
    hat = expected_components(loss, sigma, variance)
    assert_four_standard_errors(np.array([star.epistemic for star in stars]), hat.epistemic)
    assert_four_standard_errors(np.array([star.total for star in stars]), hat.total)


def minus_log_density(y, mean, sd):
    return 0.5 * np.log(2 * np.pi * sd**2) + 0.5 * ((y - mean) / sd) ** 2


def test_expected_error_by_adding_labels_and_refitting():
    """Draw a function and labels from it, refit with each label, take the regret under it.

    What a label saves is compared, regret before minus after, and noise comes in pairs of
    opposite sign: both only make the average less noisy, so that the test has teeth.
    """
    world = make_world(seed=2, n_train=100, n_grid=200)
    before = fit_posterior(world.features, world.x_train, world.y_train)
    phi, rng = world.features(world.x), np.random.default_rng(5)

    def regrets(posterior, weights):
        mean, variance = posterior.predict(world.x)
        stars = (
            realized_components(loss, world.sigma, variance, mean - phi @ weights)
            for loss in SANDBOX_LOSSES
        )
        return np.array([world.mass @ star.epistemic for star in stars])

    expected = np.array([expected_error(world, before, loss) for loss in SANDBOX_LOSSES])
    variance = before.predict(world.x)[1]
    hats = (expected_components(loss, world.sigma, variance) for loss in SANDBOX_LOSSES)
    expected_before = np.array([world.mass @ hat.epistemic for hat in hats])
    for cell in (6, 84, 160):  # in A, B and C
        x = world.x[[cell]]
        saved = []
        for weights in before.draw(700, seed=cell):
            f, epsilon = phi[[cell]] @ weights, noise(x) * rng.standard_normal(1)
            after = [
                fit_posterior(
                    world.features, np.append(world.x_train, x), np.append(world.y_train, y)
                )
                for y in (f + epsilon, f - epsilon)
            ]
            mean_after = np.mean([regrets(posterior, weights) for posterior in after], axis=0)
            saved.append(regrets(before, weights) - mean_after)
        closed_form = expected_before - expected[:, cell]
        assert_four_standard_errors(np.array(saved), closed_form)
        assert (np.std(saved, axis=0) < 5 * closed_form).all()  # a standard error below 19 %

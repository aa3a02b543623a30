"""The sandbox as an oracle of the general code for real-valued outcomes.

The belief about f(x) is N(mu, v) and the noise N(0, sigma^2) is known: a normal-inverse-gamma
distribution in the limit of an alpha without end, with nu = sigma^2 / v.
"""

import numpy as np
import pytest
from scipy.special import ndtri

from rue import Gaussians, NormalInverseGamma, Ratings, aurec, decompose, realize
from rue.sandbox import run_sandbox

LARGE = 1e13


def parts(components):
    return np.array([components.total, components.aleatoric, components.epistemic])


def belief_of(run):
    mu, variance = run.posterior.predict(run.world.x)
    sigma2 = run.world.sigma**2
    return NormalInverseGamma(mu, sigma2 / variance, np.full(len(mu), LARGE), LARGE * sigma2)


def test_two_draws_have_the_variance_of_the_posterior():
    # Draws at mu -+ sqrt(v) have the variance v, and squared loss knows no more of a belief. The
    # regret under f* is that of one answer without noise.
    run = run_sandbox(loss="squared")
    mu, variance = run.posterior.predict(run.world.x)
    root, sigma = np.sqrt(variance)[:, None], run.world.sigma[:, None]
    belief = Gaussians(mu[:, None] + root * [-1.0, 1.0], np.repeat(sigma, 2, axis=1))
    hat = decompose(belief, "squared")
    star = realize(Ratings(run.world.f_star), belief, "squared")
    assert parts(hat) == pytest.approx(parts(run.hat), rel=1e-10)
    assert star.epistemic == pytest.approx(run.star.epistemic, rel=1e-9, abs=1e-12)
    mass, areas = run.world.mass, run.areas["epistemic"]
    found = aurec(star.epistemic, hat.epistemic, sample_weight=mass)
    assert found == pytest.approx(areas["aurec_star"], rel=1e-9)
    expected = aurec(hat.epistemic, hat.epistemic, sample_weight=mass)
    assert expected == pytest.approx(areas["aurec"], rel=1e-9)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_the_posterior_itself_has_the_sandbox_s_components(loss):
    run = run_sandbox(loss=loss)
    hat = decompose(belief_of(run), loss)
    assert parts(hat) == pytest.approx(parts(run.hat), rel=1e-9)
    found = aurec(hat.epistemic, hat.epistemic, sample_weight=run.world.mass)
    assert found == pytest.approx(run.areas["epistemic"]["aurec"], rel=1e-9)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_many_answers_tend_to_the_sandbox_s_regret(loss):
    # 2,000 quantiles of N(f*, sigma^2) as answers: what they miss is the tails.
    run = run_sandbox(loss=loss)
    cells = slice(None, None, 7)
    f, sigma = run.world.f_star[cells], run.world.sigma[cells]
    people = Ratings(f[:, None] + sigma[:, None] * ndtri((np.arange(2000) + 0.5) / 2000))
    belief = belief_of(run)[cells]
    star, hat = realize(people, belief, loss), decompose(belief, loss)
    closed = run.star[cells]
    assert parts(star) == pytest.approx(parts(closed), rel=2e-3, abs=1e-6)
    found = aurec(star.epistemic, hat.epistemic)
    assert found == pytest.approx(aurec(closed.epistemic, hat.epistemic), rel=1e-4)


def test_draws_of_the_posterior_tend_to_it():
    run = run_sandbox(loss="absolute")
    cells = slice(None, None, 20)
    x = run.world.x[cells]
    means = run.world.features(x) @ run.posterior.draw(1500, seed=0).T
    sigma = np.repeat(run.world.sigma[cells][:, None], 1500, axis=1)
    hat = decompose(Gaussians(means, sigma), "absolute")
    # Relative error of a variance from 1,500 draws: sqrt(2/1500) = 4 %, and three times that.
    assert hat.epistemic == pytest.approx(run.hat.epistemic[cells], rel=0.12)
    assert hat.aleatoric == pytest.approx(run.hat.aleatoric[cells], rel=1e-10)

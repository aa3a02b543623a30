"""The five Bayes-optimal scorers of section 3, and the inputs that each of them rejects.

Every score is oriented so that higher is rejected first.

=========  ==============================================  ================================
scorer     score                                           optimal for
=========  ==============================================  ================================
ood        p_ood(x) / p(x), p_ood uniform                  telling outliers from inliers
eer        minus the expected error after labelling x      the next label to ask for
bald       mutual information of the label and weights     the next label, for information
total      Definition 1                                    least risk at any coverage
epistemic  Definition 1                                    least regret at any coverage
=========  ==============================================  ================================
"""

import numpy as np

from rue._arrays import FloatArray
from rue.errors import InputError
from rue.sandbox.gaussian import Loss, expected_components, expected_regret
from rue.sandbox.posterior import Posterior
from rue.sandbox.world import World

__all__ = ["SCORERS", "bald", "expected_error", "jaccard", "reject", "scores"]

SCORERS = ("ood", "eer", "bald", "total", "epistemic")


def scores(world: World, posterior: Posterior, loss: Loss) -> dict[str, FloatArray]:
    """Return the score of every cell by every scorer, shape (n_grid,) each."""
    variance = posterior.predict(world.x)[1]
    expected = expected_components(loss, world.sigma, variance)
    return {
        "ood": 1.0 / world.density,
        "eer": -expected_error(world, posterior, loss),
        "bald": bald(world.sigma, variance),
        "total": expected.total,
        "epistemic": expected.epistemic,
    }


def bald(sigma: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the mutual information of label and weights, log(1 + v / sigma^2) / 2 nats.

    It is E_f KL(N(f, sigma^2), N(mu, sigma^2 + v)): the expected regret under log loss, and under
    no other (section 3.1).
    """
    return expected_regret("log", sigma, variance)


def expected_error(world: World, posterior: Posterior, loss: Loss) -> FloatArray:
    """Return EER: the regret left, over test inputs, once the label of x is known.

    A label at x takes cov(f(t), f(x))^2 / (sigma(x)^2 + v(x)) off the variance v(t), whatever
    the label is (rank-one update), so the expectation over labels falls away:

        EER(x) = sum_t p(t) epistemic(t; v(t) - cov(t, x)^2 / (sigma(x)^2 + v(x)))

    Low expected error means a label worth having. Shape (n_grid,).
    """
    covariance = posterior.covariances(world.x)
    variance = covariance.diagonal()
    after = variance - covariance**2 / (world.sigma**2 + variance)[:, None]
    left: FloatArray = expected_regret(loss, world.sigma, after) @ world.mass
    return left


def reject(score: FloatArray, mass: FloatArray, coverage: float) -> FloatArray:
    """Return the probability of rejecting each cell when ``coverage`` of the mass is kept.

    Cells go from the highest score down until the share 1 - coverage of the mass is gone. It is
    gone exactly: the last block of equal scores, usually one cell, is rejected with whatever
    probability that takes. All other cells are 0 or 1.
    """
    if not 0.0 < coverage < 1.0:
        raise InputError(f"coverage must lie strictly between 0 and 1, got {coverage}")
    _, block = np.unique(-score, return_inverse=True)
    block_mass = np.bincount(block, weights=mass)
    above = np.cumsum(block_mass) - block_mass
    share: FloatArray = ((1.0 - coverage) * mass.sum() - above) / block_mass
    return share.clip(0.0, 1.0)[block]


def jaccard(first: FloatArray, second: FloatArray, mass: FloatArray) -> float:
    """Return the overlap of two rejections: the mass both reject over the mass either rejects.

    On a cell rejected with probabilities r and s, both is min(r, s) and either max(r, s).
    """
    both = mass @ np.minimum(first, second)
    return float(both / (mass @ np.maximum(first, second)))

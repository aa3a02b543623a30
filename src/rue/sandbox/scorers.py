"""The five Bayes-optimal scorers of section 3, and the inputs that each of them rejects.

Inputs with higher scores are rejected first.

=========  ==============================================  =====================================
scorer     score                                           optimal for
=========  ==============================================  =====================================
ood        p_ood(x) / p(x), p_ood uniform                  detecting outliers
eer        minus the expected error after labelling x      choosing a label that reduces error
bald       mutual information of the label and weights     choosing a label by its information
total      Definition 1                                    the least risk at any coverage
epistemic  Definition 1                                    the least regret at any coverage
=========  ==============================================  =====================================
"""

import numpy as np

from rue._arrays import FloatArray
from rue.errors import InputError
from rue.sandbox.gaussian import SandboxLoss, expected_components, expected_regret
from rue.sandbox.posterior import Posterior
from rue.sandbox.world import World

SCORERS = ("ood", "eer", "bald", "total", "epistemic")


def scores(world: World, posterior: Posterior, loss: SandboxLoss) -> dict[str, FloatArray]:
    """Return the scores of all cells by each scorer, each of shape (n_grid,)."""
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
    """Return the mutual information of label and weights, log(1 + v / sigma^2) / 2 nats."""
    return expected_regret("log", sigma, variance)


def expected_error(world: World, posterior: Posterior, loss: SandboxLoss) -> FloatArray:
    """Return EER, the expected regret over test inputs after x is labelled, shape (n_grid,)."""
    covariance = posterior.covariances(world.x)
    variance = covariance.diagonal()
    after = variance - covariance**2 / (world.sigma**2 + variance)[:, None]
    left: FloatArray = expected_regret(loss, world.sigma, after) @ world.mass
    return left


def reject(score: FloatArray, mass: FloatArray, coverage: float) -> FloatArray:
    """Return the probability of rejecting each cell if ``coverage`` of the mass is kept."""
    if not 0.0 < coverage < 1.0:
        raise InputError(f"coverage must lie strictly between 0 and 1, got {coverage}")
    _, block = np.unique(-score, return_inverse=True)
    block_mass = np.bincount(block, weights=mass)
    above = np.cumsum(block_mass) - block_mass
    share: FloatArray = ((1.0 - coverage) * mass.sum() - above) / block_mass
    return share.clip(0.0, 1.0)[block]


def jaccard(first: FloatArray, second: FloatArray, mass: FloatArray) -> float:
    """Return the Jaccard overlap of two rejections: mass of the intersection over the union."""
    both = mass @ np.minimum(first, second)
    return float(both / (mass @ np.maximum(first, second)))

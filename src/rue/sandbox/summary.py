"""Run the sandbox: the five Bayes-optimal scorers of section 3, what they reject, and results.

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

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import rue
from rue._arrays import FloatArray, require_one_of
from rue._text import JsonObject
from rue.components import Components
from rue.errors import InputError
from rue.metrics.measures import areas
from rue.sandbox.posterior import (
    PRIOR_SD,
    Posterior,
    RegretSplit,
    SandboxLoss,
    expected_components,
    expected_regret,
    fit_posterior,
    realized_components,
    split_regret,
)
from rue.sandbox.world import REGIONS, World, make_world

SCORERS = ("ood", "eer", "bald", "total", "epistemic")
SANDBOX_LOSSES: tuple[SandboxLoss, ...] = ("squared", "absolute", "log")

# The sizes of the model classes whose regret is split; the last one contains f*.
_SPLIT_FEATURES = (6, 12, 18, 24, 30, 36)


@dataclass(frozen=True, eq=False)
class Sandbox:
    """The result of :func:`run_sandbox`; arrays have one number per cell, shape (n_grid,).

    Attributes
    ----------
    loss, coverage, seed
        The arguments of the run.
    world : World
        The truth and the training sample.
    posterior : Posterior
        The posterior over the weights, given the sample.
    hat : Components
        The components expected under the posterior (the Bayesian view).
    star : Components
        The components under f* (the frequentist view); ``star.epistemic`` is the regret.
    scores : dict of str to array of shape (n_grid,)
        The scores of each scorer; cells with higher scores are rejected first.
    rejected : dict of str to array of shape (n_grid,)
        The probability that each scorer rejects a cell at the coverage.
    """

    loss: SandboxLoss
    coverage: float
    seed: int
    world: World
    posterior: Posterior
    hat: Components
    star: Components
    scores: dict[str, FloatArray]
    rejected: dict[str, FloatArray]

    @cached_property
    def overlap(self) -> dict[str, dict[str, float]]:
        """The Jaccard overlap of the rejections of all pairs of scorers, by mass."""
        mass, rejected = self.world.mass, self.rejected
        return {a: {b: jaccard(rejected[a], rejected[b], mass) for b in SCORERS} for a in SCORERS}

    @cached_property
    def areas(self) -> dict[str, dict[str, float]]:
        """AuReC and AuRC of each scorer: expected, and realised under f* (``_star``)."""
        values = {
            "aurec": self.hat.epistemic,
            "aurc": self.hat.total,
            "aurec_star": self.star.epistemic,
            "aurc_star": self.star.total,
        }
        mass = self.world.mass
        return {
            name: {key: areas(v, score, sample_weight=mass).area for key, v in values.items()}
            for name, score in self.scores.items()
        }

    @cached_property
    def left(self) -> dict[str, dict[str, float]]:
        """Risk and regret of the accepted cells by each scorer, not divided by the coverage."""
        return {
            name: {
                "risk": float(mass @ self.hat.total),
                "regret": float(mass @ self.hat.epistemic),
                "risk_star": float(mass @ self.star.total),
                "regret_star": float(mass @ self.star.epistemic),
            }
            for name, mass in ((s, self.world.mass * (1.0 - self.rejected[s])) for s in SCORERS)
        }

    @cached_property
    def regions(self) -> dict[str, dict[str, float]]:
        """The share of the regions A, B and C, by width, that each scorer rejects."""
        x = self.world.x
        inside = {name: (low <= x) & (x < high) for name, (low, high) in REGIONS.items()}
        return {
            name: {region: float(rejected[cells].mean()) for region, cells in inside.items()}
            for name, rejected in self.rejected.items()
        }

    @cached_property
    def split(self) -> list[RegretSplit]:
        """The regret of smaller model classes under squared loss, for any loss of this run."""
        return [split_regret(self.world, n_features) for n_features in _SPLIT_FEATURES]

    def columns(self) -> dict[str, FloatArray]:
        """Return the columns of ``sandbox.csv``, with one row per cell."""
        return {
            "x": self.world.x,
            "density": self.world.density,
            "f": self.world.f_star,
            "sigma": self.world.sigma,
            "total": self.hat.total,
            "aleatoric": self.hat.aleatoric,
            "epistemic": self.hat.epistemic,
            **{name: self.scores[name] for name in ("ood", "bald", "eer")},
            **{f"reject_{name}": self.rejected[name] for name in SCORERS},
            "mean": self.posterior.predict(self.world.x)[0],
            "total_star": self.star.total,
            "epistemic_star": self.star.epistemic,
        }

    def to_dict(self) -> JsonObject:
        """Return the content of ``sandbox.json``."""
        mass = self.world.mass
        parts = ("regret", "approximation", "estimation", "cross", "epistemic")
        return {
            "version": rue.__version__,
            "loss": self.loss,
            "coverage": self.coverage,
            "seed": self.seed,
            "n_train": len(self.world.x_train),
            "n_grid": len(self.world.x),
            "n_features": self.world.features.n_features,
            "prior_sd": PRIOR_SD,
            "overlap": self.overlap,
            "areas": self.areas,
            "left": self.left,
            "regions": self.regions,
            "split": [
                {"n_features": split.n_features}
                | {part: float(mass @ getattr(split, part)) for part in parts}
                for split in self.split
            ],
        }


def run_sandbox(*, coverage: float = 0.8, seed: int = 0, loss: SandboxLoss = "squared") -> Sandbox:
    """Build the world, fit it, score every input and reject all but ``coverage`` of the mass.

    Parameters
    ----------
    coverage : float
        The share of p(x)-mass that is accepted, strictly between 0 and 1.
    seed : int
        Seed of the training sample.
    loss : {"squared", "absolute", "log"}
        The loss of Definition 1 and of expected error reduction; the OOD and BALD scores do not
        depend on it.

    Returns
    -------
    Sandbox
        Scores and rejections of shape (n_grid,), and their results.

    Raises
    ------
    InputError
        If the loss is unknown, or the coverage is not between 0 and 1.

    Examples
    --------
    >>> from rue.sandbox import run_sandbox
    >>> sandbox = run_sandbox()
    >>> min(sandbox.areas, key=lambda scorer: sandbox.areas[scorer]["aurec"])
    'epistemic'
    >>> min(sandbox.areas, key=lambda scorer: sandbox.areas[scorer]["aurc"])
    'total'
    """
    require_one_of("loss", loss, SANDBOX_LOSSES)
    world = make_world(seed=seed)
    posterior = fit_posterior(world.features, world.x_train, world.y_train)
    mean, variance = posterior.predict(world.x)
    score = scores(world, posterior, loss)
    return Sandbox(
        loss=loss,
        coverage=coverage,
        seed=seed,
        world=world,
        posterior=posterior,
        hat=expected_components(loss, world.sigma, variance),
        star=realized_components(loss, world.sigma, variance, mean - world.f_star),
        scores=score,
        rejected={name: reject(score[name], world.mass, coverage) for name in SCORERS},
    )


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

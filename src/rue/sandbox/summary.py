"""Run the sandbox: the five scorers, the inputs that they reject, and their results."""

from dataclasses import dataclass
from functools import cached_property

import rue
from rue._arrays import FloatArray
from rue._text import JsonObject
from rue.components import Components
from rue.errors import InputError
from rue.metrics.measures import aurc, aurec
from rue.sandbox.gaussian import SandboxLoss, expected_components, realized_components
from rue.sandbox.posterior import PRIOR_SD, Posterior, fit_posterior
from rue.sandbox.scorers import SCORERS, jaccard, reject, scores
from rue.sandbox.split import RegretSplit, split_regret
from rue.sandbox.world import REGIONS, World, make_world

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
        mass = self.world.mass
        return {
            name: {
                "aurec": aurec(self.hat.epistemic, score, sample_weight=mass),
                "aurc": aurc(self.hat.total, score, sample_weight=mass),
                "aurec_star": aurec(self.star.epistemic, score, sample_weight=mass),
                "aurc_star": aurc(self.star.total, score, sample_weight=mass),
            }
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
    if loss not in SANDBOX_LOSSES:
        raise InputError(f"loss must be one of {', '.join(SANDBOX_LOSSES)}, got {loss!r}")
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

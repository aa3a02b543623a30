"""One run of the sandbox: the five scorers, what they reject, and who wins which criterion."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import rue
from rue._arrays import FloatArray
from rue.components import Components
from rue.errors import InputError
from rue.metrics.curves import aurc, aurec
from rue.sandbox.gaussian import Loss, expected_components, realized_components
from rue.sandbox.posterior import PRIOR_SD, Posterior, fit
from rue.sandbox.scorers import SCORERS, jaccard, reject, scores
from rue.sandbox.split import RegretSplit, split_regret
from rue.sandbox.world import REGIONS, World, make_world

__all__ = ["SANDBOX_LOSSES", "Sandbox", "run_sandbox"]

SANDBOX_LOSSES: tuple[Loss, ...] = ("squared", "absolute", "log")

# The sizes of the classes whose regret is split; the last is the class that contains f*.
_SPLIT_FEATURES = (6, 12, 18, 24, 30, 36)


@dataclass(frozen=True, eq=False)
class Sandbox:
    """What :func:`run_sandbox` returns; arrays are over the cells, shape (n_grid,).

    Parameters
    ----------
    loss, coverage, seed : as asked for.
    world : the truth and the training sample.
    posterior : over the weights, given the sample.
    hat : the components expected under the posterior (the Bayesian view).
    star : the components under f* (the frequentist view); ``star.epistemic`` is the regret.
    scores : of each scorer, higher rejected first.
    rejected : by each scorer at the coverage, in [0, 1].
    """

    loss: Loss
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
        """The Jaccard overlap of the rejections of every two scorers, by mass."""
        mass, rejected = self.world.mass, self.rejected
        return {a: {b: jaccard(rejected[a], rejected[b], mass) for b in SCORERS} for a in SCORERS}

    @cached_property
    def areas(self) -> dict[str, dict[str, float]]:
        """AuReC and AuRC of each scorer, expected, and realised under f* (``_star``)."""
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
        """Risk and regret that each scorer leaves at the coverage, not divided by it."""
        return {
            name: {
                "risk": float(kept @ self.hat.total),
                "regret": float(kept @ self.hat.epistemic),
                "risk_star": float(kept @ self.star.total),
                "regret_star": float(kept @ self.star.epistemic),
            }
            for name, kept in ((s, self.world.mass * (1.0 - self.rejected[s])) for s in SCORERS)
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
        """The squared regret of smaller classes, whatever the loss of this run."""
        return [split_regret(self.world, n_features) for n_features in _SPLIT_FEATURES]

    def columns(self) -> dict[str, FloatArray]:
        """Return the table of ``sandbox.csv``, one row per cell."""
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

    def to_dict(self) -> dict[str, Any]:
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


def run_sandbox(*, coverage: float = 0.8, seed: int = 0, loss: Loss = "squared") -> Sandbox:
    """Build the world, fit it, score every input and reject all but ``coverage`` of the mass.

    Parameters
    ----------
    coverage : the share of p(x)-mass kept, strictly between 0 and 1.
    seed : of the training sample.
    loss : of Definition 1 and of expected error reduction; OOD and BALD know no loss.

    Examples
    --------
    >>> sandbox = run_sandbox()
    >>> min(sandbox.areas, key=lambda scorer: sandbox.areas[scorer]["aurec"])
    'epistemic'
    >>> min(sandbox.areas, key=lambda scorer: sandbox.areas[scorer]["aurc"])
    'total'
    """
    if loss not in SANDBOX_LOSSES:
        raise InputError(f"loss must be one of {', '.join(SANDBOX_LOSSES)}, got {loss!r}")
    world = make_world(seed=seed)
    posterior = fit(world.features, world.x_train, world.y_train)
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

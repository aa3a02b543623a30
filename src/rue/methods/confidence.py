"""Confidence: one network, and one minus its largest probability as epistemic score.

The baseline of a user who has one network and nothing else (Hendrycks and Gimpel 2017): every
loss's regret is ranked by the same score, ``max`` or the ``entropy`` of the distribution.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rue.beliefs import Scored
from rue.data.dataset import Inputs
from rue.errors import InputError
from rue.methods._training.settings import Training
from rue.methods.learner import Fitted, Learner, networks, one_network

__all__ = ["Config", "fit", "predict"]

ConfidenceScore = Literal["max", "entropy"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """What the score is, and how to train."""

    score: ConfidenceScore = "max"
    training: Training | None = None

    def __post_init__(self) -> None:
        if self.score not in get_args(ConfidenceScore):
            raise InputError(f"score must be max or entropy, got {self.score!r}")


def _belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Scored:
    probs = fitted.model.distributions(inputs)[:, 0]
    p = probs.astype(np.float64)
    if fitted.config.score == "max":
        return Scored(probs, 1 - p.max(axis=1))
    return Scored(probs, -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1))


learner = Learner("confidence", Config, networks(one_network("confidence")), _belief)
fit = learner.fit
predict = learner.predict

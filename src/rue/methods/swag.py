"""SWAG (Maddox et al. 2019): a Gaussian over all weights, fitted to the last epochs of SGD.

From the trained weights on, SGD runs at a constant rate, and the weights theta_t after each epoch
are taken as draws of a distribution with the moments

    mean = mean_t theta_t,   diagonal = mean_t theta_t^2 - mean^2,
    D = the last R deviations theta_t - (mean until t), as columns.

A draw of the weights is mean + sqrt(diagonal / 2) z1 + D z2 / sqrt(2 (R - 1)) with z1 and z2
standard normal: the mean of a diagonal and a low-rank covariance. Batch norm's statistics of a draw
are those of the training images under its weights.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import require_whole
from rue.beliefs import Draws
from rue.data.dataset import Inputs
from rue.errors import InputError
from rue.methods._training.settings import Training
from rue.methods.learner import FitRequest, Fitted, Learner, Trained, networks, one_network

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """Draws, the tail of SGD, and how to train before it.

    ``lr`` None is 0.01 after AdamW, half of the highest rate after SGD, and a fifth of it after
    ``one_cycle``.
    """

    n_draws: int = 20
    n_epochs: int = 20
    rank: int = 20
    lr: float | None = None
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_draws", self.n_draws, least=1)
        require_whole("n_epochs", self.n_epochs, least=2)
        require_whole("rank", self.rank, least=2)
        if self.lr is not None and not 0 < self.lr < np.inf:
            raise InputError(f"lr must be above 0 and finite, got {self.lr}")


def _train(config: Config, request: FitRequest) -> list[Trained]:
    """Train a network, continue it with SGD, and put draws of its weights in its place."""
    from rue.methods._training.weights import draw_networks

    return [
        replace(one, model=draw_networks(one, _tail(config, one), config, request.checkpoints))
        for one in networks(one_network("swag"))(config, request)
    ]


def _tail(config: Config, one: Trained) -> Training:
    """Return the settings of the last epochs."""
    before: Training = one.model.training
    share = 0.2 if before.schedule == "one_cycle" else 0.5
    return replace(
        before,
        regime="paper",
        optimizer="sgd",
        schedule="constant",
        lr=config.lr or (0.01 if before.optimizer == "adamw" else before.lr * share),
        epochs=config.n_epochs,
        weight_decay=min(before.weight_decay, 5e-4),
    )


def _belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws:
    return Draws(fitted.model.distributions(inputs))


learner = Learner("swag", Config, _train, _belief)
fit = learner.fit
predict = learner.predict

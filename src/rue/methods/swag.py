"""SWAG (Maddox et al. 2019): a Gaussian over all weights, fitted to the last epochs of SGD.

From the trained weights on, SGD runs at a constant rate, and the weights theta_t after each epoch
are taken as draws of a distribution with the moments

    mean = mean_t theta_t,   diagonal = mean_t theta_t^2 - mean^2,
    D = the last R deviations theta_t - (mean until t), as columns.

A draw of the weights is mean + sqrt(diagonal / 2) z1 + D z2 / sqrt(2 (R - 1)) with z1 and z2
standard normal: the mean of a diagonal and a low-rank covariance. Batch norm's statistics of a draw
are those of the training images under its weights.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from rue._schema import AboveZero, Positive, at_least
from rue.beliefs import Draws
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import (
    AnyInputs,
    FitRequest,
    Fitted,
    Learner,
    Recipe,
    Trained,
    networks,
)

__all__ = ["Config", "fit", "predict"]

AtLeastTwo = Annotated[int, at_least(2)]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """Draws, the tail of SGD, and how to train before it.

    ``lr`` None is 0.01 after AdamW, half of the highest rate after SGD, and a fifth of it after
    ``one_cycle``.
    """

    n_draws: Positive = 20
    n_epochs: AtLeastTwo = 20
    rank: AtLeastTwo = 20
    lr: AboveZero | None = None
    temperature: bool = False
    training: Training | None = None


_network: Callable[[Config, FitRequest], list[Trained]] = networks(Recipe(method="swag"))


def _train(config: Config, request: FitRequest) -> list[Trained]:
    """Train a network, continue it with SGD, and put draws of its weights in its place."""
    from rue.methods._training.weights import draw_networks

    return [
        replace(one, model=draw_networks(one, _tail(config, one), config, request.checkpoints))
        for one in _network(config, request)
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


def _belief(fitted: Fitted, inputs: AnyInputs) -> Draws:
    return Draws(fitted.model.distributions(inputs))


learner = Learner("swag", Config, _train, _belief)
fit = learner.fit
predict = learner.predict

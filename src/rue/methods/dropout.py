"""MC dropout (Gal and Ghahramani 2016): draws are passes with units left out at random.

Each pass leaves out its own units for all points alike, as a thinned network does. So a point's
draws depend neither on the other points nor on their order, and as dropout comes before the last
layer only, features are computed once for all passes.
"""

from dataclasses import dataclass

import numpy as np

from rue._schema import Positive
from rue.beliefs import Draws, Gaussians
from rue.errors import InputError
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, networks

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """S passes with dropout probability p, in training and afterwards.

    ``training`` None is the probe for matrices and CIFAR's ResNet-18 for images; its dropout
    probability must be above 0.
    """

    n_draws: Positive = 20
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.training is not None and self.training.dropout == 0:
            raise InputError("dropout must be above 0 for MC dropout, got 0")


def _recipe(config: Config) -> Recipe:
    return Recipe(
        method="mc_dropout",  # names the random streams; another name would give other numbers
        dropout=True,
        mean=lambda model, x: model.passes(model.embed(x), config.n_draws).softmax(-1).mean(1),
    )


def _of_ratings(config: Config) -> Recipe:
    from rue.methods._training.objectives import of_ratings

    return of_ratings(
        _recipe(config),
        lambda model, x: model.passes(model.embed(x), config.n_draws).transpose(0, 1),
    )


def _belief(fitted: Fitted, inputs: AnyInputs) -> Draws | Gaussians:
    model, n_draws = fitted.model, fitted.config.n_draws
    passes = (model.passes(z, n_draws) for z in model.features(inputs))
    if fitted.answers is not None:
        return fitted.answers.gaussians(*passes)
    return Draws(np.concatenate([logits.softmax(-1).cpu().numpy() for logits in passes]))


learner = Learner("dropout", Config, networks(_recipe, ratings=_of_ratings), _belief)
fit = learner.fit
predict = learner.predict

"""MC dropout (Gal and Ghahramani 2016): draws are passes with units left out at random.

Each pass leaves out its own units for all points alike, as a thinned network does. So a point's
draws depend neither on the other points nor on their order, and as dropout comes before the last
layer only, features are computed once for all passes.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import require_whole
from rue.beliefs import Draws, Gaussians
from rue.data.dataset import Inputs
from rue.errors import InputError
from rue.methods._training.settings import Training
from rue.methods.learner import Fitted, Learner, networks

if TYPE_CHECKING:
    from rue.methods._training.models import Recipe

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """S passes with dropout probability p, in training and afterwards.

    ``training`` None is the probe for matrices and CIFAR's ResNet-18 for images; its dropout
    probability must be above 0.
    """

    n_draws: int = 20
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_draws", self.n_draws, least=1)
        if self.training is not None and self.training.dropout == 0:
            raise InputError("dropout must be above 0 for MC dropout, got 0")


def _recipe(config: Config, real: bool) -> "Recipe":
    from rue.methods._training.models import Recipe
    from rue.methods._training.real_heads import gaussian_plan

    recipe = Recipe(
        method="mc_dropout",  # names the random streams; another name would give other numbers
        dropout=True,
        mean=lambda model, x: model.passes(model.embed(x), config.n_draws).softmax(-1).mean(1),
    )
    if not real:
        return recipe
    return gaussian_plan(
        recipe, lambda model, x: model.passes(model.embed(x), config.n_draws).transpose(0, 1)
    )


def _belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws | Gaussians:
    model, n_draws = fitted.model, fitted.config.n_draws
    passes = (model.passes(z, n_draws) for _, z in model.features(inputs))
    if fitted.answers is not None:
        return fitted.answers.gaussians(*passes)
    return Draws(np.concatenate([logits.softmax(-1).cpu().numpy() for logits in passes]))


learner = Learner("dropout", Config, networks(_recipe), _belief)
fit = learner.fit
predict = learner.predict

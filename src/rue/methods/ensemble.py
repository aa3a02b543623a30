"""Deep ensemble (Lakshminarayanan et al. 2017): draws are independently trained networks.

Members differ in initialisation and data order. Member i of a probe does not see fold i of 5 of the
training points (appendix C). Where answers are real numbers, each member gives a mean and a
standard deviation, trained on the log density of the answers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from rue._arrays import require_whole
from rue.beliefs import Draws, Gaussians
from rue.data.dataset import Inputs
from rue.methods._training.settings import Training
from rue.methods.learner import Fitted, Learner, networks

if TYPE_CHECKING:
    from rue.methods._training.models import Recipe

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """M members; ``training`` None is the probe for matrices and CIFAR's ResNet-18 for images."""

    n_members: int = 5
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_members", self.n_members, least=1)


def _recipe(config: Config, real: bool) -> "Recipe":
    from rue.methods._training.models import Recipe
    from rue.methods._training.real_heads import gaussian_plan

    recipe = Recipe(method="ensemble", n_members=config.n_members)
    return gaussian_plan(recipe, lambda model, x: model.logits(x)) if real else recipe


def _belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws | Gaussians:
    if fitted.answers is None:
        return Draws(fitted.model.distributions(inputs))
    return fitted.answers.gaussians(fitted.model.outputs(inputs))


learner = Learner("ensemble", Config, networks(_recipe), _belief)
fit = learner.fit
predict = learner.predict

"""Deep ensemble (Lakshminarayanan et al. 2017): draws are independently trained networks.

Members differ in initialisation and data order. Member i of a probe does not see fold i of 5 of the
training points (appendix C). Where answers are real numbers, each member gives a mean and a
standard deviation, trained on the log density of the answers.
"""

from dataclasses import dataclass

from rue._schema import Positive
from rue.beliefs import Draws, Gaussians
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, networks

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """M members; ``training`` None is the probe for matrices and CIFAR's ResNet-18 for images."""

    n_members: Positive = 5
    temperature: bool = False
    training: Training | None = None


def _recipe(config: Config) -> Recipe:
    return Recipe(method="ensemble", n_members=config.n_members)


def _of_ratings(config: Config) -> Recipe:
    from rue.methods._training.objectives import of_ratings

    return of_ratings(_recipe(config), lambda model, x: model.logits(x))


def _belief(fitted: Fitted, inputs: AnyInputs) -> Draws | Gaussians:
    if fitted.answers is None:
        return Draws(fitted.model.distributions(inputs))
    return fitted.answers.gaussians(fitted.model.outputs(inputs))


learner = Learner("ensemble", Config, networks(_recipe, ratings=_of_ratings), _belief)
fit = learner.fit
predict = learner.predict

"""A single network: what a user has who does nothing about uncertainty.

Its distribution is the only draw, so the total is the Bayes risk of that distribution (entropy
under log loss, one minus the largest probability under 0/1 loss), and the epistemic part is 0.
"""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rue.beliefs import Draws
from rue.data.dataset import Inputs
from rue.methods._training.settings import Training
from rue.methods.learner import Fitted, Learner, networks, one_network

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """How to train; ``training`` None is the probe for matrices, CIFAR's ResNet-18 for images."""

    temperature: bool = False
    training: Training | None = None


def _belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws:
    return Draws(fitted.model.distributions(inputs))


learner = Learner("single", Config, networks(one_network("single")), _belief)
fit = learner.fit
predict = learner.predict

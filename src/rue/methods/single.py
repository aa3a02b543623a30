"""A single network: what a user has who does nothing about uncertainty.

Its distribution is the only draw, so the total is the Bayes risk of that distribution (entropy
under log loss, one minus the largest probability under 0/1 loss), and the epistemic part is 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from rue.beliefs import Draws
from rue.data.dataset import DataSet, Inputs
from rue.methods._training.fitting import fit_models
from rue.methods._training.models import Folder, Model, Plan
from rue.methods._training.settings import Training
from rue.methods._training.temperature import temper, with_temperature

__all__ = ["Config", "Fitted", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """How to train; ``training`` None is the probe for matrices, CIFAR's ResNet-18 for images."""

    temperature: bool = False
    training: Training | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """One network."""

    model: Model
    temperature: float = 1.0

    def predict(self, inputs: Inputs | ArrayLike) -> Draws:
        """See :func:`predict`."""
        return predict(self, inputs)


def fit(
    data: DataSet | Sequence[DataSet],
    config: Config | None = None,
    *,
    seeds: Sequence[int] = (0,),
    checkpoints: Folder = None,
    progress: bool = False,
) -> list[Fitted]:
    """Train one network per seed on the training split; all seeds' probes together.

    Parameters
    ----------
    data
        Features or images; one data set for all seeds, or one for each.
    config
        Settings; None is the paper's.
    seeds
        The result of a seed does not depend on the other seeds.
    checkpoints
        A folder for checkpoints after each epoch, from which training resumes (images).
    progress
        Show a bar.
    """
    config = config or Config()
    plan = Plan(method="single", held_out=config.temperature)
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    return with_temperature([Fitted(one.model) for one in fitted], fitted, config.temperature)


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws:
    """Return the network's distribution for each input, as the only draw."""
    return temper(Draws(fitted.model.distributions(inputs)), fitted.temperature)

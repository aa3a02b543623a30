"""Deep ensemble (Lakshminarayanan et al. 2017): draws are independently trained networks.

Members differ in initialisation and data order. Member i of a probe does not see fold i of 5 of the
training points (appendix C). Where answers are real numbers, each member gives a mean and a
standard deviation, trained on the log density of the answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from numpy.typing import ArrayLike

from rue._arrays import require_whole
from rue.beliefs import Draws, Gaussians
from rue.data.dataset import DataSet, Inputs
from rue.methods._training.fitting import fit_models
from rue.methods._training.models import Folder, Model, Plan
from rue.methods._training.real_heads import (
    AnswerScale,
    are_ratings,
    gaussian_loss,
    gaussian_mixture_log_loss,
)
from rue.methods._training.settings import Training
from rue.methods._training.temperature import refuse_temperature, temper, with_temperature

__all__ = ["Config", "Fitted", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """M members; ``training`` None is the probe for matrices and CIFAR's ResNet-18 for images."""

    n_members: int = 5
    temperature: bool = False
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_members", self.n_members, least=1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """M networks."""

    model: Model
    answers: AnswerScale | None = None
    temperature: float = 1.0

    def predict(self, inputs: Inputs | ArrayLike) -> Draws | Gaussians:
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
    """Train M networks per seed on the training split; all members and seeds of probes together.

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
    plan = Plan(method="ensemble", n_members=config.n_members, held_out=config.temperature)
    if are_ratings(data):
        refuse_temperature(config.temperature)
        plan = replace(
            plan,
            objective=gaussian_loss,
            n_outputs=lambda _: 2,
            kind="ratings",
            log_loss=lambda model, x, y: gaussian_mixture_log_loss(model.logits(x).double(), y),
        )
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    states = [Fitted(one.model, one.pool.answers) for one in fitted]
    return with_temperature(states, fitted, config.temperature)


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws | Gaussians:
    """Return each member's distribution for each input; Gaussians where answers are numbers."""
    model = fitted.model
    if fitted.answers is None:
        return temper(Draws(model.distributions(inputs)), fitted.temperature)
    batches = model.scaling.batches(inputs, model.chunk)
    return fitted.answers.gaussians(
        torch.cat([model.logits(x).transpose(0, 1) for _, x in batches])
    )

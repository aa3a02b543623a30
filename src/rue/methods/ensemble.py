"""Deep ensemble (Lakshminarayanan et al. 2017): draws are networks trained apart.

Members differ in their start, data order and dropout masks. Member i of a probe does not see
fold i of 5 of the training points (appendix C).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike

from rue._arrays import require_whole
from rue.beliefs import Draws
from rue.data.dataset import DataSet, Inputs
from rue.methods._training.fitting import fit_models
from rue.methods._training.models import Folder, Model, Plan
from rue.methods._training.settings import Training

__all__ = ["Config", "Fitted", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """M members; ``training`` None is the probe for matrices and CIFAR's ResNet-18 for images."""

    n_members: int = 5
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_members", self.n_members, least=1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """M networks."""

    model: Model

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
    """Train M networks a seed on the training split; all members and seeds of probes together.

    Parameters
    ----------
    data
        Features or images; one data set for all seeds, or one for each.
    config
        Settings; None is the paper's.
    seeds
        Each seed's result is its own, whatever runs beside it.
    checkpoints
        A folder to write to after each epoch, and to resume from (images).
    progress
        Show a bar.
    """
    config = config or Config()
    plan = Plan(method="ensemble", n_members=config.n_members)
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    return [Fitted(one.model) for one in fitted]


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws:
    """Return each member's distribution for each input."""
    weight, bias = fitted.model.head()
    parts = [
        torch.softmax(torch.baddbmm(bias, z, weight.mT), -1).transpose(0, 1)
        for _, z in fitted.model.features(inputs)
    ]
    return Draws(np.concatenate([part.cpu().numpy() for part in parts]))

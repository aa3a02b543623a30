"""MC dropout (Gal and Ghahramani 2016): draws are passes with units left out at random.

Each pass leaves out its own units for all points alike, as a thinned network does. So a point's
draws depend neither on the other points nor on their order, and as dropout comes before the last
layer only, features are computed once for all passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from rue._arrays import require_whole
from rue.beliefs import Draws, Gaussians
from rue.data.dataset import DataSet, Inputs
from rue.errors import InputError
from rue.methods._training.fitting import fit_models
from rue.methods._training.models import Folder, Model, Plan
from rue.methods._training.real_heads import (
    AnswerScale,
    are_ratings,
    gaussian_loss,
    gaussian_mixture_log_loss,
)
from rue.methods._training.settings import Training
from rue.methods._training.streams import stream
from rue.methods._training.temperature import refuse_temperature, temper, with_temperature
from rue.methods._training.training import keep

__all__ = ["Config", "Fitted", "fit", "predict"]


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


@dataclass(frozen=True, eq=False)
class Fitted:
    """One network, and the number of passes."""

    model: Model
    n_draws: int
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
    plan = Plan(
        method="mc_dropout",  # names the random streams; another name would give other numbers
        dropout=True,
        held_out=config.temperature,
        mean=lambda model, x: torch.softmax(
            _passes(model, model.embed(x), config.n_draws), -1
        ).mean(1),
    )
    if are_ratings(data):
        refuse_temperature(config.temperature)
        plan = replace(
            plan,
            objective=gaussian_loss,
            n_outputs=lambda _: 2,
            kind="ratings",
            log_loss=lambda model, x, y: gaussian_mixture_log_loss(
                _passes(model, model.embed(x), config.n_draws).transpose(0, 1).double(), y
            ),
        )
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    states = [Fitted(one.model, config.n_draws, one.pool.answers) for one in fitted]
    return with_temperature(states, fitted, config.temperature)


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Draws | Gaussians:
    """Return ``n_draws`` passes for each input; the same at every call.

    Gaussians where answers are real numbers.
    """
    outputs = (_passes(fitted.model, z, fitted.n_draws) for _, z in fitted.model.features(inputs))
    if fitted.answers is not None:
        return fitted.answers.gaussians(torch.cat(list(outputs)))
    parts = [torch.softmax(part, -1).cpu().numpy() for part in outputs]
    return temper(Draws(np.concatenate(parts)), fitted.temperature)


def _passes(model: Model, z: Tensor, n_draws: int) -> Tensor:
    """Return the outputs (n, n_draws, K) for features (1, n, n_features)."""
    weight, bias = model.head()
    dropout = model.training.dropout
    rng = stream("mc_dropout", model.seed, "draws")
    kept = keep(rng, (n_draws, 1, weight.shape[2]), dropout)
    # Leaving out a unit is leaving out its column of the last layer.
    thinned = weight * torch.from_numpy(kept).to(weight) / (1 - dropout)
    logits = (z[0] @ thinned.flatten(0, 1).T).view(-1, *thinned.shape[:2])
    return logits + bias

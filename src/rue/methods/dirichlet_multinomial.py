"""Dirichlet-multinomial network: a Dirichlet that is fitted to several answers per input.

If the answers about x are drawn from p, and p from Dirichlet(alpha(x)), then counts c of m answers
have the likelihood

    m! Gamma(alpha_0) / Gamma(m + alpha_0)
        prod_k Gamma(c_k + alpha_k) / (c_k! Gamma(alpha_k)),   alpha_0 = sum_k alpha_k.

The network's output is alpha(x) = softplus(logits), and training maximises this likelihood. With
one answer (m = 1) it is alpha_k / alpha_0, which does not depend on the strength alpha_0: the
strength cannot be learnt from single labels. With two or more answers it can, because answers agree
more often the weaker the Dirichlet is. So the strength measures how far distributions of answers
differ among inputs that look the same to the network. The head is that of
:mod:`~rue.methods.evidential`, without adding 1 and with another loss.

Members are combined in their second moment (:mod:`rue.methods._training.second_moments`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional

from rue._arrays import FloatArray, require_whole
from rue.beliefs import Dirichlet
from rue.data.dataset import DataSet, Inputs
from rue.methods._training.fitting import fit_models
from rue.methods._training.models import Folder, Model, Plan
from rue.methods._training.second_moments import clipped, dirichlet_joint, dirichlet_traces, match
from rue.methods._training.settings import Training

__all__ = ["Config", "Fitted", "clipped", "fit", "log_likelihood", "predict"]

_LEAST = 1e-6  # of a concentration: softplus underflows to 0


@dataclass(frozen=True, kw_only=True)
class Config:
    """How many members, and how to train."""

    n_members: int = 5
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_members", self.n_members, least=1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """M networks, each giving a Dirichlet."""

    model: Model

    def predict(self, inputs: Inputs | ArrayLike) -> Dirichlet:
        """See :func:`predict`."""
        return predict(self, inputs)

    def joint(self, inputs: Inputs | ArrayLike) -> FloatArray:
        """Return the members' mean of :math:`E[p p^T]`, shape (n_points, n_classes, n_classes)."""
        return np.concatenate([dirichlet_joint(a).mean(axis=0) for a in _alphas(self, inputs)])


def fit(
    data: DataSet | Sequence[DataSet],
    config: Config | None = None,
    *,
    seeds: Sequence[int] = (0,),
    checkpoints: Folder = None,
    progress: bool = False,
) -> list[Fitted]:
    """Train M networks per seed on the training split's answers; those of probes together.

    Parameters
    ----------
    data
        Features or images with several answers per training input; one data set for all seeds,
        or one for each.
    config
        Settings; None is five members and the probe of the paper.
    seeds
        The result of a seed does not depend on the other seeds.
    checkpoints
        A folder for checkpoints after each epoch, from which training resumes (images).
    progress
        Show a bar.

    Raises
    ------
    InputError
        If the data set has one label or answer a point.
    """
    config = config or Config()
    plan = Plan(
        method="dirichlet_multinomial",
        objective=lambda logits, counts: -log_likelihood(_concentrations(logits), counts),
        n_members=config.n_members,
        kind="answers",
        mean=_mean,
    )
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    return [Fitted(one.model) for one in fitted]


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Dirichlet:
    """Return the Dirichlet with the mean and trace of the members' second moment."""
    return Dirichlet(
        np.concatenate(
            [
                match(
                    (alpha / alpha.sum(axis=-1, keepdims=True)).mean(axis=0),
                    dirichlet_traces(alpha).mean(axis=0),
                )
                for alpha in _alphas(fitted, inputs)
            ]
        )
    )


def log_likelihood(alpha: Tensor, counts: Tensor) -> Tensor:
    """Return the Dirichlet-multinomial log-likelihood of counts (..., n_classes), in float64.

    In float32 the difference of two logarithms of Gamma is rounding error above some 1e4.
    """
    alpha, counts = alpha.double(), counts.double()
    total, n = alpha.sum(-1), counts.sum(-1)
    ratio = torch.lgamma(counts + alpha) - torch.lgamma(counts + 1) - torch.lgamma(alpha)
    return torch.lgamma(n + 1) + torch.lgamma(total) - torch.lgamma(n + total) + ratio.sum(-1)


def _concentrations(logits: Tensor) -> Tensor:
    return functional.softplus(logits.double()) + _LEAST


def _mean(model: Model, x: Tensor) -> Tensor:
    alpha = _concentrations(model.logits(x))
    return (alpha / alpha.sum(-1, keepdim=True)).mean(0)


def _alphas(fitted: Fitted, inputs: Inputs | ArrayLike) -> list[NDArray[np.float64]]:
    """Return the members' concentrations (n_members, n, n_classes), chunk by chunk."""
    model = fitted.model
    return [
        _concentrations(model.logits(x)).cpu().numpy()
        for _, x in model.scaling.batches(inputs, model.chunk)
    ]

"""Pairs: a network that predicts two answers at once (Johnson et al. 2024).

Given x and everything that the network cannot see of it, two annotators answer independently. If p
is the distribution of answers, the joint distribution of two answers, as the network sees it, is

    q(y1, y2 | x) = E[p p^T | x],

so its marginal is the mean m = E[p | x], and its covariance Sigma = q - m m^T is that of p: two
answers agree more often than independent ones to the extent that p varies among inputs that look
alike. The Brier regret of predicting m is |p - m|^2, so its expectation is tr Sigma.

The network gives logits of the K (K + 1) / 2 unordered pairs, whose softmax is u; q_kk = u_kk and
q_jk = q_kj = u_jk / 2. Training minimises the cross-entropy of u and the share of each pair among
the m answers c: c_k (c_k - 1) / (m (m - 1)) of equal ones, 2 c_j c_k / (m (m - 1)) of others. That
is an unbiased estimate of p p^T for every m from 2 on; points with fewer answers are left out.

Members are combined by the mean of their joints, and the belief is the Dirichlet with its mean and
trace (:mod:`rue.methods._training.second_moments`). Nothing makes Sigma a covariance; where its
trace is not above 0 the strength is clipped, and :func:`clipped` tells of which points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from rue._arrays import FloatArray, require_whole
from rue.beliefs import Dirichlet
from rue.data.dataset import DataSet, Inputs
from rue.methods._training.fitting import fit_models
from rue.methods._training.models import Folder, Model, Plan
from rue.methods._training.second_moments import clipped, match
from rue.methods._training.settings import Training

__all__ = ["Config", "Fitted", "clipped", "fit", "pair_cross_entropy", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """How many members, and how to train."""

    n_members: int = 5
    training: Training | None = None

    def __post_init__(self) -> None:
        require_whole("n_members", self.n_members, least=1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """M networks, each giving a joint distribution of two answers."""

    model: Model

    def predict(self, inputs: Inputs | ArrayLike) -> Dirichlet:
        """See :func:`predict`."""
        return predict(self, inputs)

    def joint(self, inputs: Inputs | ArrayLike) -> FloatArray:
        """Return the members' mean of q(y1, y2 | x), shape (n_points, n_classes, n_classes)."""
        shares = np.concatenate(list(_shares(self, inputs)))
        first, second = _unordered(shares.shape[1])
        n_classes = int(first[-1]) + 1
        joint = np.zeros((len(shares), n_classes, n_classes))
        joint[:, first, second] += shares / 2
        joint[:, second, first] += shares / 2
        return joint


def fit(
    data: DataSet | Sequence[DataSet],
    config: Config | None = None,
    *,
    seeds: Sequence[int] = (0,),
    checkpoints: Folder = None,
    progress: bool = False,
) -> list[Fitted]:
    """Train M networks per seed on pairs of the training split's answers; those of probes together.

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
        method="pairs",
        objective=pair_cross_entropy,
        n_members=config.n_members,
        n_outputs=lambda n_classes: n_classes * (n_classes + 1) // 2,
        kind="answers",
        least_answers=2,
        mean=lambda model, x: _marginal(torch.softmax(model.logits(x).double(), -1).mean(0)),
    )
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    return [Fitted(one.model) for one in fitted]


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Dirichlet:
    """Return the Dirichlet with the mean and trace of the members' mean joint."""
    alphas = []
    for shares in _shares(fitted, inputs):
        first, second = _unordered(shares.shape[1])
        mean = _marginal(torch.from_numpy(shares)).numpy()
        alphas.append(match(mean, shares[:, first == second].sum(axis=1)))
    return Dirichlet(np.concatenate(alphas))


def pair_cross_entropy(logits: Tensor, counts: Tensor) -> Tensor:
    """Cross-entropy of the pairs of answers of each point, 0 where there are fewer than two."""
    first, second = map(torch.from_numpy, _unordered(logits.shape[-1]))
    same = (first == second).to(counts)
    n = counts.sum(-1, keepdim=True)
    ordered = counts[..., first] * (counts[..., second] - same) * (2 - same)
    target = ordered / (n * (n - 1)).clamp(min=1)
    return -(target * torch.log_softmax(logits, -1)).sum(-1)


def _unordered(n_pairs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return both classes of each unordered pair, the first not above the second."""
    n_classes = int(np.sqrt(2 * n_pairs))
    first, second = np.triu_indices(n_classes)
    return first, second


def _marginal(shares: Tensor) -> Tensor:
    """Return the mean (n, n_classes) of shares (n, n_pairs)."""
    first, second = map(torch.from_numpy, _unordered(shares.shape[-1]))
    mean = torch.zeros(len(shares), int(first[-1]) + 1, dtype=shares.dtype, device=shares.device)
    for classes in (first, second):
        mean.index_add_(1, classes.to(shares.device), shares / 2)
    return mean


def _shares(fitted: Fitted, inputs: Inputs | ArrayLike) -> list[FloatArray]:
    """Return the members' mean shares of pairs (n, n_pairs), chunk by chunk."""
    model = fitted.model
    return [
        torch.softmax(model.logits(x).double(), -1).mean(0).cpu().numpy()
        for _, x in model.scaling.batches(inputs, model.chunk)
    ]

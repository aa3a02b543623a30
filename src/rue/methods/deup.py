"""DEUP (Lahlou et al. 2023): a second network predicts the regret of the first.

Five networks that leave out a fold each tell, for every training point, a prediction that has not
seen it; the regret of that under log loss, with p* the distribution of the point's answers, is

    KL(p* || p_hat) = sum_k p*_k (log p*_k - log p_hat_k).

The error network e(x) = exp(logit) learns these out-of-fold regrets, by the loss e - r log e of
each regret r, whose expectation is least at the mean of r. The belief is the distribution of a
network that was trained on all points, and e(x) as its epistemic score: the regret to expect.

In-fold regret would be that of memorised answers. With one answer a point the regret would be all
of its loss, the part too that nobody could have avoided; so DEUP needs replicates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from rue.beliefs import Scored
from rue.data.dataset import DataSet, Inputs
from rue.methods._training.fitting import fit_models, fit_pools, one_for_each, whole_seeds
from rue.methods._training.jobs import N_FOLDS, fold_of_each
from rue.methods._training.models import Folder, Model, Plan, Trained
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.settings import Training
from rue.methods._training.temperature import temper, with_temperature

__all__ = ["Config", "Fitted", "error_loss", "fit", "out_of_fold_regret", "predict"]

_LOGS = (-16.0, 5.0)  # that a predicted regret's logarithm is clipped to


@dataclass(frozen=True, kw_only=True)
class Config:
    """How to train: six networks for the mean and its regret, and the error network."""

    temperature: bool = False
    training: Training | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """The network for the mean, and the one that predicts its regret."""

    model: Model
    error: Model
    temperature: float = 1.0

    def predict(self, inputs: Inputs | ArrayLike) -> Scored:
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
    """Train seven networks per seed on the training split; all seeds' probes together.

    Parameters
    ----------
    data
        Features or images with several answers per training input; one data set for all seeds,
        or one for each.
    config
        Settings; None is the paper's training.
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
    for one in {id(one): one for one in one_for_each(data, whole_seeds(seeds))}.values():
        one.part("train").counts()
    plan = Plan(
        method="deup",
        n_members=1 + N_FOLDS,
        fold_of=lambda index: index - 1 if index else None,
        objective=_cross_entropy,
        kind="answers",
        held_out=config.temperature,
        mean=lambda model, x: torch.softmax(model.only(0).logits(x)[0], -1),
    )
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    errors = fit_pools(
        Plan(method="deup_error", objective=error_loss),
        [replace(one.pool, targets=out_of_fold_regret(one)) for one in fitted],
        [[one.model.training for one in fitted]],
        [one.model.seed for one in fitted],
        checkpoints=checkpoints,
        progress=progress,
    )[0]
    states = [Fitted(one.model.only(0), error) for one, error in zip(fitted, errors, strict=True)]
    return with_temperature(states, fitted, config.temperature)


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Scored:
    """Return the mean network's distribution and the regret that is predicted for it."""
    probs, scores = [], []
    for _, x in fitted.model.scaling.batches(inputs, fitted.model.chunk):
        probs.append(torch.softmax(fitted.model.logits(x)[0], -1).cpu().numpy())
        logs = fitted.error.logits(x)[0, :, 0].double().clamp(*_LOGS)
        scores.append(logs.exp().cpu().numpy())
    return temper(Scored(np.concatenate(probs), np.concatenate(scores)), fitted.temperature)


def error_loss(logits: Tensor, regret: Tensor) -> Tensor:
    """e - r log e of each point, with e = exp(logit): least in expectation at e = E r."""
    logs = logits.clamp(*_LOGS)
    return (logs.exp() - regret * logs).sum(-1)


def _cross_entropy(logits: Tensor, counts: Tensor) -> Tensor:
    """Cross-entropy of the distribution of answers; rows without any, which fill up, have 0."""
    return cross_entropy(logits, counts / counts.sum(-1, keepdim=True).clamp(min=1))


def out_of_fold_regret(one: Trained) -> Tensor:
    """Return each point's regret under the network that has not seen it, shape (n_points, 1).

    Of points held out, which none has seen, that of the network for the mean.
    """
    pool, model = one.pool, one.model
    folds = torch.from_numpy(fold_of_each(pool.n_train)).to(pool.inputs.device)
    asked = torch.zeros(len(pool.inputs), dtype=torch.int64, device=pool.inputs.device)
    asked[: pool.n_train] = folds + 1
    # Row i of the logits is of member model.members[i].
    row_of = torch.tensor([model.members.index(i) for i in range(1 + N_FOLDS)]).to(asked.device)
    parts = []
    for first in range(0, len(pool.inputs), model.chunk):
        rows = slice(first, min(first + model.chunk, len(pool.inputs)))
        x, y = pool.points(rows)
        logs = torch.log_softmax(model.logits(x).double(), -1)
        own = logs[row_of[asked[rows]], torch.arange(len(x), device=asked.device)]
        target = y.double() / y.double().sum(-1, keepdim=True)
        parts.append((torch.special.xlogy(target, target) - target * own).sum(-1, keepdim=True))
    return torch.cat(parts).clamp(min=0).float()

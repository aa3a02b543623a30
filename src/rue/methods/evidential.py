"""Evidential network (Sensoy et al. 2018): the network's output is a Dirichlet.

alpha = softplus(logits) + 1, trained on the soft-label evidential cross-entropy, the expected
log loss under the Dirichlet (appendix C):

    sum_k p_k (psi(alpha_0) - psi(alpha_k)),  alpha_0 = sum_k alpha_k.

Where answers are real numbers, the output is a normal-inverse-gamma distribution (Amini et al.
2020), trained on the log density of the answers and a penalty on evidence for wrong predictions.
Its known weakness: the likelihood depends on nu and beta through beta (1 + nu)/nu alone, so that
the split into aleatoric and epistemic is left to the penalty and the training (Meinert et al.
2023).
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from rue.beliefs import Dirichlet, NormalInverseGamma
from rue.data.dataset import DataSet, Inputs
from rue.errors import InputError
from rue.methods._training import real_heads
from rue.methods._training.fitting import fit_models
from rue.methods._training.models import Folder, Model, Plan
from rue.methods._training.real_heads import AnswerScale, are_ratings
from rue.methods._training.settings import Training

__all__ = ["Config", "Fitted", "evidential_loss", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """The weight of the KL term (the paper has none, 0), and how to train.

    The term is ``kl`` times KL(Dirichlet(p + (1 - p) alpha) || Dirichlet(1)), the evidence that
    is not for the label; Sensoy et al. raise its weight over the first epochs, we do not.
    Where answers are real numbers there is no such term.
    """

    kl: float = 0.0
    training: Training | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.kl < math.inf:
            raise InputError(f"kl must not be negative or infinite, got {self.kl}")


@dataclass(frozen=True, eq=False)
class Fitted:
    """One network."""

    model: Model
    answers: AnswerScale | None = None

    def predict(self, inputs: Inputs | ArrayLike) -> Dirichlet | NormalInverseGamma:
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
        method="evidential",
        objective=functools.partial(evidential_loss, kl=config.kl),
        settings=(config.kl,),
        mean=_mean,
    )
    if are_ratings(data):
        plan = Plan(
            method="evidential",
            objective=real_heads.evidential_loss,
            n_outputs=lambda _: 4,
            kind="ratings",
            log_loss=lambda model, x, y: real_heads.evidential_log_loss(
                model.logits(x)[0].double(), y
            ),
        )
    fitted = fit_models(
        plan, data, config.training, seeds, checkpoints=checkpoints, progress=progress
    )
    return [Fitted(one.model, one.pool.answers) for one in fitted]


def predict(fitted: Fitted, inputs: Inputs | ArrayLike) -> Dirichlet | NormalInverseGamma:
    """Return each input's concentrations; a NormalInverseGamma where answers are numbers."""
    weight, bias = fitted.model.head()
    outputs = (torch.baddbmm(bias, z, weight.mT)[0] for _, z in fitted.model.features(inputs))
    if fitted.answers is not None:
        return fitted.answers.normal_inverse_gamma(torch.cat(list(outputs)))
    parts = [functional.softplus(part) + 1 for part in outputs]
    return Dirichlet(np.concatenate([part.cpu().numpy() for part in parts]))


def _mean(model: Model, x: Tensor) -> Tensor:
    alpha = functional.softplus(model.logits(x)[0]) + 1
    return alpha / alpha.sum(-1, keepdim=True)


def evidential_loss(logits: Tensor, targets: Tensor, *, kl: float = 0.0) -> Tensor:
    """Evidential cross-entropy of each point, plus ``kl`` times the KL term."""
    alpha = functional.softplus(logits) + 1
    loss = (targets * (torch.digamma(alpha.sum(-1, keepdim=True)) - torch.digamma(alpha))).sum(-1)
    return loss + kl * _divergence(targets + (1 - targets) * alpha) if kl else loss


def _divergence(alpha: Tensor) -> Tensor:
    """KL(Dirichlet(alpha) || Dirichlet(1))."""
    total = alpha.sum(-1, keepdim=True)
    n_classes = torch.tensor(float(alpha.shape[-1]), dtype=alpha.dtype, device=alpha.device)
    constant = torch.lgamma(total[..., 0]) - torch.lgamma(alpha).sum(-1) - torch.lgamma(n_classes)
    return constant + ((alpha - 1) * (torch.digamma(alpha) - torch.digamma(total))).sum(-1)

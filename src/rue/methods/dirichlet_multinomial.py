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

Members that each say E[p p^T] are combined in their second moment, as one Dirichlet. One with
concentrations alpha and mean m = alpha / alpha_0 has

    E[p p^T] = (alpha alpha^T + diag alpha) / (alpha_0 (alpha_0 + 1)),
    tr Cov p = E[sum_k p_k^2] - sum_k m_k^2 = (1 - sum_k m_k^2) / (alpha_0 + 1).

So of all Dirichlets exactly one has a given mean and trace; its strength is

    alpha_0 = (1 - sum_k m_k^2) / tr Cov p - 1.

Members are a mixture, and the second moment of a mixture is the mean of theirs: its covariance is
the mean of the members' covariances plus the covariance of their means, so disagreement among
members counts as epistemic uncertainty too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue._schema import Positive
from rue.beliefs import Dirichlet
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, networks

__all__ = ["Config", "clipped", "fit", "joint", "predict"]

_STRENGTHS = (1e-3, 1e6)
_LEAST = 1e-12  # of a mean probability


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """How many members, and how to train."""

    n_members: Positive = 5
    training: Training | None = None


def _recipe(config: Config) -> Recipe:
    from rue.methods._training import objectives

    # The likelihood of all answers has gradients as many times as large, which AdamW divides out.
    per_answer = config.training is not None and config.training.optimizer == "sgd"
    return Recipe(
        method="dirichlet_multinomial",
        objective=objectives.per_answer_loss
        if per_answer
        else objectives.dirichlet_multinomial_loss,
        settings=("per answer",) if per_answer else (),
        n_members=config.n_members,
        kind="answers",
        mean=lambda model, x: objectives.proportions(
            objectives.concentrations(model.logits(x))
        ).mean(0),
    )


def _belief(fitted: Fitted, inputs: AnyInputs) -> Dirichlet:
    parts = []
    for alpha in _alphas(fitted, inputs):
        mean = (alpha / alpha.sum(axis=-1, keepdims=True)).mean(axis=0)
        parts.append(match(mean, dirichlet_traces(alpha).mean(axis=0)))
    return Dirichlet(np.concatenate(parts))


def joint(fitted: Fitted, inputs: AnyInputs) -> FloatArray:
    """Return the members' mean of :math:`E[p p^T]`, shape (n_points, n_classes, n_classes)."""
    return np.concatenate([dirichlet_joint(a).mean(axis=0) for a in _alphas(fitted, inputs)])


def _alphas(fitted: Fitted, inputs: AnyInputs) -> list[FloatArray]:
    """Return the members' concentrations (n_members, n, n_classes), chunk by chunk."""
    from rue.methods._training.objectives import concentrations

    return [concentrations(logits).cpu().numpy() for logits in fitted.model.chunks(inputs)]


def match(mean: FloatArray, trace: FloatArray) -> FloatArray:
    """Return the Dirichlet with a mean and a trace of E[p p^T]."""
    squares = (mean**2).sum(axis=1)
    covariance = trace - squares
    strength = np.divide(
        1 - squares, covariance, out=np.full_like(squares, np.inf), where=covariance > 0
    )
    # Softmax may underflow to 0, and a Dirichlet has no concentration that is 0.
    return np.asarray(np.clip(strength - 1, *_STRENGTHS)[:, None] * np.maximum(mean, _LEAST))


def unordered_pairs(n_pairs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return both classes of each unordered pair, the first not above the second."""
    first, second = np.triu_indices(int(np.sqrt(2 * n_pairs)))
    return first, second


def clipped(belief: Dirichlet) -> NDArray[np.bool_]:
    """Return which points have a strength at one of the bounds of :func:`match`, shape (n,)."""
    strength = np.asarray(belief.alpha, dtype=np.float64).sum(axis=1)
    least, most = _STRENGTHS
    return np.asarray((strength <= least * (1 + 1e-9)) | (strength >= most * (1 - 1e-9)))


def dirichlet_traces(alpha: FloatArray) -> FloatArray:
    """Return E[sum_k p_k^2] of concentrations (..., n_classes)."""
    total = alpha.sum(axis=-1)
    return np.asarray((alpha * (alpha + 1)).sum(axis=-1) / (total * (total + 1)))


def dirichlet_joint(alpha: FloatArray) -> FloatArray:
    """Return E[p p^T], shape (..., n_classes, n_classes), of concentrations (..., n_classes)."""
    total = alpha.sum(axis=-1)[..., None, None]
    products = alpha[..., :, None] * alpha[..., None, :]
    diagonal = alpha[..., None] * np.eye(alpha.shape[-1])
    return np.asarray((products + diagonal) / (total * (total + 1)))


learner = Learner("dirichlet_multinomial", Config, networks(_recipe), _belief, clipped)
fit = learner.fit
predict = learner.predict

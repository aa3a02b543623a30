"""Second moments: what members that each say E[p p^T] say together, as one Dirichlet.

A Dirichlet with concentrations alpha, alpha_0 = sum_k alpha_k and mean m = alpha / alpha_0 has

    E[p p^T] = (alpha alpha^T + diag alpha) / (alpha_0 (alpha_0 + 1)),
    tr Cov p = E[sum_k p_k^2] - sum_k m_k^2 = (1 - sum_k m_k^2) / (alpha_0 + 1).

So of all Dirichlets exactly one has a given mean and trace; its strength is

    alpha_0 = (1 - sum_k m_k^2) / tr Cov p - 1.

Members are a mixture, and the second moment of a mixture is the mean of theirs: its covariance is
the mean of the members' covariances plus the covariance of their means, so disagreement among
members counts as epistemic uncertainty too.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray
from rue.beliefs import Dirichlet

_STRENGTHS = (1e-3, 1e6)
_LEAST = 1e-12  # of a mean probability


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


def variance(joint: FloatArray, values: ArrayLike) -> FloatArray:
    """Return v^T Cov(p) v, the variance of the mean rating, shape (n_points,)."""
    scale = np.asarray(values, dtype=np.float64)
    return np.asarray(scale @ joint @ scale - (joint.sum(axis=2) @ scale) ** 2)

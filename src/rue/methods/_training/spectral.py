"""Spectral normalisation by projection: no hidden layer stretches by more than a coefficient.

After each step of the optimiser, W becomes W min(1, c / s) with s its largest singular value,
followed by one step of power iteration a time (Gouk et al. 2021), and computed exactly after the
last step. What is stored is what is used, and no gradient goes through s.

A convolution is normalised as the matrix (out, in x height x width) of its kernel. That norm is
exact and does not depend on the size of the image; the operator's is at most sqrt(height x width)
times as large. Normalising the operator would need power iteration through the convolution for
each size of image, and could not be checked exactly.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["leading", "norms", "project", "project_exactly"]

_MARGIN = 1 - 1e-6  # rounding in float32 must not lift a norm above the coefficient


def leading(weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the left singular vector of the largest singular value, (n_members, out, 1) each."""
    with torch.no_grad():
        return [
            torch.linalg.eigh((w @ w.mT).cpu())[1][..., -1:].contiguous().to(w.device)
            for w in weights
        ]


def project(weights: Sequence[Tensor], vectors: list[Tensor], coefficient: float) -> None:
    """Do one step of power iteration on ``vectors`` and scale ``weights``, both in place."""
    with torch.no_grad():
        for w, u in zip(weights, vectors, strict=True):
            v = _times(w.mT, u)
            v = v / (torch.linalg.vector_norm(v, dim=1, keepdim=True) + 1e-12)
            image = _times(w, v)
            norm = torch.linalg.vector_norm(image, dim=1, keepdim=True)
            u.copy_(image / (norm + 1e-12))
            w *= (coefficient / (norm + 1e-12)).clamp(max=1.0)


def project_exactly(weights: Sequence[Tensor], coefficient: float) -> None:
    """Scale ``weights``, in place, by their exact norm."""
    with torch.no_grad():
        for w, norm in zip(weights, norms(weights), strict=True):
            w *= (coefficient * _MARGIN / norm.clamp(min=1e-12)).clamp(max=1.0)[:, None, None]


def norms(weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the exact norm of each matrix, (n_members,) each."""
    return [torch.linalg.matrix_norm(w.detach().cpu(), ord=2).to(w.device) for w in weights]


def _times(matrices: Tensor, column: Tensor) -> Tensor:
    """Return the product of each matrix and its column, with the same bits in a stack and alone."""
    return (matrices @ column.expand(-1, -1, 2))[..., :1]

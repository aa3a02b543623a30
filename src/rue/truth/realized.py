"""Realised components before they are joined with anything else."""

from typing import NamedTuple

from rue._arrays import FloatArray

__all__ = ["Realized"]


class Realized(NamedTuple):
    """Realised total, aleatoric and epistemic (regret) of each point, each of shape (n_points,)."""

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray

"""Definition 1: total, aleatoric and epistemic uncertainty, estimated and realised."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector

__all__ = ["Components"]


@dataclass(frozen=True, eq=False)
class Components:
    """Total, aleatoric and epistemic uncertainty of each point, shape (n_points,) each.

    Estimated ("hat") components come from :func:`decompose`, realised ("star") ones from
    :func:`realize`, where ``epistemic`` is the regret.
    """

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray

    def __init__(self, total: ArrayLike, aleatoric: ArrayLike, epistemic: ArrayLike) -> None:
        total = as_vector("total", total)
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "aleatoric", as_vector("aleatoric", aleatoric, len(total)))
        object.__setattr__(self, "epistemic", as_vector("epistemic", epistemic, len(total)))

    def __len__(self) -> int:
        return len(self.total)

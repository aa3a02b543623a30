"""Components: total, aleatoric and epistemic uncertainty of each point (Definition 1)."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_rows, as_vector, kept, short_repr

__all__ = ["Components"]


@dataclass(frozen=True, eq=False)
class Components:
    """The total, aleatoric and epistemic uncertainty of each point.

    :func:`decompose` returns the estimated components ("hat"), :func:`realize` the realised ones
    ("star"), whose ``epistemic`` is the regret. All are rounded to 1e-12 of the loss's scale, so
    that rounding errors do not affect rankings. The arrays are read-only.

    Attributes
    ----------
    total, aleatoric, epistemic : array of shape (n_points,)
        The components; total = aleatoric + epistemic, or aleatoric alone if ``outside_score`` is
        set.
    floored : array of shape (n_points,), or None
        Which points have a predicted probability below 1e-12, the floor of the log loss, for a
        class that occurs; None if the loss has no floor.
    standard_error : array of shape (n_points,), or None
        The standard error of ``aleatoric`` and ``epistemic`` if they are sampled (a cost matrix
        under a Dirichlet); None if they are exact.
    aleatoric_high : array of shape (n_points,), or None
        The leave-one-out Bayes risk, if ``aleatoric`` is the plug-in estimate and every point
        has at least two answers: in expectation, the true Bayes risk is between the two.
    n_annotators : array of shape (n_points,), or None
        The number of annotators of each point, infinity if p* is known; None if unknown.
    outside_score : bool
        Whether ``epistemic`` is a score from outside, as :class:`rue.Scored` has it, which does
        not have the unit of the loss. Then ``total`` is ``aleatoric``, whatever was given.
    person : array of shape (n_points,), or None
        The risk of a person, or of a panel, who is asked instead of the model
        (:mod:`rue.truth.person`); None if a point has a single answer, or it is unknown.

    Examples
    --------
    >>> from rue import Components
    >>> hat = Components(total=[3.0, 1.0], aleatoric=[2.0, 1.0], epistemic=[1.0, 0.0])
    >>> hat.epistemic
    array([1., 0.])
    >>> len(hat[:1])
    1
    """

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray
    floored: NDArray[np.bool] | None = None
    standard_error: FloatArray | None = None
    aleatoric_high: FloatArray | None = None
    n_annotators: FloatArray | None = None
    outside_score: bool = False
    person: FloatArray | None = None

    __repr__ = short_repr

    if TYPE_CHECKING:  # the fields are arrays, but any array-like makes them

        def __init__(
            self,
            total: ArrayLike,
            aleatoric: ArrayLike,
            epistemic: ArrayLike,
            floored: NDArray[np.bool] | None = None,
            standard_error: FloatArray | None = None,
            aleatoric_high: FloatArray | None = None,
            n_annotators: FloatArray | None = None,
            outside_score: bool = False,
            person: FloatArray | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        total = as_vector("total", self.total)
        object.__setattr__(self, "total", kept(total, self.total))
        for name in ("aleatoric", "epistemic"):
            column = as_vector(name, given := getattr(self, name), len(total))
            object.__setattr__(self, name, kept(column, given))
        for name in ("floored", "standard_error", "aleatoric_high", "n_annotators", "person"):
            if isinstance(given := getattr(self, name), np.ndarray):
                object.__setattr__(self, name, kept(given, given))
        if self.outside_score:  # a score without the loss's unit is never added to the Bayes risk
            object.__setattr__(self, "total", self.aleatoric)

    def __len__(self) -> int:
        return len(self.total)

    def __getitem__(self, rows: int | slice | NDArray[Any]) -> "Components":
        """Return the components of some of the points: a number, a slice, a mask or indices."""
        rows = as_rows(rows, len(self))
        columns = {f.name: getattr(self, f.name) for f in fields(self)}
        kept: dict[str, Any] = {
            name: column[rows] if isinstance(column, np.ndarray) else column
            for name, column in columns.items()
        }
        return Components(**kept)

    @property
    def n_floored(self) -> int:
        """The number of points that the floor of the log loss affected."""
        return 0 if self.floored is None else int(self.floored.sum())

"""The interface of beliefs, their components, and what truths and beliefs share: named rows."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import (
    FloatArray,
    IntArray,
    as_array,
    as_ids,
    as_rows,
    as_vector,
    chosen_columns,
    chosen_rows,
    kept,
)
from rue._text import short_repr
from rue.errors import AlignmentError, InputError, ShapeError
from rue.losses.base import Loss, check_choices
from rue.losses.outcomes import Outcomes

if TYPE_CHECKING:
    from rue.truth.base import Truth


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
        (:mod:`rue.truth.realized`); None if a point has a single answer, or it is unknown.

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
            column = as_vector(name, argument := getattr(self, name), len(total))
            object.__setattr__(self, name, kept(column, argument))
        for name in ("floored", "standard_error", "aleatoric_high", "n_annotators", "person"):
            if isinstance(argument := getattr(self, name), np.ndarray):
                object.__setattr__(self, name, kept(argument, argument))
        if self.outside_score:  # a score without the loss's unit is never added to the Bayes risk
            object.__setattr__(self, "total", self.aleatoric)

    def __len__(self) -> int:
        return len(self.total)

    def __getitem__(self, rows: int | slice | NDArray[Any]) -> "Components":
        """Return the components of some of the points: a number, a slice, a mask or indices."""
        rows = as_rows(rows, len(self))
        columns: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        parts = {name: a[rows] for name, a in columns.items() if isinstance(a, np.ndarray)}
        return Components(**(columns | parts))

    @property
    def n_floored(self) -> int:
        """The number of points that the floor of the log loss affected."""
        return 0 if self.floored is None else int(self.floored.sum())


class PerPoint(ABC):
    """Arrays whose first axis is the points, with the names of points and outcomes.

    Attributes
    ----------
    ids : array of str of shape (n_points,), or None
        The names of the points.
    outcomes : Classes or RealNumbers
        What is answered: classes with their names and values, or real numbers.
    groups : mapping of str to arrays of shape (n_points,)
        Columns to group the points by.
    source : str
        The file that it was read from, for messages.
    notes : tuple of str
        What a reader of the numbers must know, a sentence each.
    """

    ids: NDArray[np.str_] | None
    outcomes: Outcomes
    groups: Mapping[str, NDArray[Any]]
    source: str
    notes: tuple[str, ...]
    _ROWS: ClassVar[tuple[str, ...]]
    _COLUMNS: ClassVar[tuple[str, ...]] = ()

    def _set(self, ids: ArrayLike | None, outcomes: Outcomes, **attributes: Any) -> None:
        """Set the attributes of a new object."""
        self.__dict__.update(attributes)
        self.__dict__.update(groups={}, source="", notes=(), outcomes=outcomes, ids=None)
        if ids is not None:
            self.__dict__["ids"] = as_ids(ids, self.n_points)

    def _with(self, **changes: Any) -> Self:
        """Return the same with other attributes, which are not checked."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__ | changes)
        return new

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(getattr(self, self._ROWS[-1]))

    @property
    def n_classes(self) -> int:
        """The number of classes, 0 for real numbers."""
        return self.outcomes.n

    def __len__(self) -> int:
        return self.n_points

    def __getitem__(self, rows: int | slice | ArrayLike) -> Self:
        """Return some of the points: a number, a slice, a mask or indices; names are kept."""
        chosen = as_rows(rows, len(self))
        part = self._with(
            **self._chosen(chosen),
            ids=None if self.ids is None else chosen_rows(self.ids, chosen),
            groups={name: column[chosen] for name, column in self.groups.items()},
        )
        if not len(part):
            raise ShapeError("at least one point must be chosen, got none")
        return part

    def _chosen(self, rows: Any) -> dict[str, Any]:
        arrays = {name: getattr(self, name) for name in self._ROWS}
        return {k: None if a is None else chosen_rows(a, rows) for k, a in arrays.items()}

    def unnamed(self) -> Self:
        """Return the same without ids and names of classes, to be matched by position.

        Returns
        -------
        same type
            The values of classes are kept.
        """
        return self._with(ids=None, outcomes=self.outcomes.unnamed())

    def with_ids(self, ids: ArrayLike | None) -> Self:
        """Return the same with other names of the points, or without."""
        return self._with(ids=None if ids is None else as_ids(ids, self.n_points))

    def with_source(
        self,
        source: str,
        *,
        groups: Mapping[str, NDArray[Any]] | None = None,
        notes: Sequence[str] = (),
    ) -> Self:
        """Return the same with the file that it was read from, columns to group by, and notes."""
        groups = self.groups if groups is None else groups
        for name, column in groups.items():
            if len(column) != len(self):
                raise ShapeError(f"{name} must have {len(self)} points, got {len(column)}")
        return self._with(source=str(source), groups=dict(groups), notes=(*self.notes, *notes))

    def with_classes(self, classes: Sequence[Any]) -> Self:
        """Return the same with its classes in the order that you state, by name.

        Parameters
        ----------
        classes : sequence of names
            The names of the classes in the order of the scale. They name columns without names,
            and reorder columns with the same names.

        Returns
        -------
        same type
            Losses that need an order use this one.

        Raises
        ------
        InputError
            If these are not the names of the classes.
        """
        outcomes, columns = self.outcomes.reordered(classes)
        return self._in_columns(columns, outcomes)

    def _in_columns(self, columns: IntArray | None, outcomes: Outcomes) -> Self:
        """Return the same with other columns, -1 for one of zeros, and their names."""
        if columns is None or np.array_equal(columns, np.arange(self.outcomes.n)):
            return self._with(outcomes=outcomes)
        arrays = {name: getattr(self, name) for name in self._COLUMNS}
        moved = {k: None if a is None else chosen_columns(a, columns) for k, a in arrays.items()}
        return self._with(outcomes=outcomes, **moved)

    def on_scale(self, loss: Loss) -> Self:
        """Return the same with its classes in the order of the scale, if the loss needs one."""
        if not loss.needs_order:
            return self
        columns = self.outcomes.scale_columns(loss.name)
        if columns is None:
            return self
        return self._in_columns(columns, self.outcomes.part(columns))


class Belief(PerPoint):
    """A second-order prediction for each point, about classes or real numbers.

    Attributes
    ----------
    method : str
        The name of the method.
    actions : array of shape (n_points,) or (n_points, n_classes), or None
        The actions of a deployed predictor, which are judged instead of the Bayes actions.
    truth : Annotations or Ratings, or None
        The answers about the same points that the belief's own file holds.
    """

    method: str
    actions: NDArray[Any] | None
    truth: "Truth | None" = None
    _places: IntArray | None = None
    """The present column of each class that actions may be numbers of, if columns have moved."""

    def _name(
        self,
        outcomes: Outcomes,
        ids: ArrayLike | None,
        method: str,
        actions: ArrayLike | None,
        **arrays: Any,
    ) -> None:
        """Set the attributes of a new belief."""
        self._set(ids, outcomes, method=method, **arrays)
        self.__dict__["actions"] = _as_actions(actions, self.n_points)

    def with_actions(self, actions: ArrayLike | None) -> Self:
        """Return the same with the actions of a deployed predictor, on the present columns."""
        return self._with(actions=_as_actions(actions, self.n_points), _places=None)

    def placed_actions(self, loss: Loss) -> NDArray[Any] | None:
        """Return the actions, with numbers of classes as those of the present columns."""
        if self.actions is None or self._places is None or not loss.chooses_class:
            return self.actions
        return self._places[check_choices(self.actions, self.n_points, len(self._places))]

    def onto_classes(self, classes: Outcomes, owner: str) -> Self:
        """Return the same with its columns in the order of classes that another thing has."""
        own = self.outcomes
        if classes.names is None or own.names is None:
            return self._with(outcomes=classes) if own.n == classes.n else self
        strange = set(own.names) - set(classes.names)
        if own.complete:
            strange |= set(classes.names) - set(own.names)
        if strange:
            raise AlignmentError(
                f"{self.source or 'the belief'} must have the classes of {owner}, "
                f"{', '.join(classes.names[:8])}, got {', '.join(own.names[:8])}; "
                f"{min(strange)!r} is on one side only"
            )
        return self._in_columns(own._columns_of(classes.names), classes)

    @abstractmethod
    def components(self, loss: Loss, *, seed: int = 0) -> Components:
        """Return Definition 1, estimated; see :func:`rue.decompose`."""

    @property
    def n_draws(self) -> int | None:
        """The number of distributions of each point; None if the belief does not list them."""
        return None

    @property
    def description(self) -> str:
        """What the belief holds for each point, for a reader."""
        return type(self).__name__

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by which a file holds the belief, by name."""
        return {name: getattr(self, name) for name in self._ROWS}

    def mean_probs(self) -> FloatArray | None:
        """Return the mean distribution, shape (n_points, n_classes); None for real numbers."""
        return None

    def sampled_probs(self, rows: slice, n_replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw distributions of some points, shape (n_replicates, n_rows, n_classes)."""
        raise InputError(f"{type(self).__name__} holds no distributions that can be drawn")

    def pair_sums(self, counts: FloatArray, are_answers: bool) -> FloatArray:
        """Return log losses of pairs and of single answers, tr J and tr O, shape (n_points, 4)."""
        raise InputError(f"{type(self).__name__} predicts no pairs of classes")

    @abstractmethod
    def loss_bound(
        self, loss: Loss, actions: ArrayLike | None, limits: tuple[float, float] | None
    ) -> float:
        """Return the bound of the loss; raise if there is none, or if a prediction exceeds it."""

    def doubts(self) -> list[str]:
        """Return what looks like a mistake in the belief, a sentence each."""
        return []

    def with_method(self, method: str) -> Self:
        """Return the same under another name of the method."""
        return self._with(method=method)

    def _chosen(self, rows: Any) -> dict[str, Any]:
        own = {"actions": self.actions, "truth": self.truth}
        return super()._chosen(rows) | {k: None if v is None else v[rows] for k, v in own.items()}

    def _in_columns(self, columns: IntArray | None, outcomes: Outcomes) -> Self:
        belief = super()._in_columns(columns, outcomes)
        if self.actions is None or columns is None:
            return belief
        if np.array_equal(columns, np.arange(self.outcomes.n)):
            return belief
        if self.actions.ndim == 2:
            return belief._with(actions=chosen_columns(self.actions, columns))
        place = np.full(self.outcomes.n, -1)
        place[columns[columns >= 0]] = np.flatnonzero(columns >= 0)
        return belief._with(_places=place if self._places is None else place[self._places])


def require_any_belief(belief: object) -> Belief:
    """Return the belief, or raise unless it is one."""
    if not isinstance(belief, Belief):
        raise InputError(
            "belief must be Draws, Dirichlet or Scored, or about real numbers Gaussians, Samples "
            f"or NormalInverseGamma, got {type(belief).__name__}"
        )
    return belief


def _as_actions(actions: ArrayLike | None, n_points: int) -> NDArray[Any] | None:
    if actions is None:
        return None
    array = as_array("actions", actions)
    if array.ndim not in (1, 2) or len(array) != n_points:
        raise ShapeError(f"actions must have {n_points} points, got shape {array.shape}")
    return kept(array, actions)

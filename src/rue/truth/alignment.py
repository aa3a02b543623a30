"""Bring a truth and a belief onto the same points and classes, by name.

Rows are in the belief's order, classes in the truth's. Without names on both sides, rows and
columns are matched by position.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import IntArray
from rue.beliefs.base import Belief, PerPoint
from rue.errors import AlignmentError, InputError
from rue.losses import Loss, get_loss
from rue.losses.outcomes import Classes
from rue.truth.base import Truth

P = TypeVar("P", bound=PerPoint)


class Rows(Protocol):
    """Anything with rows that may have names: a truth, a belief or a run."""

    @property
    def ids(self) -> NDArray[np.str_] | None:
        """The names of the rows."""

    @property
    def source(self) -> str:
        """What messages call it."""

    def __len__(self) -> int: ...


class Alignment(NamedTuple):
    """A truth and a belief on the same points and classes, and what was done to get there."""

    truth: Truth
    belief: Belief
    notes: tuple[str, ...]


def align(truth: Truth, belief: Belief, *, common: bool = False) -> tuple[Truth, Belief]:
    """Return a truth and a belief on the same points and classes, matched by name.

    Everything in rue that takes a truth and a belief calls this function first.

    Parameters
    ----------
    truth : Annotations or Ratings
        The answers of annotators.
    belief : Belief
        What a model says about the same points.
    common : bool
        Whether to keep only the points that are on both sides, instead of raising where one
        side lacks some.

    Returns
    -------
    truth : Annotations or Ratings
        The rows in the order of the belief's; classes that nobody chose are added with count 0.
    belief : Belief
        The columns in the order of the truth's classes.

    Raises
    ------
    AlignmentError
        If one side has ids and the other has not, an id is missing on one side (without
        ``common``), or the belief lacks a class that somebody chose.
    InputError
        If one is about classes and the other about real numbers.

    Examples
    --------
    >>> import rue
    >>> truth = rue.Annotations([[9, 1], [2, 8]], ids=["a", "b"], classes=["no", "yes"])
    >>> belief = rue.Draws([[[0.7, 0.3]], [[0.2, 0.8]]], ids=["b", "a"], classes=["yes", "no"])
    >>> truth, belief = rue.align(truth, belief)
    >>> truth.counts.tolist(), belief.probs.tolist()
    ([[2.0, 8.0], [9.0, 1.0]], [[[0.3, 0.7]], [[0.8, 0.2]]])
    """
    aligned = align_with_notes(truth, belief, common=common)
    return aligned.truth, aligned.belief


def align_with_notes(
    truth: Truth, belief: Belief, *, common: bool = False, by_position: bool = False
) -> Alignment:
    """Return what :func:`align` does, with notes for a reader of the numbers."""
    require_kinds(truth, belief)
    here, there, notes = align_rows(belief, truth, common=common, by_position=by_position)
    if by_position:
        ids = belief.ids if belief.ids is not None else truth.ids
        truth, belief = truth._with(ids=ids), belief._with(ids=ids)
    belief = belief if here is None else belief[here]
    truth = truth if there is None else truth[there]
    said, meant = truth.outcomes, belief.outcomes
    if not isinstance(said, Classes) or not isinstance(meant, Classes):
        return Alignment(truth, belief, notes)
    if said is meant or (said == meant and said.orders == meant.orders):
        return Alignment(truth, belief, notes)
    truth, belief, more = _align_classes(truth, belief)
    return Alignment(truth, belief, (*notes, *more))


def align_rows(
    first: Rows, second: Rows, *, common: bool = False, by_position: bool = False
) -> tuple[IntArray | None, IntArray | None, tuple[str, ...]]:
    """Return which rows of two objects are the same points, in the order of the first."""
    here, there = first.ids, second.ids
    n_here, n_there = len(first), len(second)
    names = (source(first), source(second))
    if here is there and here is not None:
        return None, None, ()
    if by_position or (here is None and there is None):
        if n_here != n_there:
            raise AlignmentError(
                f"{names[0]} has {n_here:,} points but {names[1]} has {n_there:,}, and rows that "
                "are matched by position must be as many; add ids to both"
            )
        return None, None, _position_notes(here, there, names)
    if here is None or there is None:
        named, bare = names if there is None else names[::-1]
        raise AlignmentError(
            f"{bare} has no ids but {named} has, so rows cannot be matched by id; add a column id",
            advice={
                "--id": "says the name of such a column",
                "--by-position": "drops the ids, for rows in the same order",
            },
        )
    if n_here == n_there and np.array_equal(here, there):
        return None, None, ()
    return _matched(here, there, names, common=common)


def _matched(
    here: NDArray[np.str_], there: NDArray[np.str_], names: tuple[str, str], *, common: bool
) -> tuple[IntArray | None, IntArray | None, tuple[str, ...]]:
    for name, ids in zip(names, (here, there), strict=True):
        require_unique(name, ids)
    order = np.argsort(there)
    place = np.minimum(np.searchsorted(there, here, sorter=order), len(there) - 1)
    row = order[place]
    is_match = there[row] == here
    n_common = int(is_match.sum())
    if not n_common:
        raise AlignmentError(
            f"{names[0]} and {names[1]} have no id in common, first {str(here[0])!r} and "
            f"{str(there[0])!r}"
        )
    if not common:
        for lacking, wanting, ids, other in (
            (names[1], names[0], here, there),
            (names[0], names[1], there, here),
        ):
            missing = ids[~np.isin(ids, other)] if n_common < len(ids) else ids[:0]
            if len(missing):
                raise AlignmentError(
                    f"{lacking} lacks {len(missing):,} of the ids in {wanting}, first "
                    f"{str(missing[0])!r} (its own are like {str(other[0])!r})",
                    advice={"--common": f"keeps the {n_common:,} of {len(ids):,} that are in both"},
                )
    parts = [
        f"{len(ids) - n_common:,} of the {len(ids):,} points of {name}"
        for name, ids in zip(names, (here, there), strict=True)
        if len(ids) > n_common
    ]
    notes = (f"kept {n_common:,} points and dropped {' and '.join(parts)}",) if parts else ()
    rows = np.flatnonzero(is_match)
    return (None if n_common == len(here) else rows), row[rows], notes


def _position_notes(
    here: NDArray[np.str_] | None, there: NDArray[np.str_] | None, names: tuple[str, str]
) -> tuple[str, ...]:
    """Return a note where ids are ignored; raise where they contradict the positions."""
    if here is None or there is None or np.array_equal(here, there):
        return ()
    shared = np.isin(here, there) & (here != there)
    if shared.any():
        row = int(np.argmax(shared))
        raise AlignmentError(
            f"{names[0]} and {names[1]} have {int(shared.sum()):,} of their ids in another order, "
            f"first {str(here[row])!r} and {str(there[row])!r} at row {row}, so rows must not be "
            "matched by position; match them by id, or leave out the ids of one side"
        )
    return (
        f"rows were matched by position although both have ids, such as {str(here[0])!r} and "
        f"{str(there[0])!r}",
    )


def require_unique(name: object, ids: NDArray[np.str_]) -> None:
    """Raise if an id appears twice; the error begins with the name of what has the ids."""
    names, counts = np.unique(ids, return_counts=True)
    if len(names) < len(ids):
        raise AlignmentError(
            f"{name}: ids must not repeat, {int((counts > 1).sum()):,} do, first "
            f"{str(names[np.argmax(counts > 1)])!r}"
        )


def source(thing: Rows) -> str:
    """Return what messages call a truth or a belief: its file, or what it is."""
    return thing.source or ("the truth" if isinstance(thing, Truth) else "the belief")


def require_kinds(truth: object, belief: object) -> None:
    """Raise unless the truth comes first and the belief second, on the same kind of outcomes."""
    if isinstance(truth, Belief) and isinstance(belief, Truth):
        raise InputError(
            f"the truth comes first and the belief second, got {type(truth).__name__} first: swap "
            "the two arguments"
        )
    if not isinstance(truth, Truth):
        raise InputError(
            "truth must be rue.Annotations(counts), or rue.Ratings for real-valued answers, "
            f"got {_described(truth)}"
        )
    if not isinstance(belief, Belief):
        raise InputError(
            "belief must be rue.Draws(probs) of shape (n_points, n_draws, n_classes), "
            f"rue.Dirichlet(alpha) or another belief, got {_described(belief)}"
        )
    if isinstance(truth.outcomes, Classes) and not isinstance(belief.outcomes, Classes):
        raise InputError(
            "Annotations need a belief about classes (Draws, Dirichlet or Scored), "
            f"got {type(belief).__name__}; for a belief about real numbers use Ratings"
        )
    if isinstance(belief.outcomes, Classes) and not isinstance(truth.outcomes, Classes):
        raise InputError(
            "Ratings need a belief about real numbers (Gaussians, Samples or NormalInverseGamma), "
            f"got {type(belief).__name__}; for a belief about classes use Annotations"
        )


def _described(value: object) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ + (f" of shape {shape}" if isinstance(shape, tuple) else "")


def _align_classes(truth: Truth, belief: Belief) -> tuple[Truth, Belief, tuple[str, ...]]:
    """Return both with the same classes, in the truth's order, and notes."""
    said, meant = truth.outcomes, belief.outcomes
    assert isinstance(said, Classes)
    assert isinstance(meant, Classes)
    notes: tuple[str, ...] = ()
    if said.names is None and meant.names is None:
        columns = _padded(meant, said.n)
        if meant.n != said.n and columns is None:
            raise AlignmentError(_different_numbers(truth, belief))
        outcomes = said.joined(meant)
        return truth._in_columns(None, outcomes), belief._in_columns(columns, outcomes), ()
    numbered = tuple(str(k) for k in range(max(said.n, meant.n)))
    if not meant.complete and meant.numbers is not None and said.numbers is None:
        said = said if said.names is not None else said._with(names=numbered[: said.n])
        place = dict(zip(numbered, said.names or (), strict=False))
        if meant.names is not None and set(meant.names) <= set(place):  # sampled places of classes
            meant = meant._with(names=tuple(place[name] for name in meant.names))
    if said.names is None or meant.names is None:
        named, bare, other = (meant, said, truth) if said.names is None else (said, meant, belief)
        assert named.names is not None
        names: tuple[str, ...] | None = named.names
        if set(named.names) == set(numbered[: named.n]):
            names = numbered[: bare.n]  # columns without names are 0..n_classes-1
        elif named.n == bare.n:
            notes = (
                f"{source(other)} does not name its classes: its columns were taken as "
                f"{', '.join(named.names[:8])}{', ...' if named.n > 8 else ''} in this order "
                "(--classes says otherwise)",
            )
        elif bare is meant and not meant.complete:
            names = named.names[: bare.n]
        if names is None or len(names) != bare.n:
            raise AlignmentError(_different_numbers(truth, belief))
        bare = bare._with(names=names)
        said, meant = (bare, meant) if other is truth else (said, bare)
    assert said.names is not None
    assert meant.names is not None
    here, there = set(meant.names), set(said.names)
    lacking = [name for name in said.names if name not in here]
    if lacking and meant.complete:
        chosen = truth.chosen_classes()[said._columns_of(lacking)]
        wanted = [name for name, is_chosen in zip(lacking, chosen, strict=True) if is_chosen]
        if wanted:
            strange = [name for name in meant.names if name not in there]
            hint = f"; it has {strange[0]!r}, which nobody chose" if strange else ""
            raise AlignmentError(
                f"{source(belief)} lacks the class {wanted[0]!r}, which somebody chose in "
                f"{source(truth)}{hint}",
                advice={"--classes": "states the classes, if a column is none"},
            )
    names = (
        *(name for name in said.names if name in here or not meant.complete),
        *(name for name in meant.names if name not in there),
    )
    said_columns, meant_columns = said._columns_of(names), meant._columns_of(names)
    outcomes = _joined(said, meant, names, said_columns, meant_columns)
    truth = truth._in_columns(said_columns, outcomes)
    return truth, belief._in_columns(meant_columns, outcomes), notes


def on_one_scale(
    truth: Truth,
    belief: Belief,
    loss: str | Loss,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
) -> tuple[Alignment, Loss, ArrayLike | None]:
    """Return truth and belief on the same points and scale, and the loss and actions on it.

    Actions that are numbers of classes count the belief's own columns.
    """
    loss = get_loss(loss, values=values)
    if actions is not None:
        require_kinds(truth, belief)
        belief = belief.with_actions(actions)
    truth, belief, notes = align_with_notes(truth, belief)
    belief = belief.on_scale(loss)
    actions = belief.placed_actions(loss)
    truth, loss = truth_on_scale(truth, loss, values)
    return Alignment(truth, belief._with(outcomes=truth.outcomes), notes), loss, actions


def truth_on_scale(truth: Truth, loss: Loss, values: ArrayLike | None) -> tuple[Truth, Loss]:
    """Return a truth on the scale of a loss, and the loss on that of its classes."""
    truth = truth.on_scale(loss)
    if values is not None:
        truth = truth._with(outcomes=truth.outcomes.with_values(values))
    return truth, loss.on_classes(truth.outcomes)


def with_one_order(beliefs: Sequence[Belief]) -> list[Belief]:
    """Return beliefs and their own answers with the same classes in the first one's order."""
    things = [*beliefs, *(belief.truth for belief in beliefs if belief.truth is not None)]
    outcomes = [thing.outcomes for thing in things if isinstance(thing.outcomes, Classes)]
    first = next((own for own in outcomes if own.names), None)
    if first is None or first.names is None:
        return list(beliefs)
    names = first.names
    same = [own for own in outcomes if set(own.names or ()) == set(names)]

    def placed(thing: P) -> P:
        own = thing.outcomes
        if own not in same or not own.names:
            return thing
        columns = own._columns_of(names)
        part = own.part(columns)
        assert isinstance(part, Classes)
        return thing._in_columns(columns, part.joined_orders(*same))

    return [placed(belief)._with(truth=belief.truth and placed(belief.truth)) for belief in beliefs]


def _joined(
    said: Classes, meant: Classes, names: tuple[str, ...], first: IntArray, second: IntArray
) -> Classes:
    """Return the classes of both sides, with the orders and the values that either states."""
    values: list[float | None] = [None] * len(names)
    for classes, columns in ((said, first), (meant, second)):
        for k, column in enumerate(columns.tolist()):
            if classes.given_values is None or column < 0:
                continue
            value = classes.given_values[column]
            if values[k] not in (None, value):
                raise AlignmentError(
                    f"the class {names[k]!r} must have one value, got {values[k]:g} in the truth "
                    f"and {value:g} in the belief"
                )
            values[k] = value
    stated = [value for value in values if value is not None]
    if stated and len(stated) < len(names):
        missing = names[values.index(None)]
        raise AlignmentError(f"values must be given for all classes, {missing!r} has none")
    return Classes(names, stated or None, order="none").joined_orders(said, meant)


def _padded(meant: Classes, n_classes: int) -> IntArray | None:
    """Return the columns of sampled labels, widened by classes that were never sampled."""
    if meant.complete or meant.n > n_classes:
        return None
    return np.concatenate([np.arange(meant.n), np.full(n_classes - meant.n, -1)])


def _different_numbers(truth: Truth, belief: Belief) -> str:
    return (
        f"{source(belief)} has {belief.outcomes.n} classes but {source(truth)} has "
        f"{truth.outcomes.n}"
    )

"""Outcomes: the classes, with their names and numbers, or the real numbers, that answers are."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_array, as_values, require_finite
from rue.errors import AlignmentError, InputError, ShapeError

# How much an order says: nothing; the order of the columns; an ordered scale; the user's word.
_BOOLEANS = {"false": "False", "true": "True"}
_STRENGTH = {"none": 0, "given": 1, "scale": 2, "user": 3}


class Outcomes(ABC):
    """What is answered about each point: classes, or real numbers, which have no columns."""

    n: int
    """The number of classes, 0 for real numbers."""
    names: tuple[str, ...] | None
    given_values: tuple[float, ...] | None = None
    """The numbers that were given for the classes."""
    complete: bool = True
    """Whether all classes are here."""
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The orders of the classes that were stated, and how strongly."""
    range: tuple[float, float] | None = None
    """The least and the largest real number possible, where that is known."""

    @property
    def values(self) -> FloatArray | None:
        """The numbers that the classes stand for."""
        return None

    def unnamed(self) -> "Outcomes":
        """Return the same without names."""
        return self

    def _columns_of(self, names: Sequence[str]) -> IntArray:
        """Return the column of each of these classes, -1 for one that is not here."""
        place = {name: k for k, name in enumerate(self.names or ())}
        return np.array([place.get(name, -1) for name in names])

    def part(self, columns: IntArray) -> "Outcomes":
        """Return the classes of some of the columns, in their order."""
        return self

    def joined_orders(self, *others: "Outcomes") -> "Outcomes":
        """Return these classes with all the orders that others state."""
        return self

    def with_values(self, values: ArrayLike) -> "Outcomes":
        """Return the same classes on another scale."""
        return self

    def scale_columns(self, loss: str) -> IntArray | None:
        """Return the columns in the order of the scale, or None where that is theirs."""
        return None

    def sorted_columns(self) -> IntArray:
        """Return the columns in an order that depends on the names alone."""
        return np.arange(0)

    @abstractmethod
    def reordered(self, names: Sequence[Any]) -> "tuple[Outcomes, IntArray]":
        """Return the classes in the order that the user states, and their columns here."""


@dataclass(frozen=True)
class RealNumbers(Outcomes):
    """Outcomes that are real numbers.

    Parameters
    ----------
    range : tuple of two floats, optional
        The least and the largest number possible, where that is known.

    Examples
    --------
    >>> from rue import RealNumbers
    >>> RealNumbers((0.0, 5.0)) == RealNumbers()
    True
    """

    range: tuple[float, float] | None = field(default=None, compare=False)
    n: int = field(default=0, init=False, repr=False)
    names: None = field(default=None, init=False, repr=False)

    def reordered(self, names: Sequence[Any]) -> "tuple[RealNumbers, IntArray]":
        """Raise: real numbers have no classes."""
        raise InputError(f"real-valued outcomes have no classes, got classes {_shown(names)}")


@dataclass(frozen=True, init=False)
class Classes(Outcomes):
    """Outcomes that are classes: how many, their names and the numbers that they stand for.

    Two are equal if the names and the numbers are. Names that are all numbers are their own
    scale, and 1, 1.0 and "1" are the same name.

    Parameters
    ----------
    names : sequence of names, or int
        The names of the classes in the order of the columns; or only their number.
    values : array_like of shape (n_classes,), optional
        The numbers that the classes stand for, in the order of the columns. They state the order
        of the classes.
    order : {"given", "none", "scale", "user"}
        What the order of the names says under losses that need one: ``"given"`` is the order in
        which columns stand, ``"scale"`` that of an ordered categorical or of a data set,
        ``"user"`` what the user said, and ``"none"`` nothing. The strongest is used, and
        alphabetical order that is only given counts as nothing.
    complete : bool
        Whether all classes are here; False for labels that were sampled from a model, where a
        class may never have occurred.

    Attributes
    ----------
    n : int
        The number of classes.
    names : tuple of str, or None
        The names of the classes.
    values : array of shape (n_classes,), or None
        The numbers: those given, or the names where they are numbers.

    Raises
    ------
    InputError
        If names repeat, or the values are not finite or, without names, do not increase.

    Examples
    --------
    >>> from rue import Classes
    >>> Classes(["1", "2", "10"]).values
    array([ 1.,  2., 10.])
    >>> Classes(["low", "high"]) == Classes(("low", "high"))
    True
    """

    n: int
    names: tuple[str, ...] | None
    given_values: tuple[float, ...] | None
    complete: bool = field(compare=False)
    orders: tuple[tuple[str, tuple[str, ...]], ...] = field(compare=False, repr=False)

    def __init__(
        self,
        names: Sequence[Any] | int,
        values: ArrayLike | None = None,
        *,
        order: Literal["none", "given", "scale", "user"] = "given",
        complete: bool = True,
    ) -> None:
        labels = None if isinstance(names, int | np.integer) else _as_names(names)
        n = len(labels) if labels is not None else int(names)  # type: ignore[arg-type]
        scale = None if values is None else _as_scale(values, n, named=labels is not None)
        if order not in _STRENGTH:
            raise InputError(f"order must be one of {', '.join(_STRENGTH)}, got {order!r}")
        if scale is not None and order in ("none", "given"):
            order = "scale"
        orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
        if labels is not None and order != "none":
            alphabets = (sorted(labels), sorted(labels, key=str.casefold))
            is_sorted = order == "given" and list(labels) in alphabets
            orders = () if is_sorted else ((order, labels),)
        self.__dict__.update(
            n=n, names=labels, given_values=scale, complete=complete, orders=orders
        )

    @property
    def values(self) -> FloatArray | None:
        """The numbers of the classes; None where there are none."""
        values = self.numbers if self.given_values is None else np.array(self.given_values)
        if values is not None:
            values.flags.writeable = False
        return values

    @property
    def numbers(self) -> FloatArray | None:
        """The names as numbers, shape (n_classes,); None unless all are."""
        numbers = [as_number(name) for name in self.names or ()]
        values = [number for number in numbers if number is not None]
        return np.array(values) if self.names and len(values) == self.n else None

    def describe(self, values: FloatArray | None = None) -> str:
        """Return the names with their numbers, at most eight, for a note."""
        values = self.values if values is None else values
        scale = np.arange(float(self.n)) if values is None else values
        names = self.names or tuple(f"{v:g}" for v in scale)
        pairs = [
            name if as_number(name) == value else f"{name} = {value:g}"
            for name, value in zip(names, scale.tolist(), strict=True)
        ]
        if len(pairs) > 8:
            pairs = [*pairs[:7], "...", pairs[-1]]
        return ", ".join(pairs)

    def part(self, columns: IntArray) -> "Classes":
        """Return the classes of some of the columns, in their order."""
        names, values = self.names, self.given_values
        return self._with(
            names=None if names is None else tuple(names[k] for k in columns),
            given_values=None if values is None else tuple(values[k] for k in columns),
            n=len(columns),
        )

    def unnamed(self) -> "Classes":
        """Return as many classes without names, with the same values."""
        return self._with(names=None, given_values=self.given_values, orders=())

    def with_values(self, values: ArrayLike) -> "Classes":
        """Return the same classes on another scale."""
        return self._with(given_values=tuple(as_values(values, self.n).tolist()))

    def scale_columns(self, loss: str) -> IntArray | None:
        """Return the columns in the order of the scale, or None where that is theirs.

        Numbers are sorted, by their values if they have other ones and the user states no order.
        Words have the strongest order that was stated; if there is none, or two that contradict
        each other, this raises.
        """
        if self.names is None:
            return None
        numbers, given = self.numbers, self.given_values
        by_user = given is not None and any(order == "user" for order, _ in self.orders)
        if numbers is not None and not by_user:
            columns = np.argsort(numbers if given is None else given, kind="stable")
        else:
            columns = self._columns_of(self._scale_order(loss))
        return None if (columns == np.arange(self.n)).all() else columns

    def _scale_order(self, loss: str) -> tuple[str, ...]:
        """Return the names in the one order that was stated most strongly."""
        assert self.names is not None
        strongest = max((_STRENGTH[order] for order, _ in self.orders), default=0)
        own = set(self.names)
        stated = [
            tuple(name for name in names if name in own)
            for order, names in self.orders
            if _STRENGTH[order] == strongest
        ]
        full: tuple[str, ...] = max(stated, key=len, default=())
        for names in stated:
            place = {name: k for k, name in enumerate(full)}
            if [n for n in full if n in set(names)] != [n for n in names if n in place]:
                raise AlignmentError(
                    f"{loss} loss needs one order of the classes, got {_shown(full)} and "
                    f"{_shown(names)}",
                    advice={"--classes": "states it"},
                )
        if set(full) != own:
            raise AlignmentError(
                f"{loss} loss needs the order of the classes, and {_shown(sorted(self.names))} "
                "have none but the alphabet's",
                advice={"--classes": "states it"},
            )
        return full

    def sorted_columns(self) -> IntArray:
        """Return the columns in an order that depends on the names alone: by number or name."""
        keys = self.names or () if self.numbers is None else self.numbers
        return np.argsort(keys, kind="stable") if len(keys) else np.arange(self.n)

    def joined(self, other: "Classes") -> "Classes":
        """Return classes without names, with the values of either side."""
        values = self.given_values or other.given_values
        if other.given_values not in (None, values):
            raise AlignmentError(
                f"values must be the same for truth and belief, got {_numbers(values or ())} and "
                f"{_numbers(other.given_values or ())}"
            )
        return self._with(given_values=values)

    def joined_orders(self, *others: Outcomes) -> "Classes":
        """Return these classes with all the orders that others state."""
        orders = [order for other in others for order in other.orders]
        return self._with(orders=tuple(dict.fromkeys(orders)))

    def reordered(self, names: Sequence[Any]) -> tuple["Classes", IntArray]:
        """Return the classes in the order that the user states, and their columns here."""
        wanted = _as_names(names)
        if self.names is None:
            if len(wanted) != self.n:
                raise ShapeError(
                    f"classes must name all {self.n} classes, got {len(wanted)}: {_shown(wanted)}"
                )
            return self._with(names=wanted, orders=(("user", wanted),)), np.arange(self.n)
        if set(wanted) != set(self.names) or len(wanted) != self.n:
            raise InputError(
                f"classes must be those of the columns in another order, {_shown(self.names)}, got "
                f"{_shown(wanted)}"
            )
        columns = self._columns_of(wanted)
        return self.part(columns)._with(orders=(("user", wanted),)), columns

    def _with(self, **changes: Any) -> "Classes":
        new = object.__new__(Classes)
        new.__dict__.update(self.__dict__ | changes)
        return new


def as_classes(classes: "Sequence[Any] | Classes | None", n: int, argument: str) -> Classes:
    """Return what a caller says about the n classes of an array."""
    if classes is None:
        return Classes(n)
    stated = classes if isinstance(classes, Classes) else Classes(classes)
    if stated.n != n:
        raise ShapeError(f"classes must name each of the {n} classes of {argument}, got {stated.n}")
    return stated


def as_number(name: str) -> float | None:
    """Return the finite number that a name writes, or None."""
    if not name or name[0] not in "+-.0123456789" or "_" in name:
        return None
    try:
        number = float(name)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def written_name(name: str) -> str:
    """Return a name; one that is a number in the one way in which it is written, 1 for 1.0."""
    number = as_number(name)
    return boolean_name(name) if number is None else _written(name, number)


def boolean_name(name: str) -> str:
    """Return a name; true and false, as other programs write them, in the way of Python."""
    return _BOOLEANS.get(name.lower(), name)


def _as_names(names: Sequence[Any]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InputError(f"classes must be a list of names, got the text {names!r}")
    items = names.tolist() if hasattr(names, "tolist") else list(names)
    labels = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in items)
    labels = tuple(map(boolean_name, labels))
    numbers = [as_number(name) for name in labels]
    if None not in numbers:  # numbers are written in one way: 1 for 1.0
        labels = tuple(map(_written, labels, numbers))  # type: ignore[arg-type]
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError(f"classes must be two or more different names, got {_shown(labels)}")
    return labels


def _written(name: str, number: float) -> str:
    if name.removeprefix("-").isdecimal():
        return str(int(name))  # exact beyond 2^53 as well
    is_whole = number.is_integer() and abs(number) < 2**53
    return str(int(number)) if is_whole else repr(number)


def _as_scale(values: ArrayLike, n: int, *, named: bool) -> tuple[float, ...]:
    if not named:
        return tuple(as_values(values, n).tolist())
    array = as_array("values", values).astype(np.float64)
    if array.shape != (n,):
        raise ShapeError(f"values must have one number per class ({n}), got shape {array.shape}")
    require_finite("values", array)
    return tuple(array.tolist())


def _shown(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names[:8])) + (", ..." if len(names) > 8 else "")


def _numbers(values: Sequence[float]) -> str:
    return _shown([f"{value:g}" for value in values])

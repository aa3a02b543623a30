"""One schema for the files that rue writes and reads: dataclasses to and from JSON and TOML.

The fields of a dataclass state what a file may hold; :func:`build` checks a file's content against
them, and :func:`plain` is its inverse. An error is one line: the field (``made_for.n_draws``), the
rule and the value received. These annotations are understood:

- ``bool``, ``int``, ``float`` (finite), ``str``, ``None``, ``Literal``, unions of them, ``object``
  (anything), tuples, ``Mapping[str, ...]``, arrays of floats, and dataclasses;
- ``Annotated[X, Constraint(...)]``, an X that keeps a further rule; :data:`Undefined` is a float
  that may be NaN and is null in a file.

A field whose default is None is left out of a file where it is None. Rules about several fields
are raised by the dataclass itself, in ``__post_init__``.
"""

import dataclasses
import difflib
import json
import math
import tomllib
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np

from rue._text import one_line
from rue.errors import FileError, InputError

T = TypeVar("T")
_LONGEST = 80


@dataclass(frozen=True)
class Constraint:
    """A rule about a value of an annotated type: its words, after "must be", and its check."""

    words: str
    holds: Callable[[Any], bool] = lambda _: True


def at_least(least: int) -> Constraint:
    """Return the rule of whole numbers from a least one on."""
    return Constraint(f"a whole number of at least {least}", lambda value: bool(value >= least))


Count = Annotated[int, at_least(0)]
Positive = Annotated[int, at_least(1)]
NotBlank = Annotated[str, Constraint("text, not blank", lambda value: bool(value.strip()))]
NotNegative = Annotated[float, Constraint("at least 0 and finite", lambda value: bool(value >= 0))]
AboveZero = Annotated[float, Constraint("above 0 and finite", lambda value: bool(value > 0))]
Different = Constraint(
    "a non-empty list without repetitions", lambda v: len(v) > 0 and len(set(v)) == len(v)
)
_NULL_IS_NAN = Constraint("a finite number or null")
Undefined = Annotated[float, _NULL_IS_NAN]
"""A number that is NaN where it is undefined, which a file states as null."""


def build(
    kind: type[T],
    content: object,
    *,
    where: str = "",
    unknown: Literal["refuse", "ignore"] = "refuse",
    table: str = "an object",
    given: Mapping[str, object] | None = None,
) -> T:
    """Return the dataclass that the content of a file describes."""
    built: T = _Reader(unknown, table).read(kind, content, where, None, given or {})
    return built


def changed(settings: T, given: Mapping[str, object], where: str, but: Collection[str] = ()) -> T:
    """Return a dataclass with some fields changed, each checked against its annotation."""
    kinds = _fields(type(settings))
    settable = {name: kind for name, (kind, _) in kinds.items() if name not in but}
    require_known(where, given, settable)
    for name, value in given.items():
        _Reader("refuse", "a table").read(settable[name], value, _inside(where, name))
    return dataclasses.replace(settings, **given)  # type: ignore[type-var]


def require_fields(settings: object, but: Collection[str] = ()) -> None:
    """Raise InputError unless the fields of a dataclass keep their annotations' rules."""
    for name, (kind, _) in _fields(type(settings)).items():
        if name not in but:
            _Reader("refuse", "a table").read(kind, getattr(settings, name), name)


def plain(value: object) -> Any:
    """Return a dataclass, and all in it, as JSON represents it: NaN and infinity are null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(field, getattr(value, field.name)) for field in dataclasses.fields(value)]
        return {f.name: plain(v) for f, v in pairs if v is not None or f.default is not None}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_content(path: str | Path, what: str, make: Callable[[Mapping[str, object]], T]) -> T:
    """Return what ``make`` builds of a JSON file, or of a TOML file by its suffix."""
    path = Path(path)
    parse = tomllib.loads if path.suffix == ".toml" else json.loads
    try:
        content = parse(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise InputError(f"it must hold an object, got {type(content).__name__}")
        return make(content)
    except FileNotFoundError:
        raise FileError(f"{path}: cannot be read: no such file") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except RecursionError:
        raise FileError(f"{path}: is not {what}: it is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        raise FileError(f"{path}: is not {what}: {one_line(error)}") from None


def require_known(what: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise for the first of ``given`` that is unknown; the error suggests the nearest name."""
    for name in given:
        if name not in known:
            raise InputError(
                f"{what} must be one of {', '.join(known)}, got {name!r}{nearest(name, known)}"
            )


def nearest(name: object, known: Collection[str]) -> str:
    """Return a question that names the nearest known name, or nothing if none is near."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.4)
    return f": did you mean {near[0]!r}?" if near else ""


@dataclass(frozen=True)
class _Reader:
    unknown: Literal["refuse", "ignore"]
    table: str

    def read(
        self,
        kind: Any,
        value: Any,
        where: str,
        words: str | None = None,
        given: Mapping[str, object] = types.MappingProxyType({}),
    ) -> Any:
        """Return a value as an annotation has it; ``words`` replace the annotation's own."""
        if hasattr(kind, "__metadata__"):
            return self._read_ruled(kind, value, where)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        words = words or self.words(kind)
        if origin in (typing.Union, types.UnionType):
            member = next((each for each in arguments if _may_be(each, value)), None)
            if member is None:
                raise _refused(where, words, value)
            return self.read(member, value, where)
        if not _may_be(kind, value):
            near = nearest(value, [str(v) for v in arguments]) if origin is Literal else ""
            raise _refused(where, words, value, near)
        if dataclasses.is_dataclass(kind):
            return self._read_fields(kind, value, where, given)
        if kind is float:
            return float(value)
        if origin is tuple:
            inner = arguments[:1] * len(value) if arguments[-1] is ... else arguments
            if len(inner) != len(value):
                raise _refused(where, f"{len(inner)} values", value)
            pairs = zip(inner, value, strict=True)
            return tuple(self.read(each, v, f"{where}[{i}]") for i, (each, v) in enumerate(pairs))
        if _is_array(kind):
            return np.array([self.read(float, v, f"{where}[{i}]") for i, v in enumerate(value)])
        if _is_mapping(origin):
            return {k: self.read(arguments[1], v, _inside(where, k)) for k, v in value.items()}
        return value

    def _read_ruled(self, kind: Any, value: Any, where: str) -> Any:
        rules = [rule for rule in kind.__metadata__ if isinstance(rule, Constraint)]
        if value is None and _NULL_IS_NAN in rules:
            return math.nan
        built = self.read(kind.__origin__, value, where, rules[0].words if rules else None)
        for rule in rules:
            if not rule.holds(built):
                raise _refused(where, rule.words, value)
        return built

    def _read_fields(
        self, kind: Any, content: Mapping[str, object], where: str, given: Mapping[str, object]
    ) -> Any:
        readable = {name: each for name, each in _fields(kind).items() if name not in given}
        if self.unknown == "refuse":
            for name in content:
                if name not in readable:
                    raise InputError(
                        f"{_inside(where, name)} is no known field: must be one of "
                        f"{', '.join(readable)}{nearest(name, readable)}"[:500]
                    )
        values = {}
        for name, (annotation, required) in readable.items():
            if name in content:
                values[name] = self.read(annotation, content[name], _inside(where, name))
            elif required:
                raise InputError(f"the field {_inside(where, name)} is missing")
        try:
            return kind(**values, **given)
        except InputError as error:  # a rule of the dataclass, which names its field
            raise type(error)(_inside(where, str(error))) from None

    def words(self, kind: Any) -> str:
        """Return what a value must be, in words."""
        if hasattr(kind, "__metadata__"):
            rules = [rule.words for rule in kind.__metadata__ if isinstance(rule, Constraint)]
            return rules[0] if rules else self.words(kind.__origin__)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is Literal:
            return f"{'one of ' if len(arguments) > 1 else ''}{', '.join(map(str, arguments))}"
        if origin in (typing.Union, types.UnionType):
            nothing = type(None) if self.table == "a table" else None  # TOML has no null
            return " or ".join(self.words(each) for each in arguments if each is not nothing)
        if origin is tuple:
            inner = {str: " of text", float: " of numbers", int: " of whole numbers"}
            return f"a list{inner.get(arguments[0], '')}"
        if _is_array(kind):
            return "a list of numbers"
        if _is_mapping(origin) or dataclasses.is_dataclass(kind):
            return self.table
        return {
            bool: "true or false",
            int: "a whole number",
            float: "a finite number",
            str: "text",
            type(None): "null",
        }.get(kind, "a value")


def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return the annotation of each field of a dataclass, and whether a file must have it."""
    hints = _type_hints(kind)
    missing = dataclasses.MISSING
    return {
        field.name: (hints[field.name], field.default is field.default_factory is missing)
        for field in dataclasses.fields(kind)
        if field.init
    }


@lru_cache(maxsize=256)
def _type_hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _may_be(kind: Any, value: object) -> bool:
    """Return whether a value has the type of an annotation, whatever is inside of it."""
    if hasattr(kind, "__metadata__"):
        return _may_be(kind.__origin__, value)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in arguments)
    if origin in (typing.Union, types.UnionType):
        return any(_may_be(each, value) for each in arguments)
    if origin is tuple or _is_array(kind):
        return isinstance(value, list | tuple)
    if _is_mapping(origin) or dataclasses.is_dataclass(kind):
        return isinstance(value, Mapping)
    if kind is float:
        return _is_finite(value)
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            return False
        return abs(int(value)) < 2**63
    if kind in (bool, str, type(None)):
        return type(value) is kind
    return kind in (object, Any)


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the floats
        return False


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _is_array(kind: Any) -> bool:
    return typing.get_origin(kind) is np.ndarray


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _refused(where: str, words: str, value: object, further: str = "") -> InputError:
    text = one_line(repr(value))
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    return InputError(f"{where or 'it'} must be {words}, got {text}{further}")

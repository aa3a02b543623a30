"""Groups of options that commands share, and what they say.

A group of options is a dataclass. A command that has a parameter of such a type has its options
(:func:`rue.cli.with_options`).
"""

import glob
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from rue.beliefs import Belief
from rue.cli import is_number
from rue.cli.options import (
    COLUMN,
    FILE,
    LOSS_NAMES,
    LOSSES,
    MAX_MEMORY,
    NAME,
    TRUTH,
    VALUES,
    option,
)
from rue.components import Run
from rue.errors import InputError
from rue.io.answers import read_truth
from rue.io.cost import read_cost
from rue.io.memory import parse_size
from rue.io.names import Matching
from rue.io.predictions import read_file, read_method
from rue.io.runs import in_one_order
from rue.losses import Log, Loss, get_loss
from rue.selectors.selector import Problem
from rue.truth.base import Truth


@dataclass(frozen=True)
class Matched:
    """How the rows and columns of predictions and answers are matched."""

    panel: ClassVar[str] = "Input"
    truth: str | None = TRUTH
    id_name: str | None = option(
        None,
        "The column that names the points, or a path into objects, such as doc.uid. By default "
        "id, ids, uid, item or item_id.",
        "--id",
        metavar=COLUMN,
    )
    truth_id: str | None = option(
        None, "The same for the truth. By default that of --id.", metavar=COLUMN
    )
    label: str | None = option(
        None, "The column, or path, of the truth's answers: a class, or a list.", metavar=COLUMN
    )
    rating: str | None = option(
        None, "The column, or path, of the truth's real-valued answers.", metavar=COLUMN
    )
    annotator: str | None = option(
        None,
        "The column, or path, that names annotators; or the columns, or a pattern, of one "
        "annotator each.",
        metavar=COLUMN,
    )
    classes: str | None = option(
        None,
        "The classes, by commas, in the order of their scale: they pick the columns of classes "
        "among others, and name the columns of files without names.",
        metavar="NAMES",
    )
    positive: str | None = option(
        None,
        "For two classes, the one whose probability the predictions hold: one number per point.",
        metavar="CLASS",
    )
    choices: str | None = option(
        None,
        "For logs of generated text, the answers that a text may name, by commas: each text is "
        "read as the one that it names.",
        metavar="NAMES",
    )
    common: bool = option(False, "Keep only the points whose ids are in both files.")
    by_position: bool = option(False, "Match rows by position, whatever their ids are.")
    min_annotators: int | None = option(None, "Leave out points with fewer answers.", min=1)
    n_answers: int | None = option(
        None,
        "How many answers each point has, for a truth of percentages.",
        "--n-answers",
        "--annotators",
        metavar="N",
        min=1,
    )
    shares: bool = option(False, "The truth holds shares, so p* is exact and has no bracket.")
    normalize: bool = option(False, "Divide probabilities, such as percentages, by their sum.")
    max_memory: str | None = MAX_MEMORY

    @cached_property
    def matching(self) -> Matching:
        """The same for the functions that read files."""
        own = {field.name for field in fields(Matching)}
        same = {name: value for name, value in vars(self).items() if name in own}
        size = None if self.max_memory is None else parse_size(self.max_memory)
        lists = {"classes": _names(self.classes), "choices": _names(self.choices)}
        return Matching(**(same | lists | {"max_memory": size}))

    def matching_for(self, *columns: str | None) -> Matching:
        """Return the same for a command that groups or clusters by these columns."""
        return replace(self.matching, groups=tuple(name for name in columns if name))

    def answers(self, *columns: str | None) -> Truth | None:
        """Read the truth, with these columns: a file, or a data set's name or its TOML file."""
        if self.truth is None:
            return None
        if self.truth.endswith(".toml") or not Path(self.truth).is_file():
            from rue.data.truth import data_set_truth, is_data_set  # they load every data set

            if is_data_set(self.truth):
                return data_set_truth(self.truth)
        return read_truth(self.truth, by=[c for c in columns if c], matching=self.matching)

    def read_methods(self, files: list[str], *columns: str | None) -> dict[str, Belief | Run]:
        """Read the predictions of each method by name: the given one, its file's, or its stem."""
        matching = self.matching_for(*columns)
        sources: list[tuple[str | None, list[Path]]] = []
        reads: list[Belief | Run] = []
        for name, paths in methods_of(files):
            if name is None:
                reads += read_file(paths[0], matching=matching)
            else:
                reads.append(read_method(paths, name=name, matching=matching))
            sources += [(name, paths)] * (len(reads) - len(sources))
        stems = shortest_names([paths[0] for _, paths in sources])
        reads = in_one_order(reads)
        own = [read.method for read in reads]
        methods: dict[str, Belief | Run] = {}
        for (name, paths), read, word in zip(sources, reads, own, strict=True):
            label = name or (word if word and own.count(word) == 1 else stems[paths[0]])
            if label in methods:
                raise InputError(f"every method must have a name of its own, got {label!r} twice")
            methods[label] = read
        return methods


@dataclass(frozen=True, kw_only=True)
class _Loss:
    panel: ClassVar[str] = "Loss"
    loss: Any
    values: str | None = VALUES
    cost: Path | None = option(
        None, "Cost matrix C[action, class] for --loss cost: .npy or .csv.", metavar=FILE
    )
    floor: float | None = option(
        None, "Floor on predicted probabilities, which bounds the log loss."
    )

    @property
    def scale(self) -> list[float] | None:
        """The numbers of --values."""
        return parse_values(self.values)

    def _by_name(self, names: Sequence[str]) -> dict[str, str | Loss]:
        """Return losses; most are names again: their values are in files that are not yet read."""
        if (self.cost is not None) != ("cost" in names):
            raise InputError("--loss cost and --cost FILE need each other")
        if self.floor is not None and any(name != "log" for name in names):
            raise InputError(f"--floor needs --loss log, got --loss {names[0]}")
        if self.floor is not None:
            return {"log": Log(self.floor)}
        losses: dict[str, str | Loss] = {}
        for name in names:
            if name == "cost" and self.cost is not None:
                losses[name] = read_cost(self.cost)
            else:
                losses[get_loss(name).name] = name
        return losses


@dataclass(frozen=True, kw_only=True)
class CommandLosses(_Loss):
    """One or more losses."""

    loss: list[str] | None = LOSS_NAMES

    @property
    def chosen(self) -> dict[str, str | Loss]:
        """The losses by name."""
        return self._by_name(self.loss or ["log"])


@dataclass(frozen=True, kw_only=True)
class OneLoss(_Loss):
    """A loss."""

    loss: str = option("log", f"{LOSSES}.", metavar=NAME)

    @property
    def chosen(self) -> str | Loss:
        """The loss."""
        (loss,) = self._by_name([self.loss]).values()
        return loss


@dataclass(frozen=True)
class Budgets:
    """A problem of Theorem 1."""

    panel: ClassVar[str] = "Budgets"
    maximize: Literal["coverage"] | None = option(None, "Accept as much as the budgets allow.")
    minimize: Literal["risk", "regret", "team"] | None = option(
        None,
        "Minimise this at --coverage-min; team: with a person who gets the deferred points, "
        "without budgets (rue select).",
    )
    coverage_min: float | None = option(None, "Accept at least this share.")
    risk_max: float | None = option(None, "The risk budget.")
    regret_max: float | None = option(None, "The regret budget.")
    normalized: bool = option(False, "Divide risk and regret by the coverage.")

    @property
    def problem(self) -> Problem:
        """The problem, checked."""
        if self.minimize == "team":
            raise InputError(
                "--minimize team needs the truth of each point, so no rule is fitted for it: use "
                "rue select, or rue rule fit --compare, which prints what the team costs"
            )
        return Problem(*astuple(self))


def _names(text: str | None) -> tuple[str, ...] | None:
    """Return the names of a list by commas."""
    return None if text is None else tuple(name.strip() for name in text.split(","))


def read_limits(at: float | None, coverage_at: list[str] | None) -> dict[str, float]:
    """Return the limits of ``--at`` and ``--coverage-at`` by name."""
    limits = {} if at is None else {"coverage": at}
    for text in coverage_at or ():
        name, _, number = text.partition("=")
        limit = float(number) if is_number(number) else math.nan
        if name not in ("risk", "regret") or not 0 <= limit < math.inf or name in limits:
            raise InputError(
                "--coverage-at must be risk=NUMBER or regret=NUMBER from 0 on, each once, got "
                f"{text!r}"
            )
        limits[name] = limit
    return limits


def read_columns(columns: str, format: str, known: Sequence[str]) -> Sequence[str]:
    """Return the keys of ``--columns``."""
    if format == "json":
        raise InputError("--columns is for tables: --format json has all columns")
    if columns == "all":
        return known
    keys = [key.strip() for key in columns.split(",")]
    unknown = next((key for key in keys if key not in known), None)
    if unknown is not None:
        raise InputError(f"--columns must be all or some of {', '.join(known)}, got {unknown!r}")
    return keys


def require_level(option: str, level: float | None) -> None:
    """Raise if the level of an interval or a test is none."""
    if level is not None and not 0 < level < 1:
        raise InputError(f"{option} must be between 0 and 1, got {level}")


def require_none(rule: str, options: Mapping[str, object]) -> None:
    """Raise if one of these options is given; the rule says why."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{rule} {name}")


def require_other_file(option: str, path: Path | None, read: Sequence[str | Path | None]) -> None:
    """Raise if a command would write over a file that it reads."""
    sources = [Path(name) for name in read if name is not None and Path(name).exists()]
    if path is not None and path.exists() and any(map(path.samefile, sources)):
        raise InputError(f"{option} must be another file than those that are read, got {path}")


def parse_values(text: str | None) -> list[float] | None:
    """Return the numbers in a text, separated by commas or spaces."""
    if text is None:
        return None
    try:
        return [float(number) for number in re.split(r"[,\s]+", text.strip())]
    except ValueError:
        raise InputError(f"--values must be numbers like -1,0,1, got {text!r}") from None


def methods_of(files: list[str]) -> list[tuple[str | None, list[Path]]]:
    """Return the files of each method, with its name where the command line gives one."""
    methods: list[tuple[str | None, list[Path]]] = []
    for text in files:
        name, equals, rest = text.partition("=")
        if equals and name and not Path(text).exists():
            paths = [path for part in rest.split(",") for path in _expanded(part)]
            if len(set(paths)) < len(paths):
                raise InputError(f"{text}: names a file twice")
            methods.append((name, paths))
        else:
            methods += [(None, [path]) for path in _expanded(text)]
    names = [name for name, _ in methods if name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"every method must have a name of its own, got {twice!r} twice")
    return methods


def files_by_name(files: list[str]) -> dict[str, list[Path]]:
    """Return the files of each method by its name: the given one, or the stem of its file."""
    methods = methods_of(files)
    stems = shortest_names([paths[0] for _, paths in methods])
    return {name or stems[paths[0]]: paths for name, paths in methods}


def method_of(text: str) -> tuple[str | None, list[Path]]:
    """Return the name, where it is given, and the files of the one method of a command."""
    methods = methods_of([text])
    if len(methods) > 1:
        raise InputError(
            f"{text}: matches {len(methods):,} files and this command takes one method; "
            f"NAME={text} makes one of them"
        )
    return methods[0]


def shortest_names(files: list[Path]) -> dict[Path, str]:
    """Return the stem of each file, with as much of its path as tells files of one name apart."""
    names = {}
    for file in files:
        parts = _without_ending(file).parts
        others = [_without_ending(other).parts for other in files if other != file]
        ends = (parts[-n:] for n in range(1, len(parts)))
        own = next((end for end in ends if end not in [o[-len(end) :] for o in others]), None)
        names[file] = str(file) if own is None else "/".join(own)
    return names


def _without_ending(file: Path) -> Path:
    """Return a path without its ending, and that before .gz."""
    path = file.resolve()
    return path.with_suffix("").with_suffix("") if path.suffix == ".gz" else path.with_suffix("")


def _expanded(text: str) -> list[Path]:
    """Return the files that a pattern matches, sorted; a plain path is itself."""
    if not text.strip():
        raise InputError("a file's name must not be empty")
    if Path(text).exists() or not glob.has_magic(text):
        return [Path(text)]
    paths = sorted(glob.glob(text))  # noqa: PTH207, patterns may be absolute
    if not paths:
        raise InputError(f"no file matches {text!r}")
    return [Path(path) for path in paths]

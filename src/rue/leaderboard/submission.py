"""Submissions: what somebody claims about their predictions, read from folders.

A submission is a folder with ``row.json`` and a prediction file, and optionally a truth file::

    mine/row.json          {"method": "mine", "data": "cifar10h", "regime": "own",
                            "rows": [{"loss": "log", "n_aurec": 0.41, ...}, ...]}
    mine/predictions.npz   as rue evaluate reads it
    mine/truth.npz         the answers, unless the predictions have them or "truth" names a data set

A submission of several seeds has such a folder for each of them. The folder of a benchmark
(:mod:`rue.bench.store`) is read as one submission for each of its cells.
"""

import os
import re
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

from rue._schema import Constraint, Count, build, read_content
from rue.bench.cells import Cell, CellRow, cells, has_settings
from rue.bench.store import Store, convention_of
from rue.bench.suite import Suite
from rue.errors import FileError, InputError, RueError
from rue.io.memory import allowance
from rue.losses import get_loss
from rue.metrics.columns import COLUMNS, EVALUATED

OWN_REGIME = "own"
"""The regime of a submission that names none: its settings are its own."""

_PREDICTIONS = ("predictions.npz", "predictions.jsonl", "predictions.parquet", "predictions.csv")
_NO_ROW = "has no row.json"
_LARGEST = 1_000_000  # bytes of a row.json or suite.toml
_LONGEST, _DEEPEST = 200, 8
_NOT_CLAIMS = {"loss", "method", "group", "notes", "convention", "n_points", "n_floored"}
_NOT_CLAIMS |= {"person_kind", "defer_fee"}


def _is_name(text: str) -> bool:
    return len(text.strip()) > 0 and len(text) <= _LONGEST


def _is_flat(value: object, levels: int) -> bool:
    """Return whether objects and lists are nested at most so deeply."""
    inner = value.values() if isinstance(value, Mapping) else value
    if not isinstance(inner, Collection) or isinstance(inner, str):
        return True
    return levels > 0 and all(_is_flat(part, levels - 1) for part in inner)


Name = Annotated[str, Constraint(f"a name of at most {_LONGEST} characters", _is_name)]
FileName = Annotated[
    str,
    Constraint(
        "the name of a file in the same folder", lambda v: _is_name(v) and Path(v).name == v
    ),
]
Checksum = Annotated[
    str, Constraint("64 digits, hexadecimal", lambda v: bool(re.fullmatch(r"[0-9a-f]{64}", v)))
]
Decimals = Annotated[int, Constraint("a number of decimals from 3 to 12", lambda v: 3 <= v <= 12)]
Settings = Annotated[
    Mapping[str, object],
    Constraint(f"an object with at most {_DEEPEST} levels", lambda v: _is_flat(v, _DEEPEST)),
]
Claim = Mapping[str, int | float | str | tuple[str, ...] | None]


@dataclass(frozen=True, kw_only=True)
class SubmittedRow:
    """What a row.json states; the fields are those of :class:`rue.leaderboard.Submission`."""

    method: Name
    data: Name
    rows: Annotated[
        tuple[Claim, ...], Constraint("a list of one object for each loss", lambda v: len(v) > 0)
    ]
    regime: Name = OWN_REGIME
    seed: Count = 0
    truth: FileName | None = None
    predictions: FileName | None = None
    values: tuple[float, ...] | None = None
    predictions_sha256: Checksum | None = None
    data_sha256: Checksum | None = None
    digits: Decimals | None = None
    settings: Settings = field(default_factory=dict)
    link: Annotated[
        str,
        Constraint(
            "an address that starts with https:// or http://",
            lambda v: not v or bool(re.fullmatch(r"https?://[^\s]+", v)),
        ),
    ] = ""

    def claims(self) -> dict[str, dict[str, float | None]]:
        """Return the claimed numbers by loss and column; raise InputError at an invalid one."""
        by_loss: dict[str, dict[str, float | None]] = {}
        for i, row in enumerate(self.rows):
            where, loss = f"rows[{i}]", row.get("loss")
            if not isinstance(loss, str):
                raise InputError(f"{where}.loss must be the name of a loss, got {loss!r:.60}")
            get_loss(loss)
            if loss in by_loss:
                raise InputError(f"{where}.loss must be another than before, got {loss} twice")
            if row.get("method", self.method) != self.method:
                raise InputError(f"{where}.method must be {self.method}, got {row['method']!r:.60}")
            require_definition(row)
            if "n_aurec" not in row:
                raise InputError(f"the field {where}.n_aurec is missing")
            by_loss[loss] = {}
            for key, value in row.items():
                if key in _NOT_CLAIMS:
                    continue
                if key not in COLUMNS:
                    raise InputError(f"{where}.{key:.60} is no column of rue evaluate")
                if value is not None and not isinstance(value, int | float):
                    raise InputError(f"{where}.{key} must be a number or null, got {value!r:.60}")
                by_loss[loss][key] = value
        return by_loss


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What is claimed about one prediction file.

    Attributes
    ----------
    folder, source : Path
        The folder of ``row.json``, and that which was submitted as a whole: the folder of a
        benchmark or of all seeds.
    method, data, regime : str
        The names of the method, the data set and the training regime.
    seed : int
        The seed, by which the test points of some data sets are chosen.
    claims : mapping of str to mapping
        By loss, the claimed numbers by their column; None for an undefined number.
    predictions : Path
        The prediction file.
    truth : str or Path or None
        The name of a data set, or a truth file; None if the predictions have the answers.
    values : tuple of float or None
        The numbers that the classes stand for, where the files do not say.
    predictions_sha256, data_sha256 : str or None
        Checksums of the prediction file and of the answers, where they are stated.
    digits : int or None
        To how many decimals the claims are rounded; None if they are not.
    settings, link : mapping and str
        How the method was trained, as JSON; a web page about it, or an empty text.
    """

    folder: Path
    source: Path
    method: str
    data: str
    regime: str
    seed: int
    claims: Mapping[str, Mapping[str, float | None]]
    predictions: Path
    truth: str | Path | None = None
    values: tuple[float, ...] | None = None
    predictions_sha256: str | None = None
    data_sha256: str | None = None
    digits: int | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    link: str = ""

    def __str__(self) -> str:
        return f"{self.method} on {self.data}"


@dataclass(frozen=True)
class Refused:
    """A folder that cannot be read as a submission, and the reason in one line."""

    folder: Path
    reason: str


def find_submissions(folder: str | Path) -> list[Submission | Refused]:
    """Return all submissions in a folder.

    Parameters
    ----------
    folder : path
        The folder of a benchmark, of one submission, or of several.

    Returns
    -------
    list of Submission or Refused
        In the order of their folders' names, or of the benchmark's suite.

    Raises
    ------
    FileError
        If the folder does not exist or holds no submission.

    Examples
    --------
    >>> from rue.leaderboard import find_submissions
    >>> find_submissions("no-such-folder")
    Traceback (most recent call last):
    rue.errors.FileError: no-such-folder: no such folder
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder")
    if submissions := _own_submissions(folder):
        return submissions
    for child in _folders(folder):
        submissions += _or_refused(_in_folder, child)
    if all(isinstance(each, Refused) and each.reason == _NO_ROW for each in submissions):
        raise FileError(f"{folder}: holds no submission: it has no row.json")
    return submissions


def read_submission(folder: str | Path, source: str | Path | None = None) -> Submission:
    """Read the ``row.json`` of a submission; its predictions are not read yet.

    Parameters
    ----------
    folder : path
        The folder.
    source : path, optional
        The folder that was submitted as a whole, if it is another.

    Returns
    -------
    Submission
        What is claimed.

    Raises
    ------
    FileError
        If something is missing or malformed.

    Examples
    --------
    >>> from rue.leaderboard import read_submission
    >>> read_submission("no-such-folder")
    Traceback (most recent call last):
    rue.errors.FileError: no-such-folder/row.json: no such file
    """
    folder = Path(folder)
    path = folder / "row.json"
    source = folder if source is None else Path(source)
    require_sent(path, source, _LARGEST)

    def make(row: Mapping[str, object]) -> Submission:
        if "cell" in row and "config" in row:  # one cell of a benchmark, sent by itself
            return _of_cell(folder, source, build(CellRow, row, unknown="ignore"))
        return _of_row(folder, source, build(SubmittedRow, row))

    return read_content(path, "a submission", make)


def _of_row(folder: Path, source: Path, row: SubmittedRow) -> Submission:
    stated = {each.name: getattr(row, each.name) for each in fields(row) if each.name != "rows"}
    stated["predictions"] = _predictions(folder, row.predictions)
    if row.truth is not None and _has(folder, row.truth):
        stated["truth"] = require_sent(folder / row.truth, folder)
    return Submission(folder=folder, source=source, claims=row.claims(), **stated)


def _predictions(folder: Path, name: str | None) -> Path:
    names = _PREDICTIONS if name is None else (name,)
    files = [each for each in names if _has(folder, each)]
    if not files:
        raise InputError(f"there is no {names[0]} beside it")
    if len(files) > 1:
        raise InputError(f"there must be one prediction file beside it, got {', '.join(files)}")
    return require_sent(folder / files[0], folder)


Submissions = list[Submission | Refused]


def _or_refused(read: Callable[..., Submissions], folder: Path, *more: object) -> Submissions:
    """Return what is read in a folder; one bad submission must not stop the others."""
    try:
        return read(folder, *more)
    except Exception as error:
        return [Refused(folder, refusal(error))]


def _with_row(folder: Path, source: Path) -> Submissions:
    return [read_submission(folder, source)] if _has(folder, "row.json") else []


def _stored_cell(place: Path, store: Store, suite: Suite, cell: Cell) -> Submissions:
    """Return the submission of a finished cell; one of other settings is refused."""
    if not _has(place, "row.json"):
        return []
    require_sent(place / "row.json", store.folder, _LARGEST)
    row = store.row(cell)
    if not has_settings(suite, cell, row.config):
        return [Refused(place, "has settings that differ from suite.toml")]
    return [_of_cell(place, store.folder, row)] if row.rows else []


def _of_cell(folder: Path, source: Path, row: CellRow) -> Submission:
    cell = row.cell
    methods = {str(each["method"]) for each in row.rows} | {cell.method}
    if len(methods) > 1:
        raise InputError(f"its rows name several methods: {', '.join(sorted(methods))}")
    for each in row.rows:
        require_definition(each)
    return Submission(
        folder=folder,
        source=source,
        method=cell.method,
        data=cell.dataset,
        regime=str(row.config.get("regime", OWN_REGIME)),
        seed=cell.seed,
        claims={str(each["loss"]): _numbers(each) for each in row.rows},
        predictions=folder / "predictions.npz",
        predictions_sha256=row.predictions_sha256,
        settings={
            "suite": cell.suite,
            "network": row.config.get("network", ""),
            **row.config["settings"],
            **row.versions,
        },
    )


def _numbers(row: Mapping[str, object]) -> dict[str, float | None]:
    numbers = [(key, value) for key, value in row.items() if key in EVALUATED]
    return {k: v for k, v in numbers if v is None or isinstance(v, int | float)}


def _own_submissions(folder: Path) -> Submissions:
    """Return what a folder itself is: the cells of a benchmark, a submission, or nothing."""
    if not _has(folder, "suite.toml"):
        return _or_refused(_with_row, folder, folder)
    require_sent(folder / "suite.toml", folder, _LARGEST)
    store, submissions = Store(folder), Submissions()
    for cell in cells(suite := store.suite()):
        submissions += _or_refused(_stored_cell, store.path(cell), store, suite, cell)
    if not submissions:
        raise FileError(f"{folder}: holds no finished cell with rows of the regret criterion")
    return submissions


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))


def _has(folder: Path, name: str) -> bool:
    """Return whether a folder has an entry of this name, of whatever kind."""
    return os.path.lexists(folder / name)


def _in_folder(folder: Path) -> Submissions:
    if folder.is_symlink():
        raise FileError(f"{folder}: must be a folder, got a symbolic link")
    submissions = _own_submissions(folder)
    if not submissions:
        for child in _folders(folder):
            submissions += _or_refused(_with_row, child, folder)
    return submissions or [Refused(folder, _NO_ROW)]


def require_definition(row: Mapping[str, object]) -> None:
    """Raise InputError if a row follows another convention than Definition 1."""
    if (convention := convention_of(row)) != "definition":
        raise InputError(
            f"its rows follow the convention {convention}, and a leaderboard has rows of "
            "Definition 1"
        )


def require_sent(path: Path, source: Path, most: int | None = None) -> Path:
    """Return a path; raise unless it is a regular file inside ``source``, not too large."""
    if not path.is_relative_to(source) or ".." in (parts := path.relative_to(source).parts):
        raise FileError(f"{path}: must be a file in the folder of the submission")
    for i in range(1, len(parts) + 1):
        entry = source.joinpath(*parts[:i])
        try:
            mode = entry.lstat().st_mode
        except (OSError, ValueError):  # ValueError: a NUL in the name
            raise FileError(f"{path}: no such file") from None
        if not (stat.S_ISREG(mode) if i == len(parts) else stat.S_ISDIR(mode)):
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "something else"
            raise FileError(
                f"{entry}: must be a regular file in the folder of the submission, got {kind}"
            )
    size, most = path.lstat().st_size, allowance(0) if most is None else most
    if size > most:
        raise FileError(f"{path}: must have at most {most:,} bytes, got {size:,}")
    return path


def refusal(error: Exception) -> str:
    """Return why a submission is refused; of an unforeseen error only its kind."""
    if isinstance(error, RueError):
        return error.message
    return f"cannot be read or computed: {type(error).__name__}"

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
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from rue._schema import build, read_content
from rue.bench.cells import CellRow, cells, has_settings
from rue.bench.store import Store
from rue.errors import FileError, InputError, RueError
from rue.io.memory import allowance
from rue.leaderboard.row_format import OWN_REGIME, SubmittedRow, require_definition
from rue.metrics.columns import EVALUATED

_PREDICTIONS = ("predictions.npz", "predictions.jsonl", "predictions.parquet", "predictions.csv")
_NO_ROW = "has no row.json"
_LARGEST = 1_000_000
"""The largest row.json or suite.toml, in bytes."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What is claimed about one prediction file.

    Attributes
    ----------
    folder : Path
        The folder of ``row.json``.
    source : Path
        The folder that was submitted as a whole: a benchmark, or the folder of all seeds.
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
    settings : mapping
        How the method was trained, as JSON.
    link : str
        A web page about the method, or an empty text.
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
    """A folder that cannot be read as a submission, and why.

    Attributes
    ----------
    folder : Path
        The folder.
    reason : str
        One line.
    """

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
    submissions = _own_submissions(folder)
    if submissions:
        return submissions
    for child in _folders(folder):
        try:
            submissions += _in_folder(child)
        except Exception as error:  # one bad folder must not stop the others
            submissions.append(Refused(child, refusal(error)))
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
    truth: str | Path | None = row.truth
    if row.truth is not None and _has(folder, row.truth):
        truth = require_sent(folder / row.truth, folder)
    stated = {field.name: getattr(row, field.name) for field in fields(row)}
    del stated["rows"]
    stated |= {"predictions": _predictions(folder, row.predictions), "truth": truth}
    return Submission(folder=folder, source=source, claims=row.claims(), **stated)


def _predictions(folder: Path, name: str | None) -> Path:
    names = _PREDICTIONS if name is None else (name,)
    files = [each for each in names if _has(folder, each)]
    if not files:
        raise InputError(f"there is no {names[0]} beside it")
    if len(files) > 1:
        raise InputError(f"there must be one prediction file beside it, got {', '.join(files)}")
    return require_sent(folder / files[0], folder)


def _read(folder: Path, source: Path) -> Submission | Refused:
    try:
        return read_submission(folder, source)
    except Exception as error:  # one bad submission must not stop the others
        return Refused(folder, refusal(error))


def _benchmark(folder: Path) -> list[Submission | Refused]:
    """Return a submission for each finished cell; rows of other settings are left out."""
    require_sent(folder / "suite.toml", folder, _LARGEST)
    store = Store(folder)
    suite = store.suite()
    submissions: list[Submission | Refused] = []
    for cell in cells(suite):
        place = store.path(cell)
        if not _has(place, "row.json"):
            continue
        try:
            require_sent(place / "row.json", folder, _LARGEST)
            row = store.row(cell)
            if not has_settings(suite, cell, row.config):
                submissions.append(Refused(place, "has settings that differ from suite.toml"))
            elif row.rows:
                submissions.append(_of_cell(place, folder, row))
        except Exception as error:
            submissions.append(Refused(place, refusal(error)))
    if not submissions:
        raise FileError(f"{folder}: holds no finished cell with rows of the regret criterion")
    return submissions


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
        claims={
            str(each["loss"]): {
                key: value
                for key, value in each.items()
                if key in EVALUATED and (value is None or isinstance(value, int | float))
            }
            for each in row.rows
        },
        predictions=folder / "predictions.npz",
        predictions_sha256=row.predictions_sha256,
        settings={
            "suite": cell.suite,
            "network": row.config.get("network", ""),
            **row.config["settings"],
            **row.versions,
        },
    )


def _own_submissions(folder: Path) -> list[Submission | Refused]:
    """Return what a folder itself is: the cells of a benchmark, a submission, or nothing."""
    if _has(folder, "suite.toml"):
        return _benchmark(folder)
    return [_read(folder, folder)] if _has(folder, "row.json") else []


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))


def _has(folder: Path, name: str) -> bool:
    """Return whether a folder has an entry of this name, of whatever kind."""
    return os.path.lexists(folder / name)


def _in_folder(folder: Path) -> list[Submission | Refused]:
    """Return the submissions of one entry in a folder of several."""
    if folder.is_symlink():
        raise FileError(f"{folder}: must be a folder, got a symbolic link")
    seeds = [each for each in _folders(folder) if _has(each, "row.json")]
    submissions = _own_submissions(folder) or [_read(each, folder) for each in seeds]
    return submissions or [Refused(folder, _NO_ROW)]


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

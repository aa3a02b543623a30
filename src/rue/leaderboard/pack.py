"""Write a submission from a prediction file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rue._schema import plain
from rue.components import Run
from rue.data.truth import is_data_set
from rue.errors import FileError, InputError
from rue.io.atomic import copy, sha256, write_json
from rue.io.predictions import read_belief
from rue.io.runs import make_run
from rue.leaderboard.row_format import OWN_REGIME, Claim, SubmittedRow
from rue.leaderboard.submission import Submission, read_submission
from rue.leaderboard.verify import answers_checksum, stated_truth
from rue.metrics.columns import COLUMNS
from rue.metrics.evaluation import evaluate_run


def write_submission(
    predictions: str | Path,
    folder: str | Path,
    *,
    data: str,
    losses: Sequence[str] = ("log",),
    truth: str | Path | None = None,
    method: str = "",
    regime: str = OWN_REGIME,
    seed: int = 0,
    values: Sequence[float] | None = None,
    settings: Mapping[str, object] | None = None,
    link: str = "",
) -> Submission:
    """Evaluate a prediction file, and write it as a submission to a leaderboard.

    Parameters
    ----------
    predictions : path
        The prediction file.
    folder : path
        The folder to write; it must not exist, or be empty.
    data : str
        The name of the data set.
    losses : sequence of str
        The losses, by name.
    truth : str or path, optional
        The name of a data set, or a truth file, which is copied; by default the answers in the
        prediction file.
    method : str
        The name of the method, by default the one in the file, or else the file's name.
    regime : str
        The training regime, for example ``paper`` or ``tuned``.
    seed : int
        The seed, by which the test points of some data sets are chosen.
    values : sequence of float, optional
        The numbers that the classes stand for.
    settings : mapping, optional
        How the method was trained, as JSON.
    link : str
        A web page about the method.

    Returns
    -------
    Submission
        What was written.

    Raises
    ------
    FileError
        If a file cannot be read, or the folder is not empty.

    Examples
    --------
    >>> from rue.leaderboard import write_submission
    >>> write_submission("mine.npz", ".", data="coins")
    Traceback (most recent call last):
    rue.errors.FileError: .: must be a new or empty folder
    """
    path, folder = Path(predictions), Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder}: must be a new or empty folder")
    read = read_belief(path)
    losses = tuple(dict.fromkeys(losses))
    if not losses:
        raise InputError("losses must be one or more, got none")
    if isinstance(truth, str) and not is_data_set(truth):
        truth = Path(truth)
    own = read.method
    method = method or own or path.stem
    if own not in ("", method):
        raise FileError(f"{path}: names the method {own}, so it cannot be called {method}")
    answers = stated_truth(truth, seed)
    runs = [make_run(read, answers, loss, values=values) for loss in losses]
    suffix = path.suffix if path.suffix in (".npz", ".parquet", ".csv") else ".jsonl"
    row = SubmittedRow(
        method=method,
        data=data,
        regime=regime,
        seed=seed,
        truth=truth if truth is None or isinstance(truth, str) else f"truth{truth.suffix}",
        values=None if values is None else tuple(values),
        rows=tuple(_claims(loss, run) for loss, run in zip(losses, runs, strict=True)),
        predictions_sha256=sha256(path),
        data_sha256=answers_checksum(runs[0]),
        settings=dict(settings or {}),
        link=link,
    )
    folder.mkdir(parents=True, exist_ok=True)
    copy(path, folder / f"predictions{suffix}")
    if isinstance(truth, Path):
        copy(truth, folder / f"truth{truth.suffix}")
    write_json(folder / "row.json", plain(row), indent=1)
    return read_submission(folder)


def _claims(loss: str, run: Run) -> Claim:
    """Return the numbers of the columns that a leaderboard shows."""
    row = evaluate_run(run, references=False).to_dict()
    shown = [
        key
        for key, column in COLUMNS.items()
        if column.explanation and not (column.on_request or column.simulated) and key in row
    ]
    return {"loss": loss, **{key: row[key] for key in shown}}

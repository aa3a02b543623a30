"""Write submissions, and verify them: every number is computed again and compared.

What is shown on a leaderboard is always the number computed here. A row is verified if

- its predictions and answers can be read, and have the checksums that it states;
- its points and answers are the reference's: those the keeper gives for the data set, or else
  those of the first verified submission to the same data set and seed;
- its classes stand for the same values, under losses that need them;
- every claimed number equals the one computed here, to the decimals that the submission states,
  or to 6 significant digits if it states none;
- the prediction file, where it names a method, names the same one.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rue._schema import plain
from rue.beliefs import Belief
from rue.components import Run
from rue.data.registry import ENTRIES
from rue.data.truth import data_set_truth, is_data_set
from rue.errors import AlignmentError, FileError, InputError, RueError
from rue.inference.comparison import same_loss
from rue.io.answers import read_truth
from rue.io.atomic import copy, sha256, write_json
from rue.io.predictions import read_belief
from rue.io.runs import make_run, same_points
from rue.leaderboard.submission import (
    OWN_REGIME,
    Claim,
    Submission,
    SubmittedRow,
    read_submission,
    refusal,
    require_sent,
)
from rue.metrics.columns import COLUMNS, title
from rue.metrics.evaluation import Evaluation, evaluate_run
from rue.truth.base import Truth

_RELATIVE, _ABSOLUTE = 1e-6, 1e-9


@dataclass(frozen=True)
class Verified:
    """A submission with what was computed from its predictions.

    Attributes
    ----------
    submission : Submission
        What was claimed.
    rows : mapping of str to Evaluation
        The numbers by loss; losses that could not be computed are missing.
    runs : mapping of str to Run
        What the numbers were computed from, by loss.
    problems : mapping of str to str
        By loss, why the row is not verified; verified rows are missing.
    """

    submission: Submission
    rows: Mapping[str, Evaluation]
    runs: Mapping[str, Run]
    problems: Mapping[str, str]

    @property
    def problem(self) -> str:
        """The first problem, or an empty text if every row is verified."""
        return next(iter(self.problems.values()), "")


@dataclass
class References:
    """The points and answers that submissions to a data set must have.

    Attributes
    ----------
    given : mapping of str to str
        By data set, the truth file or data set that the keeper gives.
    first : dict
        By data set and seed, the first verified run and its folder: where the keeper gives
        nothing, all others must have its points and answers.
    scales : dict
        By data set and loss, the first verified run and its folder: all others must have its
        loss, on the same scale of the classes.
    """

    given: Mapping[str, str] = field(default_factory=dict)
    first: dict[tuple[str, int], tuple[Run, Path]] = field(default_factory=dict)
    scales: dict[tuple[str, str], tuple[Run, Path]] = field(default_factory=dict)
    _files: dict[str, Truth] = field(init=False)

    def __post_init__(self) -> None:
        files = {data: name for data, name in self.given.items() if not is_data_set(name)}
        self._files = {data: read_truth(name) for data, name in files.items()}

    def _source(self, submission: Submission) -> str | Path | None:
        """Return where a submission's answers come from; None if its predictions have them."""
        return self.given.get(submission.data) or submission.truth

    def truth(self, submission: Submission) -> Truth | None:
        """Return the answers of a submission's data set; None if its predictions have them."""
        stated = self._files.get(submission.data)
        return stated or _stated_truth(self._source(submission), submission.seed)

    def aligned(self, submission: Submission, run: Run) -> Run:
        """Return a run with its points in the reference's order; raise if they are not the same."""
        scaled, folder = self.scales.get((submission.data, run.loss_name), (run, Path()))
        if not same_loss(scaled.loss, run.loss):
            raise InputError(
                f"its classes stand for other values under {run.loss_name} loss than in {folder}, "
                "so their numbers cannot be compared"
            )
        first = self.first.get((submission.data, submission.seed))
        if first is None:
            return run
        reference, folder = first
        try:
            return same_points([reference, run])[1]
        except AlignmentError:
            raise AlignmentError(f"its points or answers are not those of {folder}") from None

    def keep(self, submission: Submission, run: Run) -> None:
        """Take a verified run as the reference of its data set and seed, if there is none."""
        self.first.setdefault((submission.data, submission.seed), (run, submission.folder))
        self.scales.setdefault((submission.data, run.loss_name), (run, submission.folder))


def _stated_truth(source: str | Path | None, seed: int) -> Truth | None:
    """Return the answers in a file, or those of a data set's test points; None without a source."""
    if isinstance(source, str):
        return data_set_truth(source, split="test", seed=seed)
    return None if source is None else read_truth(source)


def verify(submission: Submission, references: References | None = None) -> Verified:
    """Compute the numbers of a submission again, and compare them with its claims.

    Parameters
    ----------
    submission : Submission
        What is claimed.
    references : References, optional
        The points and answers of its data set; a verified submission may become one.

    Returns
    -------
    Verified
        The numbers computed here, and why rows are not verified.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile, numpy as np
    >>> from rue.leaderboard import read_submission, write_submission
    >>> from rue.leaderboard import verify
    >>> rng = np.random.default_rng(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mine.npz")
    ...     counts = rng.multinomial(9, [0.5, 0.5], 20)
    ...     np.savez(file, probs=rng.dirichlet([1, 1], (20, 4)), counts=counts)
    ...     _ = write_submission(file, Path(folder, "out"), data="coins", losses=["log"])
    ...     verified = verify(read_submission(Path(folder, "out")))
    >>> verified.problem
    ''
    """
    references = References() if references is None else references
    rows: dict[str, Evaluation] = {}
    runs: dict[str, Run] = {}
    problems: dict[str, str] = {}
    try:
        predictions = _read(submission, is_own_truth=submission.data not in references.given)
        truth = references.truth(submission)
    except Exception as error:  # one bad submission must not stop the others
        reason = refusal(error)
        return Verified(submission, {}, {}, dict.fromkeys(submission.claims, reason))
    values = submission.values if predictions.outcomes.given_values is None else None
    source = references._source(submission)
    for loss, claims in submission.claims.items():
        corrected = any(k.endswith("_corrected") and v is not None for k, v in claims.items())
        try:
            run = _run(predictions, truth, loss, values, source)
            run = replace(run, method=submission.method)
            rows[loss] = evaluate_run(run, corrected=corrected, references=False)
            runs[loss] = run  # its numbers are shown even if the following raises
            runs[loss] = references.aligned(submission, run)
            problem = _differing(submission, claims, run, rows[loss])
        except Exception as error:  # a reader of the page has no options
            problem = refusal(error)
        if problem:
            problems[loss] = problem
        else:
            references.keep(submission, runs[loss])
    return Verified(submission, rows, runs, problems)


def answers_checksum(run: Run) -> str:
    """Return the SHA-256 of the points and the answers about them, whatever their order."""
    answers = run.annotations
    assert answers is not None  # a run of predictions has answers
    ids = np.arange(len(run)).astype(np.str_) if run.ids is None else run.ids
    digest = hashlib.sha256()
    rows = answers.answer_bytes()
    for i in np.argsort(ids, kind="stable"):
        digest.update(str(ids[i]).encode() + b"\0" + rows[i] + b"\0")
    return digest.hexdigest()


def claim_differs(claim: float | None, number: float, digits: int | None) -> bool:
    """Return whether a claim differs by more than half of its last decimal, or 1e-6 without."""
    if claim is None or not math.isfinite(number):
        return claim is not None or math.isfinite(number)
    rounding = _RELATIVE * abs(number) if digits is None else 0.5 * 10.0**-digits
    return abs(claim - number) > rounding + _ABSOLUTE


def _read(submission: Submission, is_own_truth: bool) -> Belief:
    """Return the predictions; raise if a file is not the one that was submitted."""
    path, truth = submission.predictions, submission.truth
    require_sent(path, submission.source)
    if isinstance(truth, Path):
        require_sent(truth, submission.source)
    if submission.predictions_sha256 not in (None, sha256(path)):
        raise FileError(f"{path}: its checksum is not the one that row.json states")
    predictions = read_belief(path)
    if predictions.method not in ("", submission.method):
        raise FileError(
            f"{path}: names the method {predictions.method}, and row.json {submission.method}"
        )
    if is_own_truth and isinstance(truth, str) and truth not in ENTRIES:  # elsewhere, that is
        raise FileError(f"truth must be a file beside row.json or a data set, got {truth!r:.60}")
    return predictions


def _run(
    predictions: Belief,
    truth: Truth | None,
    loss: str,
    values: Sequence[float] | None,
    source: str | Path | None,
) -> Run:
    """Return a run; the error about answers that others gave quotes none of them."""
    try:
        return make_run(predictions, truth, loss, values=values)
    except RueError as error:
        if not isinstance(source, str):
            raise
        fault = "points" if isinstance(error, AlignmentError) else "points, classes or scale"
        raise InputError(
            f"its {fault} do not fit the answers of {source} under {loss} loss: "
            f"rue evaluate --truth {source} says why"
        ) from None


def _differing(
    submission: Submission, claims: Mapping[str, float | None], run: Run, row: Evaluation
) -> str:
    """Return the first thing that is not as the submission states it; empty if there is none."""
    if submission.data_sha256 not in (None, answers_checksum(run)):
        return f"its answers on {submission.data} do not have the checksum that row.json states"
    digits = submission.digits
    for key, claimed in claims.items():
        value = getattr(row, key, math.nan)
        if key in COLUMNS and COLUMNS[key].simulated:
            continue  # a mean over simulated answers has an error of its own
        if claimed is None and key.endswith("_corrected"):
            continue  # it was not asked for
        if claim_differs(claimed, value, digits):
            shown = "undefined" if not math.isfinite(value) else f"{value:.{digits or 6}g}"
            claim_text = "undefined" if claimed is None else f"{claimed:.{digits or 6}g}"
            return f"claims {title(key)} {claim_text}, and its predictions give {shown}"
    return ""


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
    answers = _stated_truth(truth, seed)
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

"""Boards: the rows of each data set and loss, ranked with probabilities.

A row of a board is a method in a training regime: the mean over the seeds of one submission. Rows
that are not verified are shown with the reason, and not ranked. Ranks are computed from bootstrap
samples of the test points, which are the same for all rows (:mod:`rue.inference.method_ranking`).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rue.bench.resampling import paired_replicates
from rue.bench.tables import table_rows
from rue.components import Run
from rue.errors import InputError
from rue.inference.method_ranking import Ranking, compare_column
from rue.leaderboard.submission import Claim, Refused, Submission, find_submissions
from rue.leaderboard.verification import References, Verified, answers_checksum, verify
from rue.metrics.columns import title

RANKED_BY = ("n_aurec", "aurec", "aurc")
"""The columns by which rows are ranked."""

ALL = ""
"""The key of the ranking of all regimes."""


@dataclass(frozen=True)
class BoardRow:
    """One method in one regime on a board.

    Attributes
    ----------
    method, regime : str
        Their names.
    source : Path
        The folder that was submitted.
    seeds : tuple of int
        The seeds that the numbers are means of.
    numbers : mapping
        The columns computed here, and ``*_std`` over seeds; empty if nothing could be computed.
    problem : str
        Why the row is not verified; empty if it is.
    note : str
        Why a verified row is not ranked; empty if it is.
    settings : mapping
        How the method was trained.
    link : str
        A web page about the method, or an empty text.
    """

    method: str
    regime: str
    source: Path
    seeds: tuple[int, ...]
    numbers: Claim
    problem: str = ""
    note: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    link: str = ""

    @property
    def verified(self) -> bool:
        """Whether every number was claimed as it was computed here."""
        return not self.problem


@dataclass(frozen=True, eq=False)
class Board:
    """The rows of one data set under one loss.

    Attributes
    ----------
    data, loss : str
        Their names.
    rows : tuple of BoardRow
        Verified rows by n-AuReC, the best first, then the others.
    rankings : mapping of str to mapping of str to Ranking
        By regime (an empty text for all) and criterion, the ranking of verified rows; ``methods``
        are their positions in ``rows`` as text.
    facts : mapping of str to str
        The points, the seeds, the annotators and the source of the answers.
    """

    data: str
    loss: str
    rows: tuple[BoardRow, ...]
    rankings: Mapping[str, Mapping[str, Ranking]]
    facts: Mapping[str, str]

    def sentence(self, regime: str = ALL, criterion: str = "n_aurec") -> str:
        """Return which row is best, or that no row is significantly best."""
        ranking = self.rankings.get(regime, {}).get(criterion)
        if ranking is None:
            return ""
        what = title(criterion)
        best = [self._name(self.rows[int(place)]) for place in ranking.best]
        if not best:
            return f"{what} is undefined for every verified row."
        n_ranked = len(ranking.order)
        if len(best) > 1:
            names = ", ".join(best[:-1]) + f" and {best[-1]}"
            return f"No significant winner by {what}: {names} cannot be separated."
        if n_ranked == 1:
            return f"{best[0]} is the only verified row with {what}."
        return f"{best[0]} has the lowest {what} of {n_ranked} verified rows, significantly."

    def _name(self, row: BoardRow) -> str:
        """Return the name of a row, with its regime if another row has the same method."""
        shared = sum(row.method == other.method for other in self.rows) > 1
        return f"{row.method} ({row.regime})" if shared else row.method


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Everything on the page.

    Attributes
    ----------
    boards : tuple of Board
        One for each data set and loss.
    refused : tuple of Refused
        Folders that could not be read, or whose name another submission has.
    """

    boards: tuple[Board, ...]
    refused: tuple[Refused, ...]

    @property
    def n_rows(self) -> int:
        """The number of rows on all boards."""
        return sum(len(board.rows) for board in self.boards)

    @property
    def n_verified(self) -> int:
        """The number of verified rows."""
        return sum(row.verified for board in self.boards for row in board.rows)


def build_leaderboard(
    folders: Sequence[str | Path],
    *,
    truth: Mapping[str, str] | None = None,
    step: Callable[[str], object] = lambda _: None,
) -> Leaderboard:
    """Verify and rank the submissions in folders.

    Parameters
    ----------
    folders : sequence of path
        Folders of benchmarks, of single submissions, or of several. Their order matters where two
        submissions have one name, or different answers: the first is kept.
    truth : mapping of str to str, optional
        By the name of a data set, the truth file or data set whose answers every submission to it
        must have; by default those of its first verified submission.
    step : callable
        Called with a short text before each step.

    Returns
    -------
    Leaderboard
        The boards, and the submissions that are on none.

    Raises
    ------
    FileError
        If a folder holds no submission.
    InputError
        If ``truth`` is about a data set that no submission is about.

    Examples
    --------
    >>> from rue.leaderboard import build_leaderboard
    >>> build_leaderboard(["no-such-folder"])
    Traceback (most recent call last):
    rue.errors.FileError: no-such-folder: no such folder
    """
    candidates = [each for folder in folders for each in find_submissions(folder)]
    refused = [each for each in candidates if isinstance(each, Refused)]
    submissions: list[Submission] = []
    owners: dict[tuple[str, ...], Path] = {}
    taken: set[tuple[Any, ...]] = set()
    for each in candidates:
        if isinstance(each, Submission):
            name = (each.data, each.regime, each.method)
            owner = owners.setdefault(name, each.source)
            if owner == each.source and (*name, each.seed) not in taken:
                taken.add((*name, each.seed))
                submissions.append(each)
            else:
                refused.append(Refused(each.folder, _taken(each, owner)))
    data_names = {each.data for each in submissions}
    for data in truth or {}:
        if data not in data_names:
            raise InputError(
                f"truths must be for data sets of {', '.join(sorted(data_names))}, got {data!r}"
            )
    references = References(dict(truth or {}))
    groups: dict[tuple[str, str], dict[tuple[str, str], list[Verified]]] = {}
    for each in submissions:
        step(f"{each.method} {each.data} {each.seed}")
        checked = verify(each, references)
        for loss in each.claims:
            board = groups.setdefault((each.data, loss), {})
            board.setdefault((each.method, each.regime), []).append(checked)
    boards = []
    for (data, loss), board in groups.items():
        step(f"rank {data} {loss}")
        boards.append(_board(data, loss, list(board.values()), references))
    return Leaderboard(tuple(boards), tuple(refused))


def _taken(submission: Submission, owner: Path) -> str:
    name = f"{submission.method} ({submission.regime}) on {submission.data}"
    if owner == submission.source:
        return f"seed {submission.seed} of {name} appears twice"
    return f"the name {name} is taken by {owner}: choose another"


def _board(
    data: str, loss: str, groups: Iterable[Sequence[Verified]], references: References
) -> Board:
    rows, runs = [], []
    for group in groups:
        row, own = _row(data, loss, group)
        rows.append(row)
        runs.append(own)
    seeds = [tuple(own) for row, own in zip(rows, runs, strict=True) if row.verified]
    shared = max(seeds, key=lambda own: (seeds.count(own), len(own)), default=())
    rows = [_unranked(row, shared) if row.verified and row.seeds != shared else row for row in rows]
    order = sorted(range(len(rows)), key=lambda i: _place(rows[i]))
    rows, runs = [rows[i] for i in order], [runs[i] for i in order]
    ranked = {str(i): runs[i] for i, row in enumerate(rows) if row.verified and row.seeds == shared}
    drawn = {
        place: [paired_replicates(run, seed) for seed, run in own.items()]
        for place, own in ranked.items()
    }
    rankings = {}
    for regime in dict.fromkeys([ALL, *(row.regime for row in rows)]):
        chosen = [p for p in ranked if regime in (ALL, rows[int(p)].regime)]
        rankings[regime] = {
            criterion: compare_column(
                criterion,
                {p: _number(rows[int(p)], criterion) for p in chosen},
                {p: np.mean([seed[criterion] for seed in drawn[p]], axis=0) for p in chosen},
            )
            for criterion in RANKED_BY
            if chosen
        }
    return Board(data, loss, tuple(rows), rankings, _facts(data, rows, runs, references))


def _row(data: str, loss: str, group: Sequence[Verified]) -> tuple[BoardRow, dict[int, Run]]:
    """Return the row of one method's seeds, and its runs."""
    group = sorted(group, key=lambda each: each.submission.seed)
    first = group[0].submission
    problems = [
        (each.submission.seed, each.problems[loss]) for each in group if loss in each.problems
    ]
    evaluated = [
        {**each.rows[loss].to_dict(), "dataset": data, "seed": each.submission.seed}
        for each in group
        if loss in each.rows
    ]
    problem = ""
    if problems:
        seed, problem = problems[0]
        problem = f"seed {seed}: {problem}" if len(group) > 1 else problem
    runs = {each.submission.seed: each.runs[loss] for each in group if loss in each.runs}
    row = BoardRow(
        method=first.method,
        regime=first.regime,
        source=first.source,
        seeds=tuple(each.submission.seed for each in group),
        numbers=table_rows(evaluated)[0] if evaluated else {},
        problem=problem,
        settings=first.settings,
        link=first.link,
    )
    return row, runs


def _unranked(row: BoardRow, shared: tuple[int, ...]) -> BoardRow:
    has, have = (", ".join(map(str, seeds)) for seeds in (row.seeds, shared))
    return replace(row, note=f"not ranked: it has the seeds {has}, and most rows have {have}")


def _place(row: BoardRow) -> tuple[bool, float]:
    value = _number(row, "n_aurec")
    return not row.verified, math.inf if math.isnan(value) else value


def _number(row: BoardRow, key: str) -> float:
    value = row.numbers.get(key)
    return float(value) if isinstance(value, int | float) else math.nan


def _facts(
    data: str, rows: Sequence[BoardRow], runs: Sequence[Mapping[int, Run]], references: References
) -> dict[str, str]:
    """Return what a reader must know about the points and answers of a board."""
    verified = [own for row, own in zip(rows, runs, strict=True) if row.verified]
    if not verified:
        return {}
    seed, run = next(iter(verified[0].items()))
    facts = {"points": f"{len(run):,}"}
    if run.annotations is not None and np.isfinite(most := run.annotations.n_annotators.max()):
        least = run.annotations.n_annotators.min()
        facts["annotators"] = f"{least:.0f}" if least == most else f"{least:.0f} to {most:.0f}"
    seeds = list(verified[0])
    facts["seeds"] = ", ".join(map(str, seeds))
    truth = references.given.get(data)
    facts["answers"] = truth or f"those in {references.first[data, seed][1]}"
    facts["checksum of the answers"] = answers_checksum(run)
    return facts

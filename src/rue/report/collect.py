"""Collect the content of a report from prediction files."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue import __version__
from rue._arrays import FloatArray, IntArray
from rue.beliefs import Belief
from rue.components import Run, realize
from rue.errors import AlignmentError, InputError
from rue.inference.comparison import compare
from rue.inference.intervals import intervals
from rue.io.atomic import sha256
from rue.io.names import BY_NAME, Matching
from rue.io.predictions import read_method
from rue.io.runs import in_one_order, make_run
from rue.losses import Loss
from rue.metrics.evaluation import evaluate_run
from rue.report.items import items_of
from rue.report.model import DataCard, Items, MethodCard, Provenance, Report, ReportEntry
from rue.report.thinning import gap_and_slices
from rue.truth.base import Truth

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def from_files(
    files: Mapping[str, Path | Sequence[Path]],
    losses: Mapping[str, str | Loss],
    *,
    truth: Truth | None = None,
    values: ArrayLike | None = None,
    data: str | None = None,
    items: Path | None = None,
    level: float | None = None,
    cluster: str | None = None,
    corrected: bool = False,
    title: str = "",
    command: str = "",
    seed: int = 0,
    matching: Matching = BY_NAME,
    step: Callable[[str], object] = lambda _: None,
) -> Report:
    """Evaluate prediction files and return a report of them.

    Parameters
    ----------
    files : mapping of str to path or sequence of paths
        The prediction file or files (:mod:`rue.io.predictions`) of each method, by name; all of
        the same points.
    losses : mapping of str to str or Loss
        The losses, by the name to show.
    truth : Truth, optional
        The annotators' answers, if the files do not contain them.
    values, seed
        As in :func:`rue.decompose`.
    data : str, optional
        The name of the data set in rue's registry, for its card and its texts or images.
    items : path, optional
        A file with the texts or images of the points; see :mod:`rue.report.items`.
    level : float, optional
        The level of bootstrap intervals (:func:`rue.inference.intervals.intervals`), for example
        0.95; by default there are none.
    cluster : str, optional
        The column of the clusters that the bootstrap resamples instead of points.
    corrected : bool
        Whether to add columns corrected for finitely many annotators
        (:mod:`rue.metrics.corrected`).
    title, command : str
        The title of the page, and the command that creates it.
    matching : Matching
        How rows and columns of the files are matched.
    step : callable
        Called with a short text before each step.

    Returns
    -------
    Report
        The content of the page; :func:`write_report` writes it.

    Raises
    ------
    FileError
        If a file cannot be read.
    AlignmentError
        If the files have different points or answers.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rue.report import from_files
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ensemble.npz")
    ...     np.savez(path, probs=np.full((3, 2, 2), 0.5), counts=[[3, 1], [2, 2], [4, 0]])
    ...     report = from_files({"ensemble": path}, {"log": "log"})
    >>> report.entries[0].method, report.entries[0].row["n_points"]
    ('ensemble', 3)
    """
    names = list(files)
    shown = data or "data"
    entries: list[ReportEntry] = []
    cards = []
    ids: NDArray[np.str_] | None = None
    annotations: Truth | None = None
    texts: Sequence[str] | None = None
    sources = {n: [f] if isinstance(f, Path) else list(f) for n, f in files.items()}
    first: Path | None = None
    named = False
    reads = in_one_order([read_method(paths, matching=matching) for paths in sources.values()])
    for (name, paths), predictions in zip(sources.items(), reads, strict=True):
        path = paths[0]
        if isinstance(predictions, Run) and len(losses) > 1:
            raise InputError(f"{path}: holds components of one loss, so give one loss")
        made = [
            make_run(
                predictions,
                truth,
                loss_of,
                values=values,
                seed=seed,
                with_answers=None if corrected else False,
                matching=matching,
            )
            for loss_of in losses.values()
        ]
        order: slice | IntArray = slice(None)
        here, answers = made[0].ids, made[0].annotations
        correct = mean = None
        if ids is None:
            ids = np.arange(len(made[0])).astype(np.str_) if here is None else here
            named = here is not None
        else:
            if named != (here is not None) and not matching.by_position:
                bare, other = (path, first) if named else (first, path)
                raise AlignmentError(f"{bare}: has no ids but {other} has; all files need them")
            order = _order(ids, here, len(made[0]), path, first)
        first = first or path
        if answers is not None and not isinstance(predictions, Run):
            correct, mean = judged(answers[order], made[0].belief and made[0].belief[order])
            if annotations is None:
                annotations = answers[order]
            else:
                _require_same_answers(annotations, first, answers[order], path)
        if texts is None and "text" in made[0].groups:
            texts = [str(text) for text in made[0].groups["text"][order]]
        for loss, run in zip(losses, made, strict=True):
            step(f"{name} {loss}")
            run = replace(run, method=name)
            shown_run = run if isinstance(order, slice) else run[order]
            gap, surfaces = gap_and_slices(shown_run)
            row = evaluate_run(run, gap=gap, corrected=corrected)
            if level is not None:
                bounds = intervals(run, row=row, level=level, cluster=cluster, seed=seed)
                row = replace(row, intervals=bounds)
            entries.append(
                ReportEntry(
                    shown,
                    name,
                    loss,
                    {**row.to_dict(), "loss": loss},
                    shown_run,
                    correct,
                    mean,
                    surfaces,
                    level=level or 0.95,
                    cluster=cluster,
                )
            )
        cards.append(MethodCard(name, _facts(path, predictions)))
    if level is not None and len(sources) > 1:
        entries = _tested(entries, level=level, cluster=cluster, seed=seed, step=step)
    assert ids is not None
    facts, known_items = items_of(ids, data=data, file=items, texts=texts, entries=entries)
    card = data_card(shown, known_items, annotations, facts)
    used = [
        *(path for paths in sources.values() for path in paths),
        *([Path(truth.source)] if truth is not None and Path(truth.source).is_file() else []),
        *([items] if items else []),
    ]
    return Report(
        title=title or data or ", ".join(names),
        entries=tuple(entries),
        data=(card,),
        methods=tuple(cards),
        provenance=Provenance(
            command=command,
            versions=_versions(),
            checksums=_checksums(used),
            seeds=(seed,),
        ),
    )


def _versions() -> dict[str, str]:
    """Return the versions of the packages that compute the numbers."""
    return {"rue": __version__, "python": platform.python_version()} | {
        name: version(name) for name in _PACKAGES
    }


def judged(
    truth: Truth | None, belief: Belief | None
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the probability that each prediction is correct, and the mean distributions."""
    mean = None if belief is None else belief.mean_probs()
    if belief is None or truth is None or mean is None:
        return None, None
    # The actions in a file need not be classes, which are judged here.
    return 1.0 - realize(truth, belief.with_actions(None), "zero_one").total, mean


def data_card(name: str, items: Items, truth: Truth | None, facts: Mapping[str, str]) -> DataCard:
    """Return the card of a data set, with what its answers say."""
    if truth is None:
        return DataCard(name, items, facts)
    return DataCard(
        name=name,
        items=items,
        facts=truth.facts() | dict(facts),
        entropies=truth.entropies(),
        n_classes=truth.n_classes or None,
        answers=truth,
        classes=truth.outcomes.names,
    )


def _facts(path: Path, predictions: Belief | Run) -> dict[str, str]:
    facts = {"file": path.name}
    if isinstance(predictions, Run):
        return facts | {"belief": "components, computed elsewhere"}
    facts["belief"] = predictions.description
    facts["predicts"] = (
        "its own Bayes action" if predictions.actions is None else "the actions in the file"
    )
    return facts


def _tested(
    entries: Sequence[ReportEntry],
    *,
    level: float,
    cluster: str | None,
    seed: int,
    step: Callable[[str], object],
) -> list[ReportEntry]:
    """Return the entries with the methods that paired tests do not separate from the best."""
    best: dict[str, tuple[str, ...]] = {}
    for loss in dict.fromkeys(entry.loss for entry in entries):
        step(f"tests {loss}")
        runs = [entry.run for entry in entries if entry.loss == loss and entry.run is not None]
        ranking = compare(
            runs, criteria=["n_aurec"], level=level, cluster=cluster, seed=seed
        ).rankings["n_aurec"]
        best[loss] = ranking.best
    return [replace(entry, best=best[entry.loss]) for entry in entries]


def _order(
    ids: NDArray[np.str_],
    here: NDArray[np.str_] | None,
    n_points: int,
    path: Path,
    first: Path | None,
) -> slice | IntArray:
    """Return the rows of a file in the order of the first file."""
    if n_points != len(ids):
        raise AlignmentError(
            f"{path}: has {n_points} points but {first} has {len(ids)}; a report compares "
            "methods on the same points"
        )
    if here is None or np.array_equal(here, ids):
        return slice(None)
    if not np.array_equal(np.sort(here), np.sort(ids)):
        missing = ids[~np.isin(ids, here)]
        word = f", first {str(missing[0])!r}" if len(missing) else ""
        raise AlignmentError(f"{path}: lacks {len(missing)} of the ids in {first}{word}")
    return np.asarray(np.argsort(here)[np.searchsorted(np.sort(here), ids)])


def _require_same_answers(reference: Truth, first: Path | None, here: Truth, path: Path) -> None:
    classes = [answers.outcomes.n for answers in (here, reference)]
    if classes[0] != classes[1]:
        raise AlignmentError(f"{path}: has {classes[0]} classes but {first} has {classes[1]}")
    row = here.first_difference(reference)
    if row is not None:
        raise AlignmentError(f"{path}: the answers differ from {first}, first at row {row}")


def _checksums(paths: Sequence[Path]) -> dict[str, str]:
    """Return the checksums of files by name, or by path if two have the same name."""
    names = [path.name for path in dict.fromkeys(paths)]
    texts = {}
    for path in paths:
        name = path.name if names.count(path.name) == 1 else str(path)
        texts[name] = sha256(path)
    return texts

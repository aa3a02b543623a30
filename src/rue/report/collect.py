"""Collect the content of a report from prediction files."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from rue import __version__
from rue._arrays import FloatArray
from rue.beliefs import Belief
from rue.components import Run, realize
from rue.errors import InputError
from rue.inference.comparison import compare
from rue.inference.intervals import intervals
from rue.io.atomic import sha256
from rue.io.names import BY_NAME, Matching
from rue.io.predictions import read_method
from rue.io.runs import in_one_order, make_runs
from rue.losses import Loss
from rue.metrics.evaluation import evaluate_run
from rue.report.items import items_of
from rue.report.model import DataCard, Items, MethodCard, Provenance, Report, ReportEntry
from rue.report.page_content import gap_and_slices
from rue.truth.base import Truth

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")  # they compute the numbers


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
    shown = data or "data"
    sources = {n: [f] if isinstance(f, Path) else list(f) for n, f in files.items()}
    reads = [read_method(paths, matching=matching) for paths in sources.values()]
    methods = dict(zip(sources, in_one_order(reads), strict=True))
    for predictions in methods.values():
        if isinstance(predictions, Run) and len(losses) > 1:
            raise InputError(f"{predictions.path}: holds components of one loss, so give one loss")
    runs_by_loss = {
        loss: make_runs(
            methods,
            truth,
            loss_of,
            values=values,
            seed=seed,
            with_answers=None if corrected else False,
            matching=matching,
        )
        for loss, loss_of in losses.items()
    }
    entries: list[ReportEntry] = []
    runs = next(iter(runs_by_loss.values()))
    for place, first in enumerate(runs):
        correct, mean = judged(first.annotations, first.belief)
        for loss, own in runs_by_loss.items():
            step(f"{first.method} {loss}")
            run = own[place]
            gap, surfaces = gap_and_slices(run)
            row = evaluate_run(run, gap=gap, corrected=corrected)
            if level is not None:
                bounds = intervals(run, row=row, level=level, cluster=cluster, seed=seed)
                row = replace(row, intervals=bounds)
            numbers = row.to_dict() | {"loss": loss}
            parts = (run, correct, mean, surfaces, level or 0.95, cluster)
            entries.append(ReportEntry(shown, run.method, loss, numbers, *parts))
    if level is not None and len(sources) > 1:
        entries = _tested(entries, level=level, cluster=cluster, seed=seed, step=step)
    facts, known_items = items_of(
        np.arange(len(runs[0])).astype(np.str_) if runs[0].ids is None else runs[0].ids,
        data=data,
        file=items,
        texts=next((run.groups["text"].tolist() for run in runs if "text" in run.groups), None),
        entries=entries,
    )
    annotations = next((run.annotations for run in runs if run.annotations is not None), None)
    card = data_card(shown, known_items, annotations, facts)
    used = [
        *(path for paths in sources.values() for path in paths),
        *([Path(truth.source)] if truth is not None and Path(truth.source).is_file() else []),
        *([items] if items else []),
    ]
    return Report(
        title=title or data or ", ".join(sources),
        entries=tuple(entries),
        data=(card,),
        methods=tuple(
            MethodCard(name, _facts(sources[name][0], predictions))
            for name, predictions in methods.items()
        ),
        provenance=Provenance(
            command=command,
            versions={"rue": __version__, "python": platform.python_version()}
            | {name: version(name) for name in _PACKAGES},
            checksums=_checksums(used),
            seeds=(seed,),
        ),
    )


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


def _checksums(paths: Sequence[Path]) -> dict[str, str]:
    """Return the checksums of files by name, or by path if two have the same name."""
    names = [path.name for path in dict.fromkeys(paths)]
    return {path.name if names.count(path.name) == 1 else str(path): sha256(path) for path in paths}

"""Collect the content of a report: from prediction files, or from the folder of a benchmark."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue import __version__
from rue._arrays import FloatArray
from rue._text import JsonObject
from rue.beliefs import Belief
from rue.bench.cells import Cell, CellRow, cells
from rue.bench.store import Store, with_convention
from rue.bench.tables import Results, read_results, table_rows
from rue.bench.tasks import PROXY_KEYS
from rue.components import Run, realize
from rue.errors import AlignmentError, FileError, InputError
from rue.inference.comparison import compare
from rue.inference.intervals import intervals
from rue.io.atomic import sha256
from rue.io.names import BY_NAME, Matching
from rue.io.predictions import read_belief, read_method
from rue.io.runs import in_one_order, make_run, make_runs
from rue.losses import Loss
from rue.metrics.evaluation import evaluate_run
from rue.report.items import items_of
from rue.report.model import DataCard, Items, MethodCard, Provenance, Report, ReportEntry
from rue.report.page_content import gap_and_run
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
    how: Any = {"values": values, "seed": seed, "matching": matching}
    how["with_answers"] = None if corrected else False
    runs_by_loss = [make_runs(methods, truth, loss, **how) for loss in losses.values()]
    runs = runs_by_loss[0]
    entries: list[ReportEntry] = []
    for of_method in zip(*runs_by_loss, strict=True):
        correct, mean = _judged(of_method[0].annotations, of_method[0].belief)
        for loss, own in zip(losses, of_method, strict=True):
            step(f"{own.method} {loss}")
            gap, run = gap_and_run(own)
            row = evaluate_run(run, gap=gap, corrected=corrected)
            if level is not None:
                bounds = intervals(run, row=row, level=level, cluster=cluster, seed=seed)
                row = replace(row, intervals=bounds)
            numbers = row.to_dict() | {"loss": loss}
            parts = (run, correct, mean, level or 0.95, cluster)
            entries.append(ReportEntry(shown, run.method, loss, numbers, *parts))
    if level is not None and len(sources) > 1:
        best: dict[str, tuple[str, ...]] = {}  # that paired tests do not separate from the best
        for loss, own_runs in zip(losses, runs_by_loss, strict=True):
            step(f"tests {loss}")
            ranking = compare(
                own_runs, criteria=["n_aurec"], level=level, cluster=cluster, seed=seed
            )
            best[loss] = ranking["n_aurec"].best
        entries = [replace(entry, best=best[entry.loss]) for entry in entries]
    facts, known_items = items_of(
        _ids(runs[0]),
        data=data,
        file=items,
        texts=next((run.groups["text"].tolist() for run in runs if "text" in run.groups), None),
        entries=entries,
    )
    answers = next((run.annotations for run in runs if run.annotations is not None), None)
    used = [
        *(path for paths in sources.values() for path in paths),
        *([Path(truth.source)] if truth is not None and Path(truth.source).is_file() else []),
        *([items] if items else []),
    ]
    return Report(
        title=title or data or ", ".join(sources),
        entries=tuple(entries),
        data=(DataCard(shown, known_items, _facts_of(answers) | facts, answers),),
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


def from_folder(
    folder: str | Path,
    *,
    title: str = "",
    command: str = "",
    step: Callable[[str], object] = lambda _: None,
) -> Report:
    """Return a report of the folder of a benchmark.

    The numbers of the leaderboard are means over seeds, with their standard deviations. Curves,
    surfaces and points are those of the first seed that all methods have finished.

    Parameters
    ----------
    folder : path
        The folder that ``rue bench run`` wrote.
    title, command : str
        The title of the page, and the command that creates it.
    step : callable
        Called with a short text before each step.

    Returns
    -------
    Report
        The content of the page; :func:`write_report` writes it.

    Raises
    ------
    FileError
        If the folder has no results, or no seed is finished for all methods.

    Examples
    --------
    >>> from rue.report import from_folder
    >>> from_folder("no-such-folder")
    Traceback (most recent call last):
    rue.errors.FileError: no-such-folder holds no benchmark: it has no suite.toml
    """
    store = Store(folder)
    suite, results = store.suite(), read_results(store)
    # Curves, surfaces and points are by Definition 1, so the numbers are, too.
    rows = table_rows(with_convention(store, results.rows, "definition"))
    notes = results.notes()
    if suite.convention != "definition":
        notes.append(
            f"the suite follows the {suite.convention} convention; this report is by Definition 1"
        )
    entries: list[ReportEntry] = []
    cards, drawn = [], []
    for name in suite.datasets:
        here = [row for row in rows if row["dataset"] == name]
        methods = list(dict.fromkeys(row["method"] for row in here if row["loss"]))
        if not methods:
            continue
        seed = _first_seed(store, results, name, methods)
        own_cells = [Cell(suite.name, name, method, seed) for method in methods]
        beliefs = {cell.method: read_belief(store.predictions(cell)) for cell in own_cells}
        own_entries = _entries(store, name, beliefs, here, step)
        first = beliefs[methods[0]]
        facts: dict[str, str] = {}
        items = Items(_ids(first))
        try:
            facts, items = items_of(
                items.ids, data=name, file=None, texts=None, entries=own_entries
            )
        except (FileError, AlignmentError) as error:
            notes.append(f"no texts or images: {error}")
        recorded = results.raw[own_cells[0]].data
        facts |= {"training points": f"{recorded.n_train:,}"}
        facts |= {f"note {i}" if i > 1 else "note": n for i, n in enumerate(recorded.notes, 1)}
        cards.append(DataCard(name, items, _facts_of(first.truth) | facts, first.truth))
        entries += own_entries
        drawn += own_cells
        if len(suite.seeds) > 1:
            notes.append(
                f"{name}: numbers are means over {len(suite.seeds)} seeds; what is drawn, and the "
                f"explorer, are of seed {seed}"
            )
    if not entries:
        raise InputError(f"{store.folder} has no rows of the regret criterion")
    raw = [results.raw[cell] for cell in drawn]
    return Report(
        title=title or f"{suite.name} benchmark",
        entries=tuple(entries),
        data=tuple(cards),
        methods=tuple(
            MethodCard(method, _training_facts(method, results.raw))
            for method in dict.fromkeys(entry.method for entry in entries)
        ),
        provenance=Provenance(
            command=command,
            versions=dict(raw[0].versions),
            checksums={
                **{name: digest for row in raw for name, digest in row.data.checksums.items()},
                **{str(cell): results.raw[cell].predictions_sha256 for cell in drawn},
            },
            seeds=suite.seeds,
            notes=tuple(notes),
        ),
    )


def _judged(
    truth: Truth | None, belief: Belief | None
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the probability that each prediction is correct, and the mean distributions."""
    mean = None if belief is None else belief.mean_probs()
    if belief is None or truth is None or mean is None:
        return None, None
    # The actions in a file need not be classes, which are judged here.
    return 1.0 - realize(truth, belief.with_actions(None), "zero_one").total, mean


def _facts(path: Path, predictions: Belief | Run) -> dict[str, str]:
    facts = {"file": path.name}
    if isinstance(predictions, Run):
        return facts | {"belief": "components, computed elsewhere"}
    facts["belief"] = predictions.description
    facts["predicts"] = (
        "its own Bayes action" if predictions.actions is None else "the actions in the file"
    )
    return facts


def _checksums(paths: Sequence[Path]) -> dict[str, str]:
    """Return the checksums of files by name, or by path if two have the same name."""
    names = [path.name for path in dict.fromkeys(paths)]
    return {path.name if names.count(path.name) == 1 else str(path): sha256(path) for path in paths}


def _first_seed(store: Store, results: Results, dataset: str, methods: list[str]) -> int:
    """Return the first seed for which the predictions of all methods are complete."""
    suite = store.suite()
    for seed in suite.seeds:
        wanted = [c for c in cells(suite) if (c.dataset, c.seed) == (dataset, seed)]
        wanted = [cell for cell in wanted if cell.method in methods]
        if all(cell in results.raw and store.state(cell) == "done" for cell in wanted):
            return seed
    raise InputError(
        f"{store.folder}: no seed of {dataset} is done for all of {', '.join(methods)}"
    )


def _entries(
    store: Store,
    dataset: str,
    beliefs: Mapping[str, Belief],
    rows: list[JsonObject],
    step: Callable[[str], object],
) -> list[ReportEntry]:
    """Return an entry for each method and loss of a data set."""
    entries = []
    for method, belief in beliefs.items():
        if belief.truth is None:
            raise FileError(f"{store.folder}: {dataset}/{method} has no answers")
        correct, mean = _judged(belief.truth, belief)
        mine = [row for row in rows if row["method"] == method]
        by_proxy = [row.items() for row in mine if not row["loss"]]
        proxies = {k: v for row in by_proxy for k, v in row if k.removesuffix("_std") in PROXY_KEYS}
        for row in mine:
            if loss := row["loss"]:
                step(f"{method} {loss}")
                run = make_run(belief, None, loss)
                entries.append(
                    ReportEntry(dataset, method, loss, row | proxies, run, correct, mean)
                )
    return entries


def _facts_of(answers: Truth | None) -> dict[str, str]:
    return {} if answers is None else dict(answers.facts())


def _ids(points: Run | Belief) -> NDArray[np.str_]:
    """Return the names of some points, or their places if they have none."""
    return np.arange(len(points)).astype(np.str_) if points.ids is None else points.ids


def _training_facts(method: str, raw: Mapping[Cell, CellRow]) -> dict[str, str]:
    """Return how a method was trained and how long it took, from its cells."""
    mine = [row for cell, row in raw.items() if cell.method == method]
    settings = mine[0].config["settings"]
    facts = {
        key.replace("_", " "): f"{value:g}" if isinstance(value, float) else str(value)
        for key, value in {**settings, **settings.get("training", {})}.items()
        if not isinstance(value, dict | None) and value is not False
    }
    seconds = [sum(row.seconds.values()) for row in mine]
    facts["seconds per seed"] = f"{sum(seconds) / len(seconds):.1f}"
    return facts

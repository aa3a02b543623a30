"""Collect the content of a report from the folder of a benchmark."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from rue._text import JsonObject
from rue.bench.cells import Cell, CellRow, cells
from rue.bench.store import Store, with_convention
from rue.bench.tables import Results, read_results, table_rows
from rue.bench.tasks import PROXY_KEYS
from rue.errors import AlignmentError, FileError, InputError
from rue.io.predictions import read_belief
from rue.io.runs import make_run
from rue.report.collect import data_card, judged
from rue.report.items import items_of
from rue.report.model import Items, MethodCard, Provenance, Report, ReportEntry
from rue.truth.base import Truth


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
    entries: list[ReportEntry] = []
    cards = []
    notes = results.notes()
    if suite.convention != "definition":
        notes.append(
            f"the suite follows the {suite.convention} convention; this report is by Definition 1"
        )
    drawn: dict[str, Cell] = {}
    for name in suite.datasets:
        here = [row for row in rows if row["dataset"] == name]
        methods = list(dict.fromkeys(row["method"] for row in here if row["loss"]))
        if not methods:
            continue
        seed = _first_seed(store, results, name, methods)
        own_entries, truth, items = _entries(store, suite.name, name, methods, seed, here, step)
        entries += own_entries
        shown, facts, missing = _items(name, items, own_entries)
        notes += missing
        first = Cell(suite.name, name, methods[0], seed)
        recorded = results.raw[first].data
        facts |= {"training points": f"{recorded.n_train:,}"}
        facts |= {f"note {i}" if i > 1 else "note": n for i, n in enumerate(recorded.notes, 1)}
        cards.append(data_card(name, shown, truth, facts))
        drawn |= {f"{name}/{method}": Cell(suite.name, name, method, seed) for method in methods}
        if len(suite.seeds) > 1:
            notes.append(
                f"{name}: numbers are means over {len(suite.seeds)} seeds; what is drawn, and the "
                f"explorer, are of seed {seed}"
            )
    if not entries:
        raise InputError(f"{store.folder} has no rows of the regret criterion")
    raw = [results.raw[cell] for cell in drawn.values()]
    return Report(
        title=title or f"{suite.name} benchmark",
        entries=tuple(entries),
        data=tuple(cards),
        methods=tuple(
            MethodCard(method, _method_facts(method, results.raw))
            for method in dict.fromkeys(entry.method for entry in entries)
        ),
        provenance=Provenance(
            command=command,
            versions=dict(raw[0].versions),
            checksums={
                **{name: digest for row in raw for name, digest in row.data.checksums.items()},
                **{str(cell): results.raw[cell].predictions_sha256 for cell in drawn.values()},
            },
            seeds=suite.seeds,
            notes=tuple(notes),
        ),
    )


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
    suite: str,
    dataset: str,
    methods: list[str],
    seed: int,
    rows: list[JsonObject],
    step: Callable[[str], object],
) -> tuple[list[ReportEntry], Truth, Items]:
    entries: list[ReportEntry] = []
    truth = items = None
    for method in methods:
        belief = read_belief(store.predictions(Cell(suite, dataset, method, seed)))
        if belief.truth is None:
            raise FileError(f"{store.folder}: {dataset}/{method} has no answers")
        annotations = belief.truth
        ids = np.arange(len(annotations)).astype(np.str_)
        ids = ids if belief.ids is None else belief.ids
        if truth is None:
            truth, items = annotations, Items(ids)
        correct, mean = judged(annotations, belief)
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
    assert truth is not None
    assert items is not None
    return entries, truth, items


def _items(
    name: str, items: Items, entries: list[ReportEntry]
) -> tuple[Items, dict[str, str], list[str]]:
    """Return the texts or images of the points, or a note if they are not available."""
    try:
        facts, texts = items_of(items.ids, data=name, file=None, texts=None, entries=entries)
    except (FileError, AlignmentError) as error:
        return items, {}, [f"no texts or images: {error}"]
    return texts, facts, []


def _method_facts(method: str, raw: Mapping[Cell, CellRow]) -> dict[str, str]:
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

"""The rows of a run under another convention, computed again from its stored predictions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rue.beliefs import Convention, require_convention
from rue.bench.cells import Cell
from rue.bench.store import Store
from rue.errors import FileError
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.metrics.evaluation import evaluate_run

__all__ = ["convention_of", "with_convention"]


def convention_of(row: Mapping[str, Any]) -> str:
    """Return the convention of a row; rows of before there were two follow Definition 1."""
    return str(row.get("convention") or "definition")


def with_convention(
    store: Store,
    rows: Iterable[Mapping[str, Any]],
    convention: Convention,
    *,
    progress: bool = False,
) -> list[dict[str, Any]]:
    """Return rows of single seeds under a convention; nothing is trained again.

    Parameters
    ----------
    store : Store
        The folder of the run, with its predictions.
    rows : iterable of mapping
        Rows of :class:`rue.bench.tables.Results`. Those of the convention, and rows of proxies,
        which have no loss, are returned as they are.
    convention : {"definition", "published"}
        The convention.
    progress : bool
        Whether to show a progress bar; the Pareto-gap of 10,000 points takes seconds.

    Returns
    -------
    list of dict
        The rows, in their order.

    Raises
    ------
    FileError
        If the predictions of a cell are damaged.
    InputError
        If the convention is not defined for a loss.
    """
    from tqdm import tqdm

    require_convention(convention)
    name = store.suite().name
    made = []
    whole = list(rows)
    for row in tqdm(whole, desc=convention, delay=2, disable=None if progress else True):
        if not row["loss"] or convention_of(row) == convention:
            made.append(dict(row))
            continue
        cell = Cell(name, row["dataset"], row["method"], row["seed"])
        if store.state(cell) == "corrupt":
            raise FileError(f"the predictions of {cell} are damaged: run the suite again")
        predictions = read_predictions(store.predictions(cell))
        run = make_run(predictions, None, row["loss"], convention=convention)
        numbers = evaluate_run(replace(run, method=row["method"])).to_dict()
        made.append({"dataset": row["dataset"], "seed": row["seed"], **numbers})
    return made

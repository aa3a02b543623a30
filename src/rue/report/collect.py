"""A report of prediction files."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue import __version__
from rue._arrays import FloatArray, IntArray
from rue.beliefs import Dirichlet, Draws, Scored
from rue.components import realize
from rue.errors import AlignmentError, InputError
from rue.inference.intervals import intervals
from rue.io.align import align, make_run
from rue.io.atomic import sha256
from rue.io.matching import BY_NAME, Matching
from rue.io.members import read_method
from rue.io.predictions import Predictions
from rue.io.truth import Truth
from rue.losses import Loss
from rue.metrics.evaluation import evaluate_run
from rue.report.items import items_of
from rue.report.model import DataCard, MethodCard, Provenance, Report, ReportEntry
from rue.runs import Run
from rue.truth.annotations import Annotations

__all__ = ["from_files", "people_s_entropies", "people_s_facts"]

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
    title: str = "",
    command: str = "",
    seed: int = 0,
    matching: Matching = BY_NAME,
    step: Callable[[str], object] = lambda _: None,
) -> Report:
    """Evaluate prediction files and gather what a report of them needs.

    Parameters
    ----------
    files
        The prediction file (:mod:`rue.io.predictions`), or the files, of each method by name,
        all of the same points.
    losses
        The losses, by the name that is shown.
    truth
        What people said, where the files do not hold it themselves.
    values, seed
        As in :func:`rue.decompose`.
    data
        The name of the data set in rue's registry, for its card and its texts or images.
    items
        A file with the texts or images of the points; see :mod:`rue.report.items`.
    level
        The level of bootstrap intervals (:func:`rue.inference.intervals.intervals`), as 0.95;
        None for none.
    title, command
        What the page is called, and the command that makes it again.
    matching
        How rows and columns of files are matched.
    step
        Called with a word before each run.
    """
    names = list(files)
    shown = data or "data"
    entries: list[ReportEntry] = []
    cards = []
    ids: NDArray[np.str_] | None = None
    people: Annotations | None = None
    texts: Sequence[str] | None = None
    sources = {n: [f] if isinstance(f, Path) else list(f) for n, f in files.items()}
    for name, paths in sources.items():
        path = paths[0]
        predictions = read_method(paths, matching=matching)
        known = truth
        if isinstance(predictions, Predictions) and (truth or predictions.truth):
            answered = truth or predictions.truth
            assert answered is not None
            predictions, known, _ = align(predictions, answered, matching)
        order: slice | IntArray = slice(None)
        if isinstance(predictions, Run) and len(losses) > 1:
            raise InputError(f"{path}: holds components of one loss, so give one loss")
        made = [
            make_run(predictions, known, each, values=values, seed=seed) for each in losses.values()
        ]
        here, said, correct = made[0].ids, made[0].annotations, None
        if ids is None:
            ids = np.arange(len(made[0])).astype(np.str_) if here is None else here
        else:
            order = _order(ids, here, len(made[0]), path, sources[names[0]][0])
        if isinstance(said, Annotations) and isinstance(predictions, Predictions):
            correct = 1.0 - realize(said, predictions.belief, "zero_one").total[order]
            if people is None:
                people, said_in = said[order], path
            else:
                _require_same_answers(people, said_in, said[order], path)
        texts = texts or _texts(predictions.groups, truth, here, order)
        for loss, run in zip(losses, made, strict=True):
            step(f"{name} {loss}")
            run = replace(run, method=name, loss=loss)
            row = evaluate_run(run)
            if level is not None:
                row = replace(row, intervals=intervals(run, row=row, level=level, seed=seed))
            run = run if isinstance(order, slice) else run[order]
            entries.append(ReportEntry(shown, name, loss, row.to_dict(), run, correct))
        cards.append(MethodCard(name, _facts(path, predictions)))
    assert ids is not None
    facts, known_items = items_of(ids, data=data, file=items, texts=texts, entries=entries)
    card = DataCard(
        name=shown,
        items=known_items,
        facts=({} if people is None else people_s_facts(people)) | facts,
        entropies=None if people is None else people_s_entropies(people),
        n_classes=None if people is None else people.n_classes,
    )
    used = [
        *(path for paths in sources.values() for path in paths),
        *([truth.path] if truth is not None and truth.path.is_file() else []),
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
    """Return the versions of what computes the numbers."""
    return {"rue": __version__, "python": platform.python_version()} | {
        name: version(name) for name in _PACKAGES
    }


def people_s_facts(people: Annotations) -> dict[str, str]:
    """Say how many people answered and how much they agree."""
    entropy = float(people_s_entropies(people).mean())
    share = entropy / np.log(people.n_classes)
    facts = {"points": f"{people.n_points:,}", "classes": f"{people.n_classes:,}"}
    if people.counts is None:
        facts["annotators"] = "none: the label distribution is known"
    else:
        n = people.n_annotators
        facts["annotators per point"] = f"{n.min():.0f} to {n.max():.0f}, {n.mean():.1f} on average"
    facts["entropy of the answers"] = f"{entropy:.3f} nats on average, {share:.0%} of the most"
    agreed = float((people.probs.max(axis=1) == 1.0).mean())
    facts["points on which all agree"] = f"{agreed:.1%}"
    return facts


def people_s_entropies(people: Annotations) -> FloatArray:
    """Return the entropy of the answers to each point, in nats."""
    return realize(people, None, "log", actions=people.probs).aleatoric


def _facts(path: Path, predictions: Predictions | Run) -> dict[str, str]:
    facts = {"file": path.name}
    if isinstance(predictions, Run):
        return facts | {"belief": "components that were computed elsewhere"}
    match predictions.belief:
        case Draws() as draws:
            n = draws.probs.shape[1]
            belief = f"{n:,} distributions per point" if n > 1 else "one distribution per point"
        case Dirichlet():
            belief = "a Dirichlet distribution per point"
        case Scored():
            belief = "one distribution per point, and an epistemic score from outside"
        case _:
            belief = type(predictions.belief).__name__
    facts["belief"] = belief
    facts["predicts"] = (
        "its own Bayes action" if predictions.actions is None else "the actions in the file"
    )
    return facts


def _order(
    ids: NDArray[np.str_], here: NDArray[np.str_] | None, n_points: int, path: Path, first: Path
) -> slice | IntArray:
    """Return the rows of a file in the order of the first one's."""
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


def _require_same_answers(people: Annotations, first: Path, here: Annotations, path: Path) -> None:
    if here.n_classes != people.n_classes:
        raise AlignmentError(
            f"{path}: has {here.n_classes} classes but {first} has {people.n_classes}"
        )
    row = here.first_difference(people)
    if row is not None:
        raise AlignmentError(f"{path}: what people said differs from {first}, first at row {row}")


def _texts(
    groups: Mapping[str, NDArray[Any]],
    truth: Truth | None,
    here: NDArray[np.str_] | None,
    order: slice | IntArray,
) -> list[str] | None:
    """Return the column ``text`` of a file, or of the truth, in the order of the points."""
    if "text" in groups:
        return [str(text) for text in groups["text"][order]]
    if truth is None or "text" not in truth.groups:
        return None
    texts = truth.groups["text"]
    if here is not None and truth.ids is not None:
        place = {name: row for row, name in enumerate(truth.ids)}
        texts = texts[[place[name] for name in here]]
    return [str(text) for text in texts[order]]


def _checksums(paths: Sequence[Path]) -> dict[str, str]:
    """Return the digests of files by name, or by path where two have one name."""
    names = [path.name for path in dict.fromkeys(paths)]
    found = {}
    for path in paths:
        name = path.name if names.count(path.name) == 1 else str(path)
        found[name] = sha256(path)
    return found

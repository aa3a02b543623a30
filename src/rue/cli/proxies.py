"""rue proxies: OOD detection and selective prediction from prediction files (table 4)."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray
from rue._text import JsonObject, are_numbers
from rue.beliefs import Belief, Convention
from rue.cli import emit, emit_json, print_notes, terminal_width
from rue.cli.inputs import Matched
from rue.cli.options import CONVENTION, FILE, FILES, FORMAT, WIDE, option
from rue.components import Run
from rue.data.datasets.openood import OPENOOD_GROUPS
from rue.data.truth import data_set_labels, is_data_set
from rue.errors import FileError, InputError
from rue.io.answers import ANSWER_ARRAYS, read_truth
from rue.io.files import read_frame, suffix_of
from rue.io.names import RESERVED, Matching, ids_of
from rue.io.predictions import read_method
from rue.io.runs import align_files
from rue.metrics.table import Format, format_grid, format_rows
from rue.proxies.rows import ProxyRow, evaluate_proxies
from rue.truth.annotations import Annotations
from rue.truth.base import Truth

EXAMPLE = "rue proxies ensemble.npz --labels labels.csv --ood tin=tin.npz mnist=mnist.npz"


def proxies(
    matched: Matched,
    files: list[str] = FILES,
    ood: list[str] | None = option(
        None,
        "Predictions of the same model for OOD inputs: FILE, SET=FILE or METHOD:SET=FILE; "
        "several after one --ood.",
        metavar=FILE,
    ),
    labels: str | None = option(
        None,
        "The data set's labels, one per point: a file like --truth, or the name of a data set.",
        metavar=FILE,
    ),
    near: list[str] | None = option(
        None, "A near OOD set. By default OpenOOD's, by name.", metavar="SET"
    ),
    far: list[str] | None = option(
        None, "A far OOD set. By default OpenOOD's, by name.", metavar="SET"
    ),
    convention: Convention = CONVENTION,
    format: Format = FORMAT,
    wide: bool = WIDE,
) -> None:
    """Evaluate OOD detection and selective prediction.

    The criteria are those of table 4 of the paper. OOD sets are detected by the epistemic part
    under log loss (AUROC; near and far are means over sets). AuAC ranks by the total: against the
    annotators' answers (--truth, or the counts in the file) and against the data set's labels
    (--labels).
    """
    matching = matched.matching
    methods = {name: _class_belief(name, r) for name, r in matched.read_methods(files).items()}
    outside = _read_outside(ood or [], methods, matching)
    groups = _groups(near or [], far or [], outside)
    answers = matched.answers()
    rows, notes = [], []
    for name, predictions in methods.items():
        labelled = _labels_of(labels, matching, predictions)
        row, own_notes = _evaluate(
            predictions, answers or predictions.truth, labelled, matching, convention
        )
        if outside:
            detection = evaluate_proxies(
                predictions, outside=outside[name], groups=groups, convention=convention
            )
            row = replace(row, ood=detection.ood)
        rows.append(replace(row, method=name))
        notes += [f"{name}: {note}" for note in own_notes]
    if not outside and not any(row.by_answers or row.by_labels for row in rows):
        raise InputError(
            f"{next(iter(methods.values())).source} has no answers of its own, and there is "
            "nothing to evaluate against: give --ood, --truth or --labels"
        )
    if format == "json":
        facts = {"loss": "log", "convention": convention, "groups": groups}
        emit_json(facts | {"rows": [row.to_dict() for row in rows]})
        return
    table: list[JsonObject] = []
    for row in rows:
        numbers = {key: value for key, value in row.columns().items() if value is not None}
        table.append({"method": row.method, "loss": "", "n_points": row.n_points, **numbers})
    emit(format_rows(table, format, width=terminal_width(wide)))
    if format == "table" and outside:
        emit("\n" + _sets(rows, groups, terminal_width(wide)))
    grouped = {name for names in groups.values() for name in names}
    others = [name for name in next(iter(outside.values()), {}) if name not in grouped]
    if others:
        notes.append(f"{', '.join(others)}: neither near nor far; say so with --near or --far")
    print_notes(notes, format)


def _class_belief(name: str, read: Belief | Run) -> Belief:
    if isinstance(read, Run):
        raise InputError(f"{read.source}: holds components of {name}, and proxies need predictions")
    if not read.n_classes:
        raise InputError(f"{read.source}: is about real numbers, and proxies are for classes")
    return read


def _labels_of(text: str | None, matching: Matching, of: Belief) -> Truth | None:
    """Return the labels of a file, or of a data set by its name: one answer for each point.

    A file is a truth, or a vector of class numbers (.npy, or ``labels`` in an .npz). Class numbers,
    and files in which not every class occurs, are read with the classes of the predictions.
    """
    if text is None:
        return None
    if is_data_set(text):
        return data_set_labels(text)
    path, names = Path(text), matching.classes or of.outcomes.names
    if suffix_of(path) in (".npy", ".npz"):
        frame = read_frame(path, arrays=("labels", *ANSWER_ARRAYS, *RESERVED))
        labels = frame.arrays.get("labels", frame.arrays.get(""))
        if labels is not None and (labels.ndim == 1 or "labels" in frame.arrays):
            counts = _one_hot(path, labels, of.n_classes, names)
            ids = ids_of(path, frame.arrays, len(counts), matching.id_name)
            one_each = Annotations(counts, ids=ids, classes=names)
            return one_each.with_source(str(path))
    truth = read_truth(path, matching=replace(matching, classes=names))
    if truth.counts is None:
        raise FileError(f"{path}: labels must be one class for each point")
    n_answers = truth.counts.sum(axis=1)
    if (n_answers != 1).any():
        row = int((n_answers != 1).argmax())
        raise FileError(
            f"{path}: labels must be one class for each point, got {n_answers[row]:g} answers at "
            f"row {row}",
            advice={"--truth": "takes several answers"},
        )
    return truth


def _one_hot(
    path: Path, labels: NDArray[Any], n_classes: int, names: tuple[str, ...] | None
) -> IntArray:
    """Return labels as counts; a number is the class of that name, or else of that column."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise FileError(
            f"{path}: labels must be whole numbers of shape (n_points,), got {labels.dtype} of "
            f"shape {labels.shape}"
        )
    if names is not None and len(names) == n_classes and are_numbers(names):
        column = {int(name): j for j, name in enumerate(names)}
        is_class = np.isin(labels, list(column))
        if not is_class.all():
            row = int(is_class.argmin())
            raise FileError(
                f"{path}: labels must be of the classes {', '.join(names[:8])}"
                f"{', ...' if n_classes > 8 else ''}, got {labels[row]} at row {row}"
            )
        labels = np.array([column[label] for label in labels.tolist()], np.int64)
    wrong = (labels < 0) | (labels >= n_classes)
    if wrong.any():
        row = int(wrong.argmax())
        raise FileError(
            f"{path}: labels must be from 0 to {n_classes - 1}, got {labels[row]} at row {row}"
        )
    return np.asarray(np.eye(n_classes, dtype=np.int64)[labels])


def _read_outside(
    texts: list[str], methods: Mapping[str, Belief], matching: Matching
) -> dict[str, dict[str, Belief]]:
    """Return the beliefs about each OOD set by method, the same sets for every method."""
    beliefs: dict[str, dict[str, Belief]] = {name: {} for name in methods}
    for text in texts:
        name, equals, rest = text.partition("=")
        if not equals or Path(text).exists():
            name, rest = "", text
        method, colon, named = name.partition(":")
        if not colon:
            method, named = "", name
        paths = [Path(part) for part in rest.split(",")]
        read = _class_belief(rest, read_method(paths, matching=matching))
        method = method or _method_of(text, read.method, list(methods))
        if method not in methods:
            raise InputError(
                f"--ood {text}: method must be of {', '.join(methods)}, got {method!r}"
            )
        of = named or paths[0].stem
        if of in beliefs[method]:
            raise InputError(f"--ood {text}: {method} has the OOD set {of} already")
        inside = methods[method]
        if read.n_classes != inside.n_classes:
            raise InputError(
                f"--ood {text}: must have the {inside.n_classes} classes of "
                f"{inside.source}, got {read.n_classes}"
            )
        beliefs[method][of] = read
    if not texts:
        return {}
    first = next(iter(beliefs))
    for method, sets in beliefs.items():
        if set(sets) != set(beliefs[first]):
            lacking = sorted(set(sets) ^ set(beliefs[first]))
            raise InputError(
                f"every method must have the same OOD sets: {first} or {method} lacks "
                f"{', '.join(lacking)}; write --ood METHOD:SET=FILE"
            )
    return beliefs


def _method_of(text: str, own: str | None, methods: list[str]) -> str:
    """Return whose predictions an OOD file holds, where the command line does not say."""
    if len(methods) == 1:
        return methods[0]
    if own in methods:
        return str(own)
    raise InputError(
        f"--ood {text}: say which method it is of, METHOD:SET=FILE, with METHOD of "
        f"{', '.join(methods)}"
    )


def _groups(
    near: list[str], far: list[str], outside: Mapping[str, Mapping[str, Belief]]
) -> dict[str, list[str]]:
    """Return the near and far sets that were given: as the options say, else OpenOOD's."""
    sets = list(next(iter(outside.values()), {}))
    for flag, names in (("--near", near), ("--far", far)):
        for name in names:
            if name not in sets:
                raise InputError(f"{flag} must be a set of --ood, got {name!r}")
    both = next((name for name in near if name in far), None)
    if both is not None:
        raise InputError(f"--near and --far must differ, got {both!r} in both")
    groups = {}
    for group, names in {"near": near, "far": far}.items():
        usual = {name for sets_of in OPENOOD_GROUPS.values() for name in sets_of[group]}
        groups[group] = [name for name in sets if name in {*names, *(usual - {*near, *far})}]
    return {group: names for group, names in groups.items() if names}


def _evaluate(
    belief: Belief,
    answers: Truth | None,
    labels: Truth | None,
    matching: Matching,
    convention: Convention,
) -> tuple[ProxyRow, list[str]]:
    """Return selective prediction on the points that all truths have, and notes."""
    row = ProxyRow("", belief.n_points)
    notes: list[str] = []
    sides = [side for side in (answers, labels) if side is not None]
    for side in sides:
        if not side.n_classes:
            raise InputError(f"{side.source}: has real-valued answers, and proxies are for classes")
        _, belief, more = align_files(belief, side, matching)
        notes += [*side.notes, *more]
    if answers is not None:
        there, here, _ = align_files(belief, answers, matching)
        result = evaluate_proxies(here, answers=there, convention=convention)
        row = replace(row, n_points=result.n_points, by_answers=result.by_answers)
    if labels is not None:
        there, here, _ = align_files(belief, labels, matching)
        result = evaluate_proxies(here, labels=there, convention=convention)
        row = replace(row, n_points=result.n_points, by_labels=result.by_labels)
    return row, notes


def _sets(rows: list[ProxyRow], groups: Mapping[str, list[str]], width: int | None) -> str:
    """Return the detection of each OOD set as a table."""
    group_of = {name: group for group, names in groups.items() for name in names}
    detections = [(row.method, detection) for row in rows if row.ood for detection in row.ood.sets]
    lines = [["OOD set", "group", "method", "inputs", "AUROC", "AUPR", "FPR95"]]
    for name in dict.fromkeys(detection.name for _, detection in detections):
        for method, own in detections:
            if own.name == name:
                numbers = [f"{x:.3f}" for x in (own.auroc, own.aupr, own.fpr95)]
                group = group_of.get(name, "-")
                lines.append([name, group, method, f"{own.n_out:,}", *numbers])
    return format_grid(lines, left=3, width=width)

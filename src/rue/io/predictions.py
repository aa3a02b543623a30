"""Prediction files: what a model says about each point.

A prediction file is ``.npz``, JSON lines (whatever the file is called), ``.csv`` or ``.parquet``:

- Array files hold ``probs`` or else ``logits``, (n, draws, k) or (n, k), ``alpha`` (n, k), or
  ``sampled_labels``, (n, n_answers) or (n, draws, n_answers). Optional are ``epistemic`` (n),
  ``actions``, ``values``, ``classes`` (names), ``ids``, ``counts`` and ``method``, a word. Any
  other array of length n is a column to group by.
- For real-valued outcomes they hold ``mean`` and ``sd``, ``samples``, or ``mu``, ``nu``, ``alpha``
  and ``beta`` instead, and ``ratings`` in place of ``counts``: see :mod:`rue.io.real_values`.
- A JSON line is a point or a draw of it; a table is wide or long (:mod:`rue.io.belief_tables`), or
  holds components, ``aleatoric``, ``epistemic``, ``risk`` and ``regret``. No array is unpickled.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import as_vector
from rue.beliefs import Belief, ClassBelief, Dirichlet, Draws, Scored
from rue.beliefs.sampled_labels import sampled_labels
from rue.components import Run
from rue.errors import FileError, InputError, ShapeError
from rue.io.answer_rows import Order
from rue.io.answers import answers_of_arrays, as_stated, truth_of_answers, with_advice
from rue.io.belief_tables import (
    BELIEF_ARRAYS,
    KINDS,
    TableArrays,
    belief_arrays,
    method_column,
    real_kind,
)
from rue.io.columns import plain_name
from rue.io.components import Estimates, components_of, estimates_of, is_component_table
from rue.io.doubts import draws_first
from rue.io.files import Frame, read_frame
from rue.io.names import (
    BY_NAME,
    Matching,
    checked_classes,
    find_id_name,
    group_columns,
    ids_of,
    in_stated_order,
    unused_note,
)
from rue.io.probabilities import (
    from_logits,
    normalized,
    of_both_classes,
    require_labels,
    with_choices,
)
from rue.io.real_values import real_belief
from rue.losses import Classes

_LOOKED_AT = 256  # rows, before all are compared
_NOT_NORMALIZED = {"--normalize": "divides probabilities, such as percentages, by their sum"}


def read_belief(path: str | os.PathLike[str], *, matching: Matching = BY_NAME) -> Belief:
    """Read what a model says from a prediction file, with the names that the file gives.

    Parameters
    ----------
    path : str or path
        The file: ``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``, ``.json`` or
        ``.jsonl``, with the arrays and columns that :mod:`rue.io.predictions` lists.
    matching : Matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Draws, Dirichlet, Scored, Gaussians, Samples or NormalInverseGamma
        The belief about n_points points, with ``ids``, ``outcomes``, ``method`` and ``actions``
        where the file has them. Answers that the file holds are its ``truth``.

    Raises
    ------
    FileError
        If the file is not there, or holds no predictions.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, rue
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ensemble.npz")
    ...     np.savez(path, probs=np.full((2, 5, 3), 1 / 3), ids=["a", "b"], method="ensemble")
    ...     belief = rue.read_belief(path)
    >>> belief.method, belief.ids.tolist(), belief.probs.shape
    ('ensemble', ['a', 'b'], (2, 5, 3))
    """
    belief = read_predictions(Path(path), matching=matching)
    if isinstance(belief, Run):
        raise FileError(f"{path}: holds components, not a belief; rue.io.read_run reads it")
    return belief


def read_predictions(path: str | Path, *, matching: Matching = BY_NAME) -> Belief | Run:
    """Read a prediction file; its formats are in the description of this module.

    Parameters
    ----------
    path
        The file.
    matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Belief or Run
        The belief, with the file's own answers as its ``truth``; a Run where the file holds
        components already computed.

    Raises
    ------
    FileError
        If the file is not there or cannot be read as predictions.
    """
    return _read_frame(read_belief_frame(path, matching), matching)


def read_file(path: str | Path, *, matching: Matching = BY_NAME) -> list[Belief | Run]:
    """Read a prediction file, which may hold several methods: one for each."""
    frame = read_belief_frame(path, matching)
    column = method_column(frame) if frame.is_table else None
    if column is None or is_component_table(frame):
        return [_method_of([frame], None, matching)]
    words = frame.columns[column].words
    rest = replace(frame, columns={n: c for n, c in frame.columns.items() if n != column})
    parts = {name: rest.at(np.flatnonzero(words == name)) for name in dict.fromkeys(words.tolist())}
    return [_method_of([part], name, matching) for name, part in parts.items()]


def read_belief_frame(path: str | Path, matching: Matching) -> Frame:
    """Read the frame of a prediction file."""
    return read_frame(
        path,
        names=[name for name in (matching.id_name, *(matching.classes or ())) if name],
        arrays=BELIEF_ARRAYS,
        max_memory=matching.max_memory,
    )


def _read_frame(frame: Frame, matching: Matching) -> Belief | Run:
    """Return the predictions, of one method, in a frame."""
    if frame.is_table and is_component_table(frame):
        return components_of(frame, matching)
    table = belief_arrays(frame, matching) if frame.is_table else None
    arrays = frame.arrays if table is None else table.arrays
    if "sampled_labels" in arrays and not (matching.choices or matching.classes):
        require_labels(frame.path, arrays, frame.notes)
    notes: Sequence[str] = ()
    if table is None:
        belief = predictions_of(frame.path, arrays, matching)
        unused = [*belief.groups, *frame.unused]
    else:
        belief, notes = _of_table(frame, table, matching), table.notes
        used = {part for name in table.used if name for part in (name, name.split(".")[0])}
        unused = [n for n in frame.columns if n not in used and plain_name(n) not in BELIEF_ARRAYS]
    names = [name for name in unused if name not in matching.groups]
    more = unused_note(frame.path, names, scores=True)
    return belief.with_source(str(frame.path), notes=(*frame.notes, *notes, *more))


def _of_table(frame: Frame, table: TableArrays, matching: Matching) -> Belief:
    """Return the predictions in the arrays of a table; an error names the columns of classes."""
    named_ids = replace(matching, id_name="ids" if "ids" in table.arrays else None)
    try:
        return predictions_of(frame.path, table.arrays, named_ids, table.order)
    except FileError as error:
        names = table.arrays["classes"].tolist() if "classes" in table.arrays else []
        if "must sum to 1" not in error.message or not names or set(names) - set(frame.columns):
            raise
        raise FileError(
            f"{error.message}; the columns taken for classes are {', '.join(names)}",
            advice={"--classes": "states those that are"} | error.advice,
        ) from None


def read_method(
    paths: Sequence[str | Path], *, name: str | None = None, matching: Matching = BY_NAME
) -> Belief | Run:
    """Read one method from one file or several.

    Parameters
    ----------
    paths
        The files, in the order of the draws.
    name
        The name of the method; that of the (first) file by default.
    matching
        As in :func:`read_predictions`.

    Returns
    -------
    Belief or Run
        Several files make one belief of draws: (n_points, n_draws, n_classes), points in the
        order in which the files have them first. A Run where a single file holds components.

    Raises
    ------
    FileError
        If a file cannot be read, or several files do not all hold probs or logits.
    AlignmentError
        If files share some of their points but not all, or points have different numbers of draws.
    """
    if not paths:
        raise FileError("a method needs at least one file, got none")
    return _method_of((read_belief_frame(path, matching) for path in paths), name, matching)


def read_points(
    paths: Sequence[Path], *, name: str | None, matching: Matching, realized: bool
) -> Belief | Estimates:
    """Read one method, or a table of components; ``realized`` requires its risk and regret."""
    frame = read_belief_frame(paths[0], matching)
    if len(paths) == 1 and frame.is_table and is_component_table(frame):
        return estimates_of(frame, matching, realized=realized)
    frames = chain([frame], (read_belief_frame(path, matching) for path in paths[1:]))
    method = _method_of(frames, name, matching)
    assert isinstance(method, Belief)  # several files never hold components
    return method


def _method_of(frames: Iterable[Frame], name: str | None, matching: Matching) -> Belief | Run:
    """Return one method from the frames of its files."""
    pairs = [(frame.path.name, _read_frame(frame, matching)) for frame in frames]
    files, read = zip(*pairs, strict=True)
    belief = read[0]
    if len(read) > 1:
        from rue.io.members import joined  # which few commands need

        belief = joined(read)
    if isinstance(belief, Run):
        return belief if name is None else replace(belief, method=name)
    belief = _with_draws_noted(belief, files)
    return belief if name is None else belief.with_method(name)


def _with_draws_noted(belief: Belief, files: Sequence[str] = ()) -> Belief:
    """Return predictions with a note for draws that are the same as an earlier one everywhere."""
    arrays, n_draws = belief.arrays().values(), belief.n_draws or 0
    labels = files if len(files) == n_draws else [f"draw {d + 1}" for d in range(n_draws)]
    pairs = []
    for later in range(1, n_draws):
        for earlier in range(later):
            if all(same_rows(array[:, earlier], array[:, later]) for array in arrays):
                pairs.append(f"{labels[later]} and {labels[earlier]}")
                break
    if not pairs:
        return belief
    shown = ", ".join(pairs[:3]) + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else "")
    note = f"{belief.source}: predictions of {shown} are identical"
    return belief.with_source(belief.source, notes=(note,))


def same_rows(first: Any, second: Any, here: Any = slice(None), there: Any = slice(None)) -> bool:
    """Whether two arrays have the same rows, in these orders; most differ in the first ones."""
    if first.shape != second.shape:
        return False
    few = slice(0, _LOOKED_AT)
    if isinstance(here, slice) and not np.array_equal(first[few], second[few]):
        return False
    return bool(np.array_equal(first[here], second[there]))


def predictions_of(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    matching: Matching = BY_NAME,
    order: Order = "given",
) -> Belief:
    """Return the belief that the named arrays of a file hold, and their answers as its truth."""
    notes: tuple[str, ...] = ()
    if matching.positive is not None:
        arrays, notes = of_both_classes(path, arrays, matching.positive, matching)
    if "sampled_labels" in arrays and arrays["sampled_labels"].dtype.kind == "b":
        arrays = {**arrays, "sampled_labels": arrays["sampled_labels"].astype(np.str_)}
    if matching.choices is not None:
        arrays, note = with_choices(path, arrays, matching.choices)
        notes = (note,)
    kinds = [kind for kind in KINDS if kind in arrays]
    if matching.normalize and matching.positive is None:
        arrays, sums = normalized(path, arrays)
        notes = (*notes, *sums)
    real = real_kind(arrays) if kinds in ([], ["alpha"]) else None
    try:
        belief: Belief
        if real is not None:
            belief = real_belief(path, arrays, real)
            ids = ids_of(path, arrays, len(belief), matching.id_name)
            own = {"counts", "values", "ratings", "range"}
        else:
            belief, ids = _about_classes(path, arrays, kinds, matching, order)
            own = {"counts", "values", "classes"}
        belief = belief.with_ids(ids).with_actions(arrays.get("actions"))
    except InputError as error:
        raise with_advice(error, _NOT_NORMALIZED).about(path) from None
    belief = belief.with_source(str(path), groups=group_columns(arrays, len(belief)), notes=notes)
    belief = in_stated_order(belief, matching.classes).with_method(method_name(arrays))
    own = own & arrays.keys()
    answers = answers_of_arrays(path, {name: arrays[name] for name in own}) if own else None
    if answers is None:
        return belief
    if answers.n_points != len(belief):
        raise FileError(
            f"{path}: has predictions of {len(belief):,} points but answers about "
            f"{answers.n_points:,}"
        )
    answers = as_stated(replace(answers, ids=belief.ids, order=order), matching)
    return belief._with(truth=truth_of_answers(answers, matching.classes))


def _about_classes(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    kinds: list[str],
    matching: Matching,
    order: Order,
) -> tuple[ClassBelief, NDArray[np.str_] | None]:
    """Return what arrays of these kinds say about classes, and the names of the points."""
    if kinds[:2] == ["probs", "logits"]:
        kinds.remove("logits")
    if len(kinds) != 1:
        raise FileError(
            f"{path}: must hold one of probs, logits, alpha or sampled_labels (for real numbers "
            f"mean and sd, samples, or mu, nu, alpha and beta), got {', '.join(arrays)[:200]}"
        )
    kind, array = kinds[0], arrays[kinds[0]]
    names: Sequence[str] | None = None
    if kind == "sampled_labels":
        class_names = arrays["classes"].tolist() if "classes" in arrays else matching.classes
        belief: ClassBelief = sampled_labels(array, class_names)
    else:
        belief = _belief_of(kind, array)
        names = matching.classes
        if "classes" in arrays:
            names = checked_classes(path, arrays["classes"], belief.n_classes)
        elif names is not None and len(names) != belief.n_classes:
            raise FileError(
                f"{path}: has {belief.n_classes} columns, and {len(names)} classes are named for it"
            )
    if "epistemic" in arrays:
        single = array.ndim == 2 and kind == "probs"  # taken as it is, to the bit
        probs = array if single else belief.mean()
        belief = Scored(probs, arrays["epistemic"])._with(outcomes=belief.outcomes)
    values = as_vector("values", arrays["values"]) if "values" in arrays else None
    if names is not None or values is not None:
        stated = names or belief.outcomes.names or belief.n_classes
        belief = belief._with(outcomes=Classes(stated, values, order=order))
    return belief, _ids(path, arrays, kind, array, matching)


def method_name(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the method's name, where the file says it: a word, or a column of the same word."""
    cells = arrays.get("method", np.zeros(0)).ravel().tolist()
    words = {cell for cell in cells if isinstance(cell, str)}
    return words.pop() if len(words) == 1 else ""


def _ids(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    kind: str,
    array: NDArray[Any],
    matching: Matching,
) -> NDArray[np.str_] | None:
    """Return the ids; where their number is that of the second axis, blame the axes."""
    for key in ("id", "ids", matching.id_name or "id"):
        if key in arrays and arrays[key].ndim != 1:
            raise FileError(f"{path}: {key} must have one axis, got shape {arrays[key].shape}")
    names = {k: v for k, v in arrays.items() if v.ndim == 1}
    name = find_id_name(path, list(names), matching.id_name)
    n_ids = None if name is None else arrays[name].size
    if array.ndim == 3 and n_ids == array.shape[1] != len(array):
        raise FileError(f"{path}: {draws_first(kind, array.shape, array.shape[1])}")
    return ids_of(path, names, len(array), matching.id_name)


def _belief_of(kind: str, array: NDArray[Any]) -> ClassBelief:
    """Return the belief of an array of probs, logits or alpha; raise if it is none."""
    if kind == "alpha":
        return Dirichlet(array)
    if array.ndim not in (2, 3):
        raise ShapeError(
            f"{kind} must have shape (n_points, n_draws, n_classes) or (n_points, n_classes), "
            f"got {array.shape}"
        )
    array = from_logits(array) if kind == "logits" else array
    return Draws(array if array.ndim == 3 else array[:, None, :])

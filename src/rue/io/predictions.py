"""Prediction files: what a model says about each point.

A prediction file is ``.npz``, JSON lines (whatever the file is called), ``.csv`` or ``.parquet``:

- Array files hold ``probs`` or ``logits``, (n, draws, k) or (n, k), ``alpha`` (n, k), or
  ``sampled_labels``, (n, n_answers) or (n, draws, n_answers); if a file has both, ``probs`` is used
  over ``logits``. Optional are ``epistemic`` (n), ``actions``, ``values``, ``classes`` (k names),
  ``ids``, ``counts`` and ``method``, a word. Any other array of length n is a column to group by.
- For real-valued outcomes they hold ``mean`` and ``sd``, ``samples``, or ``mu``, ``nu``, ``alpha``
  and ``beta`` instead, and ``ratings`` in place of ``counts``: see :mod:`rue.io.real_values`.
- A JSON line is one point, or one draw of it: see :mod:`rue.io.json_lines`.
- A table is wide or long: see :mod:`rue.io.tables`. One with the columns ``aleatoric``,
  ``epistemic``, ``risk`` and ``regret`` holds components already computed.

Pickled arrays are refused.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import as_vector, require_finite, require_shape
from rue.beliefs import Belief, ClassBelief, Dirichlet, Draws, Scored
from rue.beliefs.sampled_labels import sampled_labels
from rue.components import Run
from rue.errors import AlignmentError, FileError, InputError, ShapeError
from rue.io.answer_rows import Order
from rue.io.answers import answers_of_arrays, as_stated, group_columns, span, truth_of_answers
from rue.io.belief_tables import BELIEF_ARRAYS, belief_arrays, method_column, real_kind
from rue.io.choices import require_labels, with_choices
from rue.io.components import Estimates, components_of, estimates_of, is_component_table
from rue.io.files import Frame, plain_name, read_frame
from rue.io.names import (
    BY_NAME,
    Matching,
    checked_classes,
    find_id_name,
    ids_of,
    in_stated_order,
    unused_note,
)
from rue.io.real_values import real_belief
from rue.losses import Classes
from rue.losses.outcomes import written_name

_LOOKED_AT = 256  # rows, before all are compared


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
    return _read_frame(_frame(path, matching), matching)


def read_file(path: str | Path, *, matching: Matching = BY_NAME) -> list[Belief | Run]:
    """Read a prediction file, which may hold several methods: one for each."""
    frame = _frame(path, matching)
    column = method_column(frame) if frame.is_table else None
    if column is None or is_component_table(frame):
        return [_with_draws_noted(_read_frame(frame, matching))]
    words = frame.columns[column].words
    methods: list[Belief | Run] = []
    for name in dict.fromkeys(words.tolist()):
        part = frame.at(np.flatnonzero(words == name))
        part = replace(part, columns={n: c for n, c in part.columns.items() if n != column})
        read = _with_draws_noted(_read_frame(part, matching))
        assert not isinstance(read, Run)
        methods.append(read.with_method(name))
    return methods


def _frame(path: str | Path, matching: Matching) -> Frame:
    return read_frame(
        path,
        names=[name for name in (matching.id_name, *(matching.classes or ())) if name],
        arrays=BELIEF_ARRAYS,
        max_memory=matching.max_memory,
    )


def _with_draws_noted(read: Belief | Run, files: Sequence[str] = ()) -> Belief | Run:
    """Return predictions with a note where draws are identical."""
    if isinstance(read, Run):
        return read
    return read.with_source(read.source, notes=_repeated_draws(read, files))


def _read_frame(frame: Frame, matching: Matching) -> Belief | Run:
    """Return the predictions, of one method, in a frame."""
    if not frame.is_table:
        if "sampled_labels" in frame.arrays and not (matching.choices or matching.classes):
            require_labels(frame.path, frame.arrays, frame.notes)
        belief = predictions_of(frame.path, frame.arrays, matching)
        return _noted(belief, frame, (*belief.groups, *frame.unused), matching)
    if is_component_table(frame):
        return components_of(frame, matching)
    table = belief_arrays(frame, matching)
    if "sampled_labels" in table.arrays and not (matching.choices or matching.classes):
        require_labels(frame.path, table.arrays, frame.notes)
    id_name = "ids" if "ids" in table.arrays else None
    matching_ids = replace(matching, id_name=id_name)
    try:
        belief = predictions_of(frame.path, table.arrays, matching_ids, table.order)
    except FileError as error:
        names = table.arrays["classes"].tolist() if "classes" in table.arrays else []
        if "must sum to 1" not in error.message or not names or set(names) - set(frame.columns):
            raise
        raise FileError(
            f"{error.message}; the columns taken for classes are {', '.join(names)}",
            advice={"--classes": "states those that are"} | error.advice,
        ) from None
    used = {name.split(".")[0] for name in table.used if name}
    unused = [n for n in frame.columns if n not in used and plain_name(n) not in BELIEF_ARRAYS]
    return _noted(belief, frame, unused, matching, table.notes)


def _noted(
    belief: Belief,
    frame: Frame,
    unused: Iterable[str],
    matching: Matching,
    notes: Sequence[str] = (),
) -> Belief:
    """Return predictions with the notes about their file: how it was read, what was not used."""
    names = [name for name in unused if name not in matching.groups]
    more = unused_note(frame.path, names, scores=True)
    return belief.with_source(str(frame.path), notes=(*frame.notes, *notes, *more))


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
    return _method_of((_frame(path, matching) for path in paths), name, matching)


def read_points(
    paths: Sequence[Path], *, name: str | None, matching: Matching, realized: bool
) -> Belief | Estimates:
    """Read one method, or a table of components; ``realized`` requires its risk and regret."""
    if len(paths) > 1:
        method = read_method(paths, name=name, matching=matching)
    else:
        frame = _frame(paths[0], matching)
        if frame.is_table and is_component_table(frame):
            return estimates_of(frame, matching, realized=realized)
        method = _method_of([frame], name, matching)
    assert isinstance(method, Belief)  # several files never hold components
    return method


def _method_of(frames: Iterable[Frame], name: str | None, matching: Matching) -> Belief | Run:
    """Return one method from the frames of its files."""
    files, read = [], []
    for frame in frames:
        files.append(frame.path.name)
        read.append(_read_frame(frame, matching))
    belief = read[0]
    if len(read) > 1:
        from rue.io.members import joined  # which few commands need

        belief = joined(read)
    belief = _with_draws_noted(belief, files)
    if name is None:
        return belief
    if isinstance(belief, Run):
        return replace(belief, method=name)
    return belief.with_method(name)


def _repeated_draws(belief: Belief, files: Sequence[str]) -> tuple[str, ...]:
    """Return a note for draws that are the same as an earlier one for every point."""
    arrays, n_draws = belief.arrays().values(), belief.n_draws
    if n_draws is None:
        return ()
    labels = [f"draw {d + 1}" for d in range(n_draws)] if len(files) != n_draws else list(files)
    pairs = []
    for later in range(1, n_draws):
        for earlier in range(later):
            if all(_same_rows(array[:, earlier], array[:, later]) for array in arrays):
                pairs.append(f"{labels[later]} and {labels[earlier]}")
                break
    if not pairs:
        return ()
    shown = ", ".join(pairs[:3]) + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else "")
    return (f"{belief.source}: predictions of {shown} are identical",)


def noted_twins(methods: Sequence[Belief | Run]) -> list[Belief | Run]:
    """Return methods, with a note for each that predicts the same as an earlier one."""
    noted: list[Belief | Run] = []
    for method in methods:
        twin = next((one for one in methods[: len(noted)] if _same_belief(one, method)), None)
        if twin is not None and not isinstance(method, Run):
            note = f"{method.source}: its predictions are identical to those of {twin.source}"
            method = method.with_source(method.source, notes=(note,))
        noted.append(method)
    return noted


def _same_belief(one: Belief | Run, other: Belief | Run) -> bool:
    """Whether two methods hold the same numbers about the same points."""
    if isinstance(one, Run) or isinstance(other, Run):
        return False
    if type(one) is not type(other) or len(one) != len(other) or one.outcomes != other.outcomes:
        return False
    rows: list[Any] = [slice(None), slice(None)]
    if one.ids is not None and other.ids is not None:
        rows = [np.argsort(one.ids), np.argsort(other.ids)]
        if not np.array_equal(one.ids[rows[0]], other.ids[rows[1]]):
            return False
    names = [each.name for each in fields(one)]  # type: ignore[arg-type]
    return all(
        _same_rows(getattr(one, name), getattr(other, name), rows[0], rows[1]) for name in names
    )


def _same_rows(first: Any, second: Any, here: Any = slice(None), there: Any = slice(None)) -> bool:
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
        arrays, notes = _of_both_classes(path, arrays, matching.positive, matching)
    if "sampled_labels" in arrays and arrays["sampled_labels"].dtype.kind == "b":
        arrays = {**arrays, "sampled_labels": arrays["sampled_labels"].astype(np.str_)}
    if matching.choices is not None:
        arrays, note = with_choices(path, arrays, matching.choices)
        notes = (note,)
    kinds = [kind for kind in ("probs", "logits", "alpha", "sampled_labels") if kind in arrays]
    if matching.normalize and matching.positive is None:
        arrays, notes = _normalized(path, arrays)
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
    except FileError:
        raise
    except AlignmentError as error:
        raise AlignmentError(f"{path}: {error.message}", advice=error.advice) from None
    except InputError as error:
        if "must sum to 1" not in error.message:
            raise error.about(path) from None
        advice = {"--normalize": "divides probabilities, such as percentages, by their sum"}
        raise FileError(error.about(path).message, advice=advice | error.advice) from None
    belief = belief.with_source(str(path), groups=group_columns(arrays, len(belief)), notes=notes)
    belief = in_stated_order(belief, matching.classes).with_method(_method(arrays) or "")
    answers = answers_of_arrays(path, {name: arrays[name] for name in arrays if name in own})
    if answers is None:
        return belief
    if answers.n_points != len(belief):
        raise FileError(
            f"{path}: has predictions of {len(belief):,} points but answers about "
            f"{answers.n_points:,}"
        )
    answers = as_stated(replace(answers, ids=belief.ids, order=order), matching)
    return belief._with(truth=truth_of_answers(answers, matching.classes))


def _normalized(
    path: Path, arrays: Mapping[str, NDArray[Any]]
) -> tuple[Mapping[str, NDArray[Any]], tuple[str, ...]]:
    """Return arrays with probabilities that sum to 1, and a note about their sums."""
    probs = arrays.get("probs")
    if probs is None or probs.dtype.kind not in "fiu" or probs.ndim not in (2, 3):
        return arrays, ()
    sums = probs.astype(np.float64).sum(axis=-1, keepdims=True)
    if (probs < 0).any():
        row = int(np.argwhere(probs < 0)[0][0])
        raise FileError(
            f"{path}: probabilities must not be negative, got {probs[probs < 0][0]:g} at row "
            f"{row}; write log probabilities under the name logits"
        )
    if not (np.isfinite(sums) & (sums > 0)).all():
        row = int(np.argwhere(~(np.isfinite(sums) & (sums > 0)))[0][0])
        raise FileError(f"{path}: probabilities must have a positive sum, not at row {row}")
    names = arrays["classes"].tolist() if "classes" in arrays else []
    of = f" of {', '.join(map(str, names[:8]))}{', ...' if len(names) > 8 else ''}" if names else ""
    note = f"{path}: probabilities{of} were divided by their sums, {span(sums)}"
    return {**arrays, "probs": probs / sums}, (note,)


def _of_both_classes(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    positive: str,
    matching: Matching,
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return arrays of two classes from one number per point (and draw) about the positive one."""
    kind = "probs" if "probs" in arrays else "logits"
    array = arrays.get(kind)
    if array is None or array.ndim > 2 or array.dtype.kind not in "fiu" or "classes" in arrays:
        got = "classes" if "classes" in arrays else ", ".join(arrays)[:120]
        raise FileError(
            f"{path}: with positive={positive!r} it must hold probs or logits of shape (n_points,) "
            f"or (n_points, n_draws), got {got if array is None else array.shape}"
        )
    notes: tuple[str, ...] = ()
    if kind == "probs" and matching.normalize and (array > 1).any() and (array <= 100).all():
        array = array / 100
        notes = (f"{path}: percentages of {positive!r} were divided by 100",)
    if kind == "probs" and not ((array >= 0) & (array <= 1)).all():
        row = int(np.argwhere(~((array >= 0) & (array <= 1)))[0][0])
        raise FileError(
            f"{path}: the probability of {positive!r} must be between 0 and 1, got "
            f"{np.ravel(array[row])[0]:g} at row {row}",
            advice={"--normalize": "divides percentages by 100"},
        )
    numbers = array.astype(np.float64)
    other = 1 - numbers if kind == "probs" else np.zeros_like(numbers)
    others = [name for name in matching.classes or () if written_name(name) != positive]
    names = [others[0] if len(others) == 1 else f"not {positive}", positive]
    both = {kind: np.stack([other, numbers], axis=-1), "classes": np.array(names)}
    return {**arrays, **both}, notes


def draws_first(kind: str, shape: tuple[int, ...], n_points: int) -> str:
    """Say that an array has its draws first."""
    return (
        f"{kind} has shape {shape}, but there are {n_points:,} points: draws come second, "
        f"(n_points, n_draws, n_classes); give {kind}.swapaxes(0, 1)"
    )


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


def _method(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """Return the method's name, where the file says it: a word, or a column of the same word."""
    word = arrays.get("method")
    if word is not None and word.ndim == 1 and len(set(word.tolist())) == 1:
        word = word[0]
    is_name = word is not None and not np.ndim(word) and np.asarray(word).dtype.kind == "U"
    return str(word) if is_name else None


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
    if kind == "logits":
        require_shape(kind, array, "n_points", *["n_draws"] * (array.ndim - 2), "n_classes")
        if array.dtype.kind not in "fiu":
            raise InputError(f"logits must hold real numbers, got dtype {array.dtype}")
        require_finite("logits", array)
        logits = array.astype(np.float64)
        exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
        array = exp / exp.sum(axis=-1, keepdims=True)
    return Draws(array if array.ndim == 3 else array[:, None, :])

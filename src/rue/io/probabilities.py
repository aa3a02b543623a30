"""Predictions as the user says that they are.

They are probabilities of one class of two or not yet normalised, or texts that name a choice.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, require_finite, require_shape
from rue.beliefs import Belief
from rue.errors import AlignmentError, FileError, InputError
from rue.io.names import Matching
from rue.losses.outcomes import written_name
from rue.truth.base import Truth

Arrays = Mapping[str, NDArray[Any]]
_LOG = re.compile(r"a log of [\w-]+")
_LONGEST_LABEL = 40  # characters
# A choice is no part of a longer word (non-hateful) or number (-1, 0.5, 1,5).
_BEFORE = r"(?<!\w)(?<!\w[-\u2010\u2011])(?<!\d[.,])(?!(?<=[-\u2010-\u2013\u2212.,])\d)"
_AFTER = r"(?!\w|[-\u2010\u2011]\w|[.,]\d)"
# A negation is the word before or the one before that, in the same clause.
_NEGATED = re.compile(
    r"(?:\b(?:not|non|never|cannot)|n['\u2019]t)\b[^\w.,:;!?]*(?:[\w'\u2019-]+[^\w.,:;!?]+)?$", re.I
)
_ADVICE = {"--choices": "A,B,... says which answers a text may name"}


def normalized(path: Path, arrays: Arrays) -> tuple[Arrays, tuple[str, ...]]:
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


def of_both_classes(
    path: Path, arrays: Arrays, positive: str, matching: Matching
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


def from_logits(array: NDArray[Any]) -> FloatArray:
    """Return the probabilities of logits, (n_points, n_classes) or (n_points, n_draws, n_classes).

    They are exp(logit) divided by its sum over the classes.
    """
    require_shape("logits", array, "n_points", *["n_draws"] * (array.ndim - 2), "n_classes")
    if array.dtype.kind not in "fiu":
        raise InputError(f"logits must hold real numbers, got dtype {array.dtype}")
    require_finite("logits", array)
    logits = array.astype(np.float64)
    exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(exp / exp.sum(axis=-1, keepdims=True))


def span(sums: FloatArray) -> str:
    """Return the least and the largest number, for notes."""
    low, high = float(sums.min()), float(sums.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def with_choices(
    path: Path, arrays: Arrays, choices: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], str]:
    """Return arrays with the shares of texts that name each choice as ``probs``, and a note."""
    texts = arrays.get("sampled_labels")
    if texts is None or texts.dtype.kind not in "US":
        raise FileError(
            f"{path}: choices are for generated texts (sampled_labels), got {', '.join(arrays)}"
        )
    texts = texts.astype(np.str_)
    names, code = np.unique(texts, return_inverse=True)
    place = np.array([_named(str(text), choices) for text in names])[code].reshape(texts.shape)
    counts = np.stack([(place == k).sum(axis=-1) for k in range(len(choices))], axis=-1)
    silent = (counts.sum(axis=-1) == 0).reshape(len(texts), -1).any(axis=1)
    if silent.any():
        row = int(np.argmax(silent))
        name = repr(str(arrays["ids"][row])) if "ids" in arrays else f"row {row}"
        raise FileError(
            f"{path}: every point needs a text that names one of {', '.join(choices)}, "
            f"{int(silent.sum()):,} of {len(texts):,} have none, first {name} with "
            f"{str(np.ravel(texts[row])[0])[:60]!r}",
            advice={"--choices": "must list all answers; leave out the lines without one"},
        )
    n_lost = int((place < 0).sum())
    note = f"{path}: texts were read as the choice that they name"
    if n_lost:
        shown = str(texts[place < 0][0])[:40]
        note += f"; {n_lost:,} of {texts.size:,} name none or several and were left out: {shown!r}"
    probs = counts / counts.sum(axis=-1, keepdims=True)
    others = {name: array for name, array in arrays.items() if name != "sampled_labels"}
    return {**others, "probs": probs, "classes": np.array(choices)}, note


def require_labels(path: Path, arrays: Arrays, notes: Sequence[str]) -> None:
    """Raise if sampled labels are generated text rather than labels."""
    texts = arrays["sampled_labels"]
    if texts.dtype.kind != "U" or "classes" in arrays:
        return
    names = np.unique(texts)
    long = [str(text) for text in names if len(text) > _LONGEST_LABEL or "\n" in text]
    if long:
        raise FileError(
            f"{path}: looks like {_layout(notes)}, such as {long[0][:60]!r}", advice=_ADVICE
        )


def require_known_answers(belief: Belief, truth: Truth) -> tuple[str, ...]:
    """Return a note, or raise for a log, where sampled texts are no class of the truth."""
    own, names = belief.outcomes, truth.outcomes.names
    if own.names is None or names is None:
        return ()
    strange = [name for name in own.names if name not in names]
    if not strange:
        return ()
    shown = f"{strange[0][:60]!r} is an answer in {belief.source} but not in {truth.source}"
    if _LOG.search(" ".join(belief.notes)):
        raise AlignmentError(f"{shown}; this looks like {_layout(belief.notes)}", advice=_ADVICE)
    return (f"{shown}: it is taken as a class that nobody chose",)


def _layout(notes: Sequence[str]) -> str:
    log = _LOG.search(" ".join(notes))
    return "generated text" if log is None else f"{log.group()} of generated text"


def _named(text: str, choices: Sequence[str]) -> int:
    """Return the place of the choice that a text names; -1 if it names none or several."""
    text = " ".join(text.split())
    own = [" ".join(choice.split()) for choice in choices]
    plain = [choice.casefold() for choice in own]
    if text.casefold() in plain:
        return plain.index(text.casefold())
    # A single letter is a choice only as it is written: "a" is an article.
    words = sorted(own, key=len, reverse=True)
    parts = [re.escape(w) if len(w) == 1 else f"(?i:{re.escape(w)})" for w in words]
    mentions = list(re.finditer(f"{_BEFORE}(?:{'|'.join(parts)}){_AFTER}", text))
    if any(_NEGATED.search(text[: mention.start()]) for mention in mentions):
        return -1
    named = {plain.index(mention.group().casefold()) for mention in mentions}
    return named.pop() if len(named) == 1 else -1

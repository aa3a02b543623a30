"""Hugging Face: what a Trainer passes to ``compute_metrics`` as a row of the evaluation."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from rue._arrays import require_one_of
from rue.beliefs import Draws
from rue.errors import InputError, ShapeError
from rue.losses import Loss, get_loss
from rue.metrics.columns import EVALUATED
from rue.metrics.evaluation import evaluate
from rue.truth.annotations import Annotations

__all__ = ["LabelKind", "compute_metrics"]

LabelKind = Literal["shares", "counts", "answers"]
"""What the labels of a Trainer are: shares of classes, counts of them, or lists of answers."""

_PADDING = -100  # what collators of transformers fill labels up with
_COLUMNS = ("n_aurec", "aurec", "aurc", "risk", "regret", "n_aurec_total")


def compute_metrics(
    classes: Sequence[str] | None = None,
    *,
    loss: str | Loss = "log",
    labels: LabelKind | None = None,
    columns: Sequence[str] = _COLUMNS,
) -> Callable[[Any], dict[str, float]]:
    """Return a function for ``Trainer(compute_metrics=...)`` whose labels are several answers.

    The logits of the model become one distribution per point, or draws if they have the shape
    (n_points, n_draws, n_classes). Give the Trainer ``label_names`` if the labels are called
    otherwise than ``labels``.

    Parameters
    ----------
    classes : sequence of str, optional
        The names of the classes in the order of the logits; their number is checked.
    loss : str or Loss
        As in :func:`rue.evaluate`.
    labels : {"shares", "counts", "answers"}, optional
        What the labels are: the share of annotators who chose each class, how many did, or the
        number of the class of each answer, filled up with -100. By default decimal numbers are
        shares, whole numbers filled up with -100 are answers, and one whole number per point is
        one answer.
    columns : sequence of str
        The columns of :class:`rue.Evaluation` to return.

    Returns
    -------
    callable
        From an ``EvalPrediction`` to a number for each column that is defined.

    Raises
    ------
    InputError
        If a column is unknown; the function itself raises if labels and logits do not fit.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> metrics = compute_metrics(["no", "yes"], loss="brier", columns=["regret"])
    >>> logits = np.log([[0.9, 0.1], [0.5, 0.5]])
    >>> shares = np.array([[0.9, 0.1], [0.3, 0.7]])
    >>> numbers = metrics(SimpleNamespace(predictions=logits, label_ids=shares))
    >>> round(numbers["regret"], 6)
    0.04
    """
    unknown = next((key for key in columns if key not in EVALUATED), None)
    if unknown is not None:
        raise InputError(f"columns must be some of {', '.join(EVALUATED)}, got {unknown!r}")
    if labels is not None:
        require_one_of("labels", labels, get_args(LabelKind))
    get_loss(loss)  # raises if it is invalid

    def metrics(prediction: Any) -> dict[str, float]:
        logits = prediction.predictions
        logits = np.asarray(logits[0] if isinstance(logits, tuple) else logits, np.float64)
        if logits.ndim not in (2, 3) or (classes and logits.shape[-1] != len(classes)):
            raise ShapeError(
                "predictions must be logits of shape (n_points, n_classes) or (n_points, n_draws, "
                f"n_classes){f' of {len(classes)} classes' if classes else ''}, got {logits.shape}"
            )
        probs = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probs /= probs.sum(axis=-1, keepdims=True)
        belief = Draws(probs if probs.ndim == 3 else probs[:, None], classes=classes)
        answers = prediction.label_ids
        answers = np.asarray(answers[0] if isinstance(answers, tuple) else answers)
        truth = _truth(answers, belief.n_classes, labels)
        if classes is not None:
            truth = truth.with_classes(list(classes))
        row = evaluate(truth, belief, loss, gap="pareto_gap" in columns, references=False)
        numbers = {key: row.numbers[key] for key in columns}
        return {key: number for key, number in numbers.items() if math.isfinite(number)}

    return metrics


def _truth(labels: Any, n_classes: int, kind: LabelKind | None) -> Annotations:
    """Return the labels of a Trainer as annotations."""
    decimal = labels.dtype.kind == "f" and bool((labels % 1 != 0).any())
    if kind is None and (decimal or (labels.dtype.kind == "f" and labels.ndim == 2)):
        kind = "shares"
    elif kind is None and (labels.ndim == 1 or (labels == _PADDING).any()):
        kind = "answers"
    if kind is None:
        raise InputError(
            f"labels of shape {labels.shape} may be counts or lists of answers: give "
            'labels="counts" or labels="answers"'
        )
    if kind == "shares":
        return Annotations.from_probs(labels)
    if kind == "counts":
        return Annotations(labels)
    table = labels[:, None] if labels.ndim == 1 else labels
    counts = np.zeros((len(table), n_classes))
    there = table != _PADDING
    wrong = there & ((table < 0) | (table >= n_classes))
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise InputError(f"labels must be classes from 0 to {n_classes - 1}, not at row {row}")
    rows = np.broadcast_to(np.arange(len(table))[:, None], table.shape)
    np.add.at(counts, (rows[there], table[there].astype(np.int64)), 1)
    return Annotations(counts)

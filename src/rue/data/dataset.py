"""DataSet: inputs, the answers of annotators about them, and the splits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, IntArray, as_array, require_finite, require_shape
from rue.data.images import LazyImages
from rue.data.splits import Splits
from rue.errors import InputError, ShapeError
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

if TYPE_CHECKING:
    from rue.beliefs import Belief

TaskKind = Literal["text", "image", "tabular", "features", "ood"]
"""What the inputs of a data set are."""
Split = Literal["all", "train", "validation", "test"]
"""A part of a data set, or all of it."""
SPLITS: tuple[Literal["train", "validation", "test"], ...] = ("train", "validation", "test")
Inputs = NDArray[Any] | LazyImages

_NONE = np.zeros(0, np.int64)


class Labelling(TypedDict, total=False):
    """What a prediction file says about its points, besides the predictions."""

    ids: NDArray[np.str_]
    values: FloatArray
    annotations: Annotations | Ratings | None
    classes: tuple[str, ...] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class DataSet:
    """One data set, ready to train on and to evaluate on.

    Attributes
    ----------
    name, task
        Its name in the registry, and what the inputs are.
    inputs
        Texts (object array of str), images (uint8, (n, height, width, channels), or
        :class:`~rue.data.images.LazyImages`), or a feature matrix (n, n_features).
    ids
        One name per input: a row number, a file name or a snippet's id.
    class_names, values
        The K classes, and the number that each stands for (0..K-1 where they have no scale).
    train, validation, test
        Disjoint indices into ``inputs``.
    annotations, annotated
        The answers of annotators, and their inputs: row i of ``annotations`` is about
        ``inputs[annotated[i]]``. None and empty where nobody was asked.
    ratings
        Real-valued answers in the place of ``annotations``; then there are no classes. None where
        answers are classes.
    labels
        One class per input where that is what training uses, else None.
    ood
        Further inputs from elsewhere, by name.
    extras
        Further columns, one value per input.
    licence, citation, checksums, notes
        Where it comes from: the SHA-256 of the content of each file that was read, and what
        the loader left out or changed.
    """

    name: str
    task: TaskKind
    inputs: Inputs
    ids: NDArray[np.str_]
    class_names: tuple[str, ...]
    train: IntArray
    validation: IntArray
    test: IntArray
    annotations: Annotations | None = None
    annotated: IntArray = field(default_factory=_NONE.copy)
    ratings: Ratings | None = None
    labels: IntArray | None = None
    values: FloatArray
    ood: Mapping[str, Inputs] = field(default_factory=dict)
    extras: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    licence: str
    citation: str
    checksums: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n_inputs = len(self.inputs)
        columns: dict[str, Sequence[Any] | NDArray[Any]] = {"ids": self.ids, **self.extras}
        if self.labels is not None:
            columns["labels"] = self.labels
        for name, column in columns.items():
            if len(column) != n_inputs:
                raise ShapeError(f"{name} must have {n_inputs} entries, got {len(column)}")
        if self.annotations is not None and self.ratings is not None:
            raise InputError("give annotations or ratings, not both")
        answers = self.ratings if self.annotations is None else self.annotations
        n_annotated = 0 if answers is None else len(answers)
        if len(self.annotated) != n_annotated:
            raise ShapeError(f"annotated must name {n_annotated} points, got {len(self.annotated)}")
        # A loader may hand out arrays of its module, so nobody may write to them.
        for name in ("values", "labels", "annotated", *SPLITS):
            array = getattr(self, name)
            if array is not None:
                array = array.view()
                array.setflags(write=False)
                object.__setattr__(self, name, array)
        for name in ("ood", "extras", "checksums"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 if answers are real numbers."""
        return len(self.class_names)

    @property
    def n_annotators(self) -> FloatArray:
        """The number of annotators of each annotated point; infinity where p* is known."""
        if self.ratings is not None:
            return self.ratings.n_annotators
        return np.zeros(0) if self.annotations is None else self.annotations.n_annotators

    def part(self, split: Split) -> DataSet:
        """Keep the points of one split; the other two become empty."""
        if split == "all":
            return self
        if split not in SPLITS:
            raise InputError(f"split must be one of all, {', '.join(SPLITS)}, got {split!r}")
        keep: IntArray = getattr(self, split)
        row_of = np.full(len(self), -1)
        row_of[self.annotated] = np.arange(len(self.annotated))
        rows = row_of[keep]
        annotated = np.flatnonzero(rows >= 0)
        splits = Splits(train=_NONE, validation=_NONE, test=_NONE)
        splits[split] = np.arange(len(keep))
        return replace(
            self,
            inputs=self.inputs[keep],
            ids=self.ids[keep],
            labels=None if self.labels is None else self.labels[keep],
            extras={name: column[keep] for name, column in self.extras.items()},
            annotations=_rows(self.annotations, rows[annotated]),
            ratings=_rows(self.ratings, rows[annotated]),
            annotated=annotated,
            **splits,
        )

    def targets(self) -> FloatArray:
        """Return the distribution to train on, shape (n, n_classes).

        Single labels, one-hot, where the data set has them; else p*. A point that has neither
        is an error.
        """
        self._require_classes()
        if self.labels is not None:
            return np.eye(self.n_classes)[self.labels]
        if self.annotations is None or len(self.annotated) < len(self):
            raise InputError(f"{self.name} has points with neither a label nor an annotation")
        targets = np.empty((len(self), self.n_classes))
        targets[self.annotated] = self.annotations.probs
        return targets

    def counts(self) -> FloatArray:
        """Return how often each answer was given, for methods that learn from replicates.

        Replicates are several answers about the same input.

        Returns
        -------
        array (n, n_classes)
            Whole numbers; every row has at least one answer.

        Raises
        ------
        InputError
            If a point has no answers, if the exact distributions are known instead of answers,
            or if no point has more than one.

        Examples
        --------
        >>> import rue.data
        >>> made = rue.data.load("random-rbf", n_points=10)
        >>> made.counts()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        rue.errors.InputError: random-rbf has no replicates: its annotations are exact ...
        """
        self._require_classes()
        wrong = None
        if self.annotations is None:
            wrong = "every point has one label"
        elif len(self.annotated) < len(self):
            row = int(np.argmin(np.isin(np.arange(len(self)), self.annotated)))
            wrong = f"point {self.ids[row]} has no answers"
        elif self.annotations.counts is None:
            wrong = "its annotations are exact distributions"
        elif len(self) and self.annotations.counts.sum(axis=1).max() < 2:
            wrong = "every point has one answer"
        if wrong is not None or self.annotations is None or self.annotations.counts is None:
            raise InputError(
                f"{self.name} has no replicates: {wrong}, and this method learns from several "
                "answers per training input; use a method that learns from labels"
            )
        counts = np.empty((len(self), self.n_classes))
        counts[self.annotated] = self.annotations.counts
        return counts

    def truth(self) -> Annotations:
        """Return the truth for evaluation: the answers about all points, or else the labels.

        One label is taken as the whole truth, p* one-hot. Its Bayes risk is 0, so all of the loss
        counts as regret, including the part that is unavoidable.
        """
        self._require_classes()
        if self.annotations is not None and len(self.annotated) == len(self):
            probs = np.empty((len(self), self.n_classes))
            probs[self.annotated] = self.annotations.probs
        elif self.labels is not None:
            probs = np.eye(self.n_classes)[self.labels]
        else:
            raise InputError(f"{self.name} has points with neither a label nor an annotation")
        return Annotations.from_probs(probs, self.values)

    def labelling(self) -> Labelling:
        """Return the ids and classes for a prediction file, as keyword arguments.

        Annotations are included if every point has some.
        """
        order = np.argsort(self.annotated)
        complete = len(order) == len(self)
        if self.ratings is not None:
            return {"ids": self.ids, "annotations": self.ratings[order] if complete else None}
        return {
            "ids": self.ids,
            "values": self.values,
            "annotations": _rows(self.annotations, order) if complete else None,
            "classes": self.class_names or None,
        }

    def save_predictions(
        self, path: str | os.PathLike[str], belief: Belief, *, method: str | None = None
    ) -> None:
        """Write a belief about the points of this part; see :func:`rue.save_predictions`."""
        from rue.io.saving import save_predictions

        save_predictions(path, belief, **self.labelling(), method=method)

    def with_inputs(self, inputs: ArrayLike, ood: Mapping[str, Inputs] | None = None) -> DataSet:
        """Return the data set with features, one row per point, instead of its inputs."""
        matrix = np.asarray(inputs)
        if matrix.ndim != 2 or len(matrix) != len(self):
            raise ShapeError(
                f"features must have shape ({len(self)}, n_features), got {matrix.shape}"
            )
        return replace(self, inputs=matrix, task="features", ood=self.ood if ood is None else ood)

    def as_ratings(self) -> DataSet:
        """Return the data set with counts on a scale as real-valued answers.

        Returns
        -------
        DataSet
            Of the same points, with ``ratings`` and without classes; itself if it has them already.

        Raises
        ------
        InputError
            If there are no counts of annotators' answers.
        """
        if self.ratings is not None:
            return self
        if self.annotations is None or self.annotations.counts is None:
            raise InputError(f"{self.name} has no counted answers to take as ratings")
        ratings = Ratings.from_counts(self.annotations.counts, self.values)
        return replace(
            self, annotations=None, ratings=ratings, labels=None, class_names=(), values=np.zeros(0)
        )

    def _require_classes(self) -> None:
        if self.ratings is not None:
            raise InputError(f"{self.name} has real-valued answers (ratings), not classes")


def count(n: int, noun: str) -> str:
    """Return a number with its noun: 1 face, 2 faces."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{n:,} {noun if n == 1 else plural}"


def counted(*facts: tuple[int, str, str]) -> tuple[str, ...]:
    """Return a note on each number above 0: how many of what, and what became of them."""
    return tuple(f"{count(int(n), noun)} {fate}" for n, noun, fate in facts if n > 0)


def as_inputs(inputs: Inputs | ArrayLike) -> np.ndarray:
    """Take a finite matrix, or images as bytes (n, height, width, channels), all of one size."""
    if isinstance(inputs, LazyImages):
        if len(inputs) == 0:
            raise ShapeError("inputs must have at least one of n_points, got no images")
        images = [inputs[row] for row in range(len(inputs))]
        sizes = {image.shape for image in images}
        if len(sizes) > 1:
            raise ShapeError(f"images must have one size, got {sorted(sizes)[:2]}: load with size=")
        return np.stack(images)
    array = as_array("inputs", inputs)
    if array.ndim == 4 and array.dtype == np.uint8:
        require_shape("inputs", array, "n_points", "height", "width", "channels")
        return array
    if array.ndim != 2:
        raise ShapeError(
            "inputs must be a matrix (n_points, n_features) or bytes (n_points, height, width, "
            f"channels), got {array.dtype} of shape {array.shape}"
        )
    require_shape("inputs", array, "n_points", "n_features")
    with np.errstate(over="ignore"):
        single = np.asarray(array, dtype=np.float32)
    require_finite("inputs in float32", single)
    return single


_Answers = TypeVar("_Answers", Annotations, Ratings)


def _rows(answers: _Answers | None, rows: IntArray) -> _Answers | None:
    return None if answers is None or len(rows) == 0 else answers[rows]

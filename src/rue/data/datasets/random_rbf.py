"""Random RBF: synthetic data of any size whose p* is known exactly, and OpenML's draw of them.

The family of OpenML 156 and of river's ``synth.RandomRBF``: weighted centroids, each with a
class; a point lies off its centroid in a random direction, by a Gaussian radius.

OpenML 156 (RandomRBF_0_0) is one fixed draw, a million points of 10 numbers and 5 classes, for
active learning; its p* is not published. The file is OpenML's ARFF, a header of attributes and then
a line of comma-separated values for each point.
"""

import csv
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from rue._arrays import FloatArray, IntArray, require_whole
from rue._text import one_line
from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, make_data_set
from rue.data.files import Reader
from rue.data.splits import N_FOLDS, rotate
from rue.errors import FileError, ShapeError
from rue.io.atomic import sha256
from rue.truth.annotations import Annotations

PLACES = ("openml-156/RandomRBF_0_0.arff", "openml-156/dataset.arff")
N_FEATURES, N_CLASSES, N_ROWS = 10, 5, 1_000_000
# What OpenML publishes about the whole file: its largest and its smallest class.
_MOST, _FEWEST = 300_096, 92_713


@dataclass(frozen=True, eq=False)
class RandomRBF:
    """Centroids, shape (n_centroids, n_features), with a weight, a width and a class each."""

    centers: FloatArray
    weights: FloatArray
    widths: FloatArray
    classes: IntArray
    n_classes: int

    def sample(self, n_points: int, *, seed: int = 0) -> tuple[FloatArray, IntArray]:
        """Draw points, (n_points, n_features), and the class of the centroid of each."""
        rng = np.random.default_rng(seed)
        d = self.centers.shape[1]
        chosen = rng.choice(len(self.weights), size=n_points, p=self.weights / self.weights.sum())
        directions = rng.uniform(-1.0, 1.0, (n_points, d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        radii = rng.standard_normal(n_points) * self.widths[chosen]
        return self.centers[chosen] + radii[:, None] * directions, self.classes[chosen]

    def probs(self, points: FloatArray) -> FloatArray:
        """Return p*(class | point) exactly, shape (n_points, n_classes)."""
        points = np.asarray(points, dtype=np.float64)
        d = self.centers.shape[1]
        if points.ndim != 2 or points.shape[1] != d:
            raise ShapeError(f"points must have shape (n_points, {d}), got {points.shape}")
        log_density = np.empty((len(points), len(self.centers)))
        for c, (center, weight, width) in enumerate(
            zip(self.centers, self.weights, self.widths, strict=True)
        ):
            offset = np.abs(points - center)
            r = np.linalg.norm(offset, axis=1)
            # r^-(d-1) |u|_inf^-d = r |x - c|_inf^-d
            with np.errstate(divide="ignore", invalid="ignore"):
                shape = np.log(r) - d * np.log(offset.max(axis=1))
            shape = np.where(r > 0, shape, np.inf if d > 1 else 0.0)
            log_density[:, c] = np.log(weight) - np.log(width) - 0.5 * (r / width) ** 2 + shape
        top = log_density.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            density = np.where(np.isinf(top), np.isinf(log_density), np.exp(log_density - top))
        probs = density @ np.eye(self.n_classes)[self.classes]
        return np.asarray(probs / probs.sum(axis=1, keepdims=True))


def random_rbf(
    *, n_features: int = 10, n_classes: int = 5, n_centroids: int = 50, seed: int = 0
) -> RandomRBF:
    """Draw a generator: centroids in the unit cube, weights and widths uniform in (0, 1)."""
    sizes = {"n_features": n_features, "n_classes": n_classes, "n_centroids": n_centroids}
    for name, size in sizes.items():
        require_whole(name, size, least=2 if name == "n_classes" else 1)
    require_whole("seed", seed)
    rng = np.random.default_rng(seed)
    return RandomRBF(
        centers=rng.uniform(size=(n_centroids, n_features)),
        weights=1.0 - rng.uniform(size=n_centroids),  # in (0, 1]: the logarithm must exist
        widths=1.0 - rng.uniform(size=n_centroids),
        classes=rng.integers(n_classes, size=n_centroids),
        n_classes=n_classes,
    )


def load(
    reader: Reader,
    entry: Entry,
    *,
    seed: int,
    n_points: int = 10_000,
    n_features: int = 10,
    n_classes: int = 5,
    n_centroids: int = 50,
    world: int = 0,
) -> DataSet:
    """Make a data set."""
    require_whole("n_points", n_points, least=5)
    require_whole("world", world)
    model = random_rbf(
        n_features=n_features, n_classes=n_classes, n_centroids=n_centroids, seed=world
    )
    points, labels = model.sample(n_points, seed=seed)
    train, validation = (3 * n_points) // 5, (4 * n_points) // 5
    return make_data_set(
        entry,
        reader,
        inputs=points,
        labels=labels,
        ids=np.arange(n_points).astype(np.str_),
        class_names=tuple(map(str, range(n_classes))),
        annotations=Annotations.from_probs(model.probs(points)),
        train=np.arange(train),
        validation=np.arange(train, validation),
        test=np.arange(validation, n_points),
    )


def load_openml(reader: Reader, entry: Entry, *, seed: int, n_points: int | None = None) -> DataSet:
    """Load the first ``n_points`` points, by default all; row i is of fold i mod 5."""
    if n_points is not None:
        require_whole("n_points", n_points, least=N_FOLDS)
    file = reader.find(*PLACES)
    reader.note(PLACES[0], sha256(file), file)
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as handle:
        class_names = _read_header(handle, file)
        inputs, labels = _read_rows(handle, file, class_names, n_points)
    if n_points is None and reader.verify:
        _require_published(file, labels)
    if n_points is not None and len(labels) < n_points:
        raise FileError(f"{file} has {len(labels):,} points, fewer than n_points {n_points:,}")
    folds = np.arange(len(labels)) % N_FOLDS
    return make_data_set(
        entry,
        reader,
        inputs=inputs,
        labels=labels,
        ids=np.arange(len(labels)).astype(np.str_),
        class_names=class_names,
        notes=() if n_points is None else (f"the first {n_points:,} points of the file",),
        **rotate(folds, seed),
    )


def _read_header(handle: TextIO, file: Path) -> tuple[str, ...]:
    """Read the lines up to @data, and return the classes, which are the last attribute."""
    attributes: list[str] = []
    for line in islice(handle, 1_000):
        words = line.strip()
        if words.lower().startswith("@data"):
            break
        if words.lower().startswith("@attribute"):
            attributes.append(words[len("@attribute") :].strip())
    else:
        raise FileError(f"{file} is no ARFF file: no line @data among the first 1,000")
    last = attributes[-1] if attributes else ""
    opened, _, rest = last.partition("{")
    names = next(csv.reader([rest.rstrip().removesuffix("}")], quotechar="'"), [])
    class_names = tuple(name.strip() for name in names)
    numeric = [each.split()[-1].lower() in ("numeric", "real") for each in attributes[:-1]]
    if len(numeric) != N_FEATURES or not all(numeric) or not opened.strip():
        raise FileError(
            f"{file} must have {N_FEATURES} numeric attributes and then a class, "
            f"got {len(attributes)} attributes, the last {last!r}"
        )
    if len(set(class_names)) != N_CLASSES or not all(class_names):
        raise FileError(f"{file} must name {N_CLASSES} classes, got {rest!r}")
    return class_names


def _read_rows(
    handle: TextIO, file: Path, class_names: tuple[str, ...], n_points: int | None
) -> tuple[FloatArray, IntArray]:
    """Return the numbers and the class of each point; empty lines and comments are skipped."""
    class_of = {name: k for k, name in enumerate(class_names)}
    try:
        table = np.loadtxt(
            (line for line in map(str.strip, handle) if line and line[0] != "%"),
            delimiter=",",
            comments=None,
            converters={N_FEATURES: lambda word: class_of[word.strip().strip("'\"")]},
            max_rows=n_points,
            ndmin=2,
        )
    except (ValueError, KeyError) as error:
        raise FileError(
            f"{file}: a line must be {N_FEATURES} numbers and one of {', '.join(class_names)}: "
            f"{one_line(error)}"
        ) from None
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        raise FileError(f"{file}: a number of row {int(np.argmin(finite))} is not finite")
    return table[:, :N_FEATURES], table[:, N_FEATURES].astype(np.int64)


def _require_published(file: Path, labels: IntArray) -> None:
    counts = np.bincount(labels, minlength=N_CLASSES)
    if (len(labels), counts.max(), counts.min()) != (N_ROWS, _MOST, _FEWEST):
        raise FileError(
            f"{file} is not the published file, which has {N_ROWS:,} points, {_MOST:,} in the "
            f"largest class and {_FEWEST:,} in the smallest; got {len(labels):,}, "
            f"{counts.max():,} and {counts.min():,} (n_points reads a part)"
        )


ENTRIES = (
    *entries("random_rbf", load=load),
    *entries("openml_156", load=load_openml, needs=(PLACES,), checksums={PLACES[0]: None}),
)

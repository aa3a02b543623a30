"""Random RBF: synthetic data of any size whose p* is known exactly.

The family of OpenML 156 and of river's ``synth.RandomRBF``: weighted centroids, each with a
class; a point lies off its centroid in a random direction, by a Gaussian radius.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray, IntArray, require_whole
from rue.data.dataset import DataSet
from rue.data.entry import Entry, make_data_set
from rue.data.files import Reader
from rue.errors import ShapeError
from rue.truth.annotations import Annotations


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


ENTRIES = (
    Entry(
        name="random-rbf",
        task="tabular",
        n_points=10_000,
        n_classes=5,
        annotators=None,
        splits={"train": 6_000, "validation": 2_000, "test": 2_000},
        size=0,
        licence="Apache-2.0 (made by rue)",
        citation="The RandomRBF family of MOA and river; OpenML 156.",
        load=load,
    ),
)

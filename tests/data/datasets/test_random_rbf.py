"""Random RBF: the density by hand, by a naive twin, and p* by calibration."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rue.data
from rue.data.datasets.random_rbf import RandomRBF, random_rbf
from rue.errors import InputError, ShapeError


def world(**changes):
    fields = {
        "centers": np.array([[0.0, 0.0], [2.0, 0.0]]),
        "weights": np.array([1.0, 3.0]),
        "widths": np.array([1.0, 2.0]),
        "classes": np.array([0, 1]),
        "n_classes": 2,
    }
    return RandomRBF(**{**fields, **changes})


def test_by_hand():
    # x = (1, 1). From (0, 0): r^2 = 2, u = (1, 1)/sqrt 2, |u|_inf^-2 = 2,
    #   1 * exp(-2/2) / 1 * 2^-1/2 * 2 = sqrt 2 / e.
    # From (2, 0): the same r and |u|_inf, 3 * exp(-2/8) / 2 * 2^-1/2 * 2 = 3 sqrt 2 / 2 e^(-1/4).
    near, far = 1 / math.e, 1.5 * math.exp(-0.25)
    expected = np.array([near, far]) / (near + far)
    assert world().probs([[1.0, 1.0]])[0] == pytest.approx(expected)


def naive(model, x):
    d = len(x)
    density = [0.0] * model.n_classes
    for center, w, s, k in zip(
        model.centers, model.weights, model.widths, model.classes, strict=True
    ):
        r = math.dist(x, center)
        u = max(abs(a - c) / r for a, c in zip(x, center, strict=True))
        density[k] += w * math.exp(-r * r / (2 * s * s)) / s * r ** -(d - 1) * u**-d
    return [p / sum(density) for p in density]


@given(st.integers(1, 5), st.integers(2, 4), st.integers(1, 8), st.integers(0, 99))
def test_naive_twin(d, k, n_centroids, seed):
    model = random_rbf(n_features=d, n_classes=k, n_centroids=n_centroids, seed=seed)
    points, _ = model.sample(5, seed=seed)
    expected = [naive(model, x) for x in points]
    assert model.probs(points) == pytest.approx(np.array(expected), abs=1e-9)


def surprise(model, probs_of, n_points=60_000):
    """How far labels drawn with the points are from what p* says of them, in standard deviations.

    If p* is right, the sum of 1{y = k} - p*_k over any set of points chosen by their p* has mean
    0 and variance sum p*_k (1 - p*_k). The sets are ten bins of p*_k for each class; the squares
    of their z-scores add up to about chi-square.
    """
    points, labels = model.sample(n_points, seed=1)
    probs = probs_of(points)
    scores = []
    for k in range(model.n_classes):
        bins = np.minimum((10 * probs[:, k]).astype(int), 9)
        for b in range(10):
            inside = bins == b
            p, hit = probs[inside, k], labels[inside] == k
            variance = np.sum(p * (1 - p))
            if variance > 5:
                scores.append((hit - p).sum() / math.sqrt(variance))
    return (np.sum(np.square(scores)) - len(scores)) / math.sqrt(2 * len(scores))


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_calibration(d):
    model = random_rbf(n_features=d, n_classes=3, n_centroids=12, seed=d)
    assert surprise(model, model.probs) < 4


@pytest.mark.parametrize("wrong", ["own centroid only", "no cube", "no sphere"])
def test_calibration_finds_a_wrong_density(wrong):
    """The test above can fail: each part of the formula is needed."""
    model = random_rbf(n_features=3, n_classes=3, n_centroids=12, seed=3)

    def probs_of(points):
        offset = points[:, None] - model.centers
        r = np.linalg.norm(offset, axis=-1)
        u = np.abs(offset).max(axis=-1) / r
        log = np.log(model.weights / model.widths) - 0.5 * (r / model.widths) ** 2
        log = log - (0 if wrong == "no sphere" else 2 * np.log(r))
        log = log - (0 if wrong == "no cube" else 3 * np.log(u))
        if wrong == "own centroid only":
            density = (log == log.max(axis=1, keepdims=True)) * 0.98 + 0.02 / 12
        else:
            density = np.exp(log - log.max(axis=1, keepdims=True))
        probs = density @ np.eye(3)[model.classes]
        return probs / probs.sum(axis=1, keepdims=True)

    assert surprise(model, probs_of) > 10


def test_on_a_centroid_only_that_one_counts():
    assert world().probs([[0.0, 0.0], [2.0, 0.0]]).tolist() == [[1, 0], [0, 1]]
    shared = world(centers=np.zeros((2, 2)))
    assert shared.probs([[0.0, 0.0]]).tolist() == [[0.5, 0.5]]
    # In one dimension the density is an ordinary Gaussian: at the first centre,
    # 1 against 3 exp(-2^2 / 2 2^2) / 2.
    line = world(centers=np.array([[0.0], [2.0]]))
    other = 1.5 * math.exp(-0.5)
    assert line.probs([[0.0]])[0] == pytest.approx([1 / (1 + other), other / (1 + other)])


def test_far_away_does_not_underflow():
    probs = world().probs([[1e6, 0.0], [-1e6, 3.0]])
    assert probs == pytest.approx(np.array([[0, 1], [0, 1]]))  # the wider one wins


def test_load():
    data = rue.data.load("random-rbf", n_points=1000, n_features=3, n_classes=4)
    assert data.inputs.shape == (1000, 3)
    assert data.annotations.counts is None
    assert data.annotations.probs.shape == (1000, 4)
    assert (len(data.train), len(data.validation), len(data.test)) == (600, 200, 200)
    again = rue.data.load("random-rbf", n_points=1000, n_features=3, n_classes=4)
    assert (again.inputs == data.inputs).all()
    other = rue.data.load("random-rbf", n_points=1000, n_features=3, n_classes=4, seed=1)
    assert not (other.inputs == data.inputs).any()


def test_seed_draws_other_points_of_the_same_world():
    first, second = (rue.data.load("random-rbf", n_points=50, n_features=2, seed=s) for s in (0, 1))
    model = random_rbf(n_features=2)
    assert model.probs(first.inputs) == pytest.approx(first.annotations.probs)
    assert model.probs(second.inputs) == pytest.approx(second.annotations.probs)
    elsewhere = rue.data.load("random-rbf", n_points=50, n_features=2, world=1)
    assert not np.allclose(model.probs(elsewhere.inputs), elsewhere.annotations.probs)


def test_registry_facts_are_the_defaults():
    data = rue.data.load("random-rbf")
    entry = rue.data.ENTRIES["random-rbf"]
    assert (len(data), data.n_classes) == (entry.n_points, entry.n_classes)
    assert {s: len(getattr(data, s)) for s in entry.splits} == entry.splits


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_points": 4}, "n_points must be a whole number of at least 5, got 4"),
        ({"n_classes": 1}, "n_classes must be a whole number of at least 2, got 1"),
        ({"n_features": 0}, "n_features must be a whole number of at least 1, got 0"),
        ({"n_centroids": 0}, "n_centroids must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_sizes(options, message):
    with pytest.raises(InputError, match=message):
        rue.data.load("random-rbf", **options)


def test_bad_points():
    with pytest.raises(ShapeError, match=r"\(n_points, 2\), got \(3,\)"):
        world().probs(np.zeros(3))

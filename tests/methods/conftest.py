"""Small data sets made here, and one thread: two test runs side by side would fight for cores."""

import numpy as np
import pytest
import torch

from made import data_set
from rue.methods import Training

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def features():
    """423 points to train on and 200 to test; three classes, 30 answers per point."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(623, 6)).astype(np.float32) * [1, 2, 3, 1, 1, 1] + 5
    logits = (x - 5) @ rng.normal(size=(6, 3))
    probs = np.exp(logits - logits.max(axis=1, keepdims=True))
    probs = probs / probs.sum(axis=1, keepdims=True)
    return data_set(x.astype(np.float32), probs, n_train=423, counts=rng.multinomial(30, probs))


@pytest.fixture(scope="session")
def images():
    """240 images to train on and 60 to test: a bright square whose corner is the class."""
    rng = np.random.default_rng(2)
    label = rng.integers(0, 4, 300)
    pixels = rng.integers(0, 80, size=(300, 12, 12, 1))
    for image, k in zip(pixels, label, strict=True):
        image[6 * (k // 2) : 6 * (k // 2) + 6, 6 * (k % 2) : 6 * (k % 2) + 6] += 100
    one = np.eye(4)[label]
    return data_set(pixels.astype(np.uint8), one, n_train=240, soft=False, counts=10 * one)


@pytest.fixture(scope="session")
def short():
    """A probe that trains in no time."""
    return Training(width=16, epochs=4, batch_size=64)

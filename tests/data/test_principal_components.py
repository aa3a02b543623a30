"""Principal components of images: a probe's inputs where there are no features."""

from dataclasses import replace

import numpy as np
import pytest

import rue.data
from rue.data.features import principal_components
from rue.errors import InputError


@pytest.fixture
def images():
    """60 images of 5 x 4 pixels, of which 36 train."""
    pixels = np.random.default_rng(3).integers(0, 256, (60, 5, 4, 1), dtype=np.uint8)
    return replace(rue.data.load("random-rbf", n_points=60), inputs=pixels, task="image")


def test_they_are_those_of_the_covariance_of_the_training_images(images):
    made = principal_components(images, 3)
    pixels = images.inputs.reshape(60, -1).astype(float)
    train = pixels[images.train]
    values, vectors = np.linalg.eigh(np.cov(train.T))
    twin = (pixels - train.mean(axis=0)) @ vectors[:, :-4:-1] / np.sqrt(values[:-4:-1])
    signs = np.sign((made.inputs * twin).sum(axis=0))
    np.testing.assert_allclose(made.inputs, twin * signs, atol=1e-3)
    np.testing.assert_allclose(made.inputs[images.train].std(axis=0, ddof=1), 1, atol=1e-4)
    assert made.task == "features"
    assert "3 principal components" in made.checksums


def test_they_depend_neither_on_order_nor_on_rounding(images):
    made = principal_components(images, 3).inputs
    pixels = images.inputs.reshape(60, -1).astype(float)[images.train]
    vectors = np.linalg.svd(pixels - pixels.mean(axis=0))[2][:3]
    # The sign is that of the largest entry, whichever way the components were computed.
    signs = [np.sign(v[np.abs(v).argmax()]) for v in vectors]
    scores = (pixels - pixels.mean(axis=0)) @ vectors.T * signs
    np.testing.assert_allclose(
        made[images.train], scores / scores.std(axis=0, ddof=1), atol=1e-4, rtol=0
    )
    np.testing.assert_array_equal(made, np.round(made.astype(float), 4).astype(np.float32))
    turned = principal_components(replace(images, train=images.train[::-1]), 3).inputs
    np.testing.assert_array_equal(made, turned)


def test_points_that_do_not_train_change_nothing(images):
    other = images.inputs.copy()
    other[images.test] = 255 - other[images.test]
    ours, theirs = (principal_components(x, 3) for x in (images, replace(images, inputs=other)))
    np.testing.assert_array_equal(ours.inputs[images.train], theirs.inputs[images.train])


def test_what_has_no_images_or_too_few(images):
    with pytest.raises(InputError, match="random-rbf has no array of images"):
        principal_components(rue.data.load("random-rbf", n_points=60), 3)
    with pytest.raises(InputError, match=r"n_components must be at most 20, .* got 21"):
        principal_components(images, 21)

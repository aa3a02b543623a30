"""Principal components of images, so that a probe can take them where no network's features are."""

from dataclasses import replace

import numpy as np

from rue._arrays import require_whole
from rue.data.dataset import DataSet
from rue.data.features import features_digest
from rue.data.images import LazyImages
from rue.errors import InputError

__all__ = ["principal_components"]

_LEAST = 1e-9  # of a variance: beyond the rank of the training images it is rounding error


def principal_components(data: DataSet, n_components: int = 192) -> DataSet:
    """Return a data set with the principal components of its pixels instead of images."""
    require_whole("n_components", n_components, least=1)
    inputs = data.inputs
    if isinstance(inputs, LazyImages) or inputs.ndim != 4:
        raise InputError(f"{data.name} has no array of images to take principal components of")
    pixels = inputs.reshape(len(inputs), -1)
    most = min(len(data.train), pixels.shape[1])
    if n_components > most:
        raise InputError(
            f"n_components must be at most {most}, the number of training images or of pixels of "
            f"{data.name}, got {n_components}"
        )
    train = pixels[data.train].astype(np.float64)
    mean = train.mean(axis=0)
    variances, vectors = np.linalg.eigh(np.cov(train, rowvar=False))
    variances, vectors = variances[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(n_components)]
    scaled = vectors * np.sign(largest) / np.sqrt(np.maximum(variances, _LEAST))
    chunks = range(0, len(pixels), 10_000)
    features = np.concatenate(
        [np.round((pixels[first : first + 10_000] - mean) @ scaled, 4) for first in chunks]
    ).astype(np.float32)
    made = data.with_inputs(features, {})
    checksum = {f"{n_components} principal components": features_digest(features)}
    return replace(made, checksums={**made.checksums, **checksum})

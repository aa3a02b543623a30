"""Inputs as arrays: matrices of features and images."""

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import as_array, require_finite, require_shape
from rue.data.dataset import Inputs
from rue.data.images import LazyImages
from rue.errors import ShapeError


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

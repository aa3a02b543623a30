"""Images: a damaged one is an error of ours, and sixteen bits are not clipped to eight."""

import io

import numpy as np
import pytest
from PIL import Image

import rue.data
from rue.data.images import LazyImages, decode_image
from rue.errors import FileError, InputError


def encode(array, kind):
    content = io.BytesIO()
    Image.fromarray(array).save(content, kind)
    return content.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_flipped_bytes(kind):
    """Whatever byte is wrong, there is an image or a FileError."""
    array = np.random.default_rng(0).integers(256, size=(6, 6, 3)).astype(np.uint8)
    whole = encode(array, kind)
    failures = []
    for i in range(len(whole)):
        damaged = whole[:i] + bytes([whole[i] ^ 255]) + whole[i + 1 :]
        try:
            decode_image(damaged, "x", size=4)
        except FileError as error:
            failures.append(str(error))
    assert failures
    assert all(failure.startswith("x is not an image") for failure in failures)


def test_sixteen_bits():
    # 65535 / 257 = 255, 32768 / 257 = 127.5 to even, 257 / 257 = 1
    grey = np.array([[0, 257, 32768, 65535]], dtype=np.uint16)
    assert decode_image(encode(grey, "PNG"), "x")[0, :, 0].tolist() == [0, 1, 128, 255]
    assert decode_image(encode(grey, "TIFF"), "x")[0, :, 2].tolist() == [0, 1, 128, 255]


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_sizes_are_whole(tmp_path, size):
    with pytest.raises(InputError, match="size must be a whole number of at least 1, got"):
        LazyImages(tmp_path, ["a.png"], size=size)
    with pytest.raises(InputError, match="size must be a whole number of at least 1, got"):
        rue.data.load("openood-tin", tmp_path, size=size)

"""Fashion-MNIST-H: 53 to 79 annotators classified each of Fashion-MNIST's 10,000 test images."""

import io
import math
import struct

import numpy as np

from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, make_tested
from rue.data.files import Reader, unpacked
from rue.data.images import ImageArray
from rue.errors import FileError

COUNTS = "fashion-mnist-h/fmh_counts.csv"
CLASS_NAMES = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)

_TRAIN_IMAGES = "fashion-mnist/train-images-idx3-ubyte.gz"
_TRAIN_LABELS = "fashion-mnist/train-labels-idx1-ubyte.gz"
_TEST_IMAGES = "fashion-mnist/t10k-images-idx3-ubyte.gz"
_TEST_LABELS = "fashion-mnist/t10k-labels-idx1-ubyte.gz"
_FILES = (COUNTS, _TRAIN_IMAGES, _TRAIN_LABELS, _TEST_IMAGES, _TEST_LABELS)


def load(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load Fashion-MNIST and the counts; the official split, so there is no validation part."""
    del seed
    images = [_read_idx(reader, path, 3) for path in (_TRAIN_IMAGES, _TEST_IMAGES)]
    labels = [_read_idx(reader, path, 1) for path in (_TRAIN_LABELS, _TEST_LABELS)]
    n_train, n_test = map(len, images)
    if list(map(len, labels)) != [n_train, n_test]:
        raise FileError(f"fashion-mnist: {n_train} + {n_test} images, but not as many labels")
    content = reader.read(COUNTS)
    if not content.strip(b"\xef\xbb\xbf\r\n\t ,"):
        raise FileError(f"{COUNTS} must hold numbers: it is empty")
    try:
        counts = np.loadtxt(
            io.BytesIO(content), delimiter=",", ndmin=2, encoding="utf-8-sig", comments=None
        )
    except ValueError as error:
        raise FileError(f"{COUNTS} must hold numbers: {error}") from None
    return make_tested(
        entry,
        reader,
        counts,
        path=COUNTS,
        inputs=np.concatenate(images)[..., None],
        labels=np.concatenate(labels).astype(np.int64),
        places=range(n_train),
        class_names=CLASS_NAMES,
    )


def _read_idx(reader: Reader, path: str, n_axes: int) -> ImageArray:
    """Read the idx format: two zero bytes, 8 for uint8, the number of axes, their lengths."""
    data = reader.read(path)
    header = 4 + 4 * n_axes
    if data[:4] == bytes([0, 0, 8, n_axes]) and len(data) >= header:
        shape = struct.unpack(f">{n_axes}i", data[4:header])
        if min(shape) > 0 and len(data) == header + math.prod(shape):
            return np.frombuffer(data, dtype=np.uint8, offset=header).reshape(shape)
    raise FileError(f"{path} is not an idx file of bytes with {n_axes} axes")


ENTRIES = entries("fashion_mnist", load=load, needs=tuple(map(unpacked, _FILES)))

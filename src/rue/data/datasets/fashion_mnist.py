"""Fashion-MNIST-H: 53 to 79 annotators classified each of Fashion-MNIST's 10,000 test images."""

import io
import math
import struct

import numpy as np

from rue.data.dataset import DataSet
from rue.data.entry import Entry, fetch_urls, make_tested
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
# Checksums of the unpacked content, because recompressed copies are in circulation.
_CHECKSUMS = {
    COUNTS: "bec7efff5d6f901a6224758d71caadb436dbd8de1284b0be7089d193be94ddbc",
    _TRAIN_IMAGES: "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    _TRAIN_LABELS: "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    _TEST_IMAGES: "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    _TEST_LABELS: "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
_IMAGES_AT = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
)
_COUNTS_AT = (
    "https://raw.githubusercontent.com/ishida-lab/irreducible/main/data/",
    "https://raw.githubusercontent.com/takashiishida/irreducible/main/data/",
)


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


ENTRIES = (
    Entry(
        name="fashion-mnist-h",
        task="image",
        n_points=10_000,
        n_classes=10,
        annotators=(53, 66.702, 79),
        splits={"train": 60_000, "validation": 0, "test": 10_000},
        size=31_099_551,
        licence="MIT (images); none stated (annotations)",
        origin="https://github.com/ishida-lab/irreducible",
        citation=(
            "Ishida, Yamane, Charoenphakdee, Niu and Sugiyama (2023). Is the Performance of My "
            "Deep Network Too Good to Be True? A Direct Approach to Estimating the Bayes Error "
            "in Binary Classification. ICLR. Images: Xiao, Rasul and Vollgraf (2017)."
        ),
        checksums=_CHECKSUMS,
        needs=tuple(map(unpacked, _CHECKSUMS)),
        load=load,
        fetch=fetch_urls(
            {
                path: tuple(
                    address + path.rpartition("/")[2]
                    for address in (_COUNTS_AT if path == COUNTS else _IMAGES_AT)
                )
                for path in _CHECKSUMS
            },
            _CHECKSUMS,
        ),
    ),
)

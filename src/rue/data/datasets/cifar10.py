"""CIFAR-10H: 47 to 63 annotators classified each of CIFAR-10's 10,000 test images."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rue._arrays import IntArray
from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, fetch_urls, make_tested
from rue.data.fetching import content_check, download, locked_target
from rue.data.files import Reader, atomic_write, file_digest, read_tar
from rue.data.images import ImageArray
from rue.errors import FileError, InputError
from rue.io.arrays import load_npz, npz_shapes, read_npy_bytes

COUNTS = "cifar-10h/cifar10h-counts.npy"
FEATURES = "cifar-10-features/efficientnet-lite0-pca192.npz"
CLASS_NAMES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)

_FOLDER = "cifar-10-batches-bin"
_TEST = f"{_FOLDER}/test_batch.bin"
_TRAIN = {number: f"{_FOLDER}/data_batch_{number}.bin" for number in range(1, 6)}
_RECORD = 1 + 3 * 32 * 32
_BATCH = 10_000
_ARCHIVE = "cifar-10-binary.tar.gz"
_ARCHIVE_AT = f"https://www.cs.toronto.edu/~kriz/{_ARCHIVE}"
_ARCHIVE_SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"


def load(
    reader: Reader, entry: Entry, *, seed: int, train_batches: Sequence[int] | None = None
) -> DataSet:
    """Load CIFAR-10's images and CIFAR-10H's counts; the official split, so no validation part."""
    del seed  # the split is CIFAR-10's own
    notes = []
    if train_batches is None:
        train_batches = [number for number, path in _TRAIN.items() if reader.has(path)]
        absent = [str(number) for number in _TRAIN if number not in train_batches]
        if absent:
            notes.append(f"training batches {', '.join(absent)} are not here and were left out")
    is_valid = isinstance(train_batches, Sequence) and all(
        type(number) is int and number in _TRAIN for number in train_batches
    )
    if not is_valid or len(set(train_batches)) != len(train_batches):
        raise InputError(f"train_batches must be some of 1..5, each once, got {train_batches!r}")
    paths = [*(_TRAIN[number] for number in train_batches), _TEST]
    batches = [_read_batch(reader, path) for path in paths]
    places = [
        _BATCH * (number - 1) + record
        for number, (labels, _) in zip(train_batches, batches, strict=False)
        for record in range(len(labels))
    ]
    return make_tested(
        entry,
        reader,
        read_npy_bytes(COUNTS, reader.read(COUNTS)),
        path=COUNTS,
        inputs=np.concatenate([images for _, images in batches]),
        labels=np.concatenate([labels for labels, _ in batches]),
        places=places,
        class_names=CLASS_NAMES,
        notes=tuple(notes),
    )


def load_features(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load CIFAR-10H with a frozen network's features for inputs, and three OOD sets."""
    from rue.data.features import attach_features

    del seed
    path = reader.find(FEATURES)
    reader.note(FEATURES, file_digest(path, FEATURES), path)
    shapes = npz_shapes(path)
    for name in ("train", "test", "train_labels", "test_labels", "tin", "texture", "mnist"):
        if name not in shapes:
            raise FileError(f"{path} has no array {name}, only {', '.join(shapes)}")
    arrays = load_npz(path, ("train_labels", "test_labels"))
    labels = [arrays[f"{part}_labels"] for part in ("train", "test")]
    for part, classes in zip(("train", "test"), labels, strict=True):
        if classes.shape != shapes[part][:1] or not np.isin(classes, range(10)).all():
            raise FileError(f"{part}_labels of {path} must have one class, 0..9, per row")
    data = make_tested(
        entry,
        reader,
        read_npy_bytes(COUNTS, reader.read(COUNTS)),
        path=COUNTS,
        inputs=np.zeros((sum(map(len, labels)), 1)),
        labels=np.concatenate(labels).astype(np.int64),
        places=range(len(labels[0])),
        class_names=CLASS_NAMES,
    )
    return attach_features(data, path)


def fetch(root: Path, progress: bool) -> None:
    """Fetch the counts, and CIFAR-10's binary version, and keep its batches."""
    _fetch_counts(root, progress)
    checks = {path: content_check(path, _CHECKSUMS[path]) for path in (_TEST, *_TRAIN.values())}
    with locked_target(root / _FOLDER):
        if all((root / p).exists() and check(root / p) is None for p, check in checks.items()):
            return
        archive = download(
            (_ARCHIVE_AT,),
            root / _FOLDER / _ARCHIVE,
            content_check(_ARCHIVE, _ARCHIVE_SHA256),
            progress=progress,
        )
        for path, content in read_tar(archive, tuple(checks)).items():
            with atomic_write(root / path) as handle:
                handle.write(content)
        archive.unlink()


def _read_batch(reader: Reader, path: str) -> tuple[IntArray, ImageArray]:
    """Read records of one label byte and three 32 x 32 planes."""
    data = np.frombuffer(reader.read(path), dtype=np.uint8)
    if len(data) == 0 or len(data) % _RECORD:
        raise FileError(f"{path} must hold records of {_RECORD} bytes, got {len(data)} bytes")
    records = data.reshape(-1, _RECORD)
    labels = records[:, 0].astype(np.int64)
    if labels.max() > 9:
        row = int(np.argmax(labels > 9))
        raise FileError(f"{path}: labels must be 0..9, got {labels[row]} at record {row}")
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return labels, np.ascontiguousarray(images)


ENTRIES = entries(
    "cifar10",
    {
        "cifar10h": {
            "needs": ((COUNTS,), (_TEST,)),
            "optional": tuple(_TRAIN.values()),
            "load": load,
            "fetch": fetch,
        },
        "cifar10h-features": {"needs": ((COUNTS,), (FEATURES,)), "load": load_features},
    },
)
_CHECKSUMS = {path: str(digest) for path, digest in ENTRIES[0].checksums.items()}
_fetch_counts = fetch_urls(
    {
        COUNTS: (
            "https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-counts.npy",
        )
    },
    _CHECKSUMS,
)

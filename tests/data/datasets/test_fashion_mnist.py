"""Fashion-MNIST-H: the real files, and the idx format by hand."""

import gzip
import struct

import numpy as np
import pytest

import rue.data
from rue.errors import FileError


def test_real(real):
    data = rue.data.load("fashion-mnist-h", real)
    entry = rue.data.ENTRIES["fashion-mnist-h"]
    n = data.annotations.n_annotators
    assert data.inputs.shape == (70_000, 28, 28, 1)
    assert data.annotations.counts.shape == (10_000, 10)
    assert (n.min(), n.mean(), n.max()) == entry.annotators
    assert (n.min(), n.max()) == (53, 79)
    assert data.annotations.counts.sum(axis=0).tolist() == PER_CLASS
    assert np.bincount(data.labels[data.test]).tolist() == [1000] * 10
    assert np.bincount(data.labels[data.train]).tolist() == [6000] * 10
    majority = data.annotations.probs.argmax(axis=1)
    assert np.mean(majority == data.labels[data.test]) == 0.8202
    assert data.class_names[data.labels[60_000]] == "Ankle boot"
    assert data.checksums == entry.checksums
    assert data.ids[[0, 59_999, 60_000, -1]].tolist() == ["train-0", "train-59999", "0", "9999"]


PER_CLASS = [97252, 65583, 77857, 88237, 35549, 60258, 41291, 70085, 65146, 65762]


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}i", *array.shape)
    return gzip.compress(header + array.astype(np.uint8).tobytes(), mtime=0)


@pytest.fixture
def root(tmp_path):
    rng = np.random.default_rng(0)
    for folder in ("fashion-mnist", "fashion-mnist-h"):
        (tmp_path / folder).mkdir()
    for part, n in (("train", 3), ("t10k", 2)):
        images, labels = rng.integers(256, size=(n, 28, 28)), rng.integers(10, size=n)
        (tmp_path / f"fashion-mnist/{part}-images-idx3-ubyte.gz").write_bytes(idx(images))
        (tmp_path / f"fashion-mnist/{part}-labels-idx1-ubyte.gz").write_bytes(idx(labels))
    rows = ["0,0,0,1,1,1,1,26,0,42", "25,1,33,0,4,1,7,1,0,0"]
    (tmp_path / "fashion-mnist-h/fmh_counts.csv").write_bytes("\r\n".join(rows).encode())
    return tmp_path


def load(root):
    return rue.data.load("fashion-mnist-h", root, verify=False)


def test_layout(root):
    data = load(root)
    assert data.inputs.shape == (5, 28, 28, 1)
    assert (data.train.tolist(), data.test.tolist()) == ([0, 1, 2], [3, 4])
    assert data.annotated.tolist() == [3, 4]
    assert data.annotations.counts[0].tolist() == [0, 0, 0, 1, 1, 1, 1, 26, 0, 42]


def test_unpacked_files_and_a_byte_order_mark(root):
    packed = load(root)
    for path in (root / "fashion-mnist").glob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    path = root / "fashion-mnist-h/fmh_counts.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert rue.data.is_here("fashion-mnist-h", root)
    data = load(root)
    assert (data.inputs == packed.inputs).all()
    assert (data.annotations.counts == packed.annotations.counts).all()
    assert data.checksums == packed.checksums


BAD_IMAGES = {
    "empty": gzip.compress(b"", mtime=0),
    "only a beginning": gzip.compress(b"\0\0\x08\x03", mtime=0),
    "zeros": gzip.compress(bytes(16), mtime=0),
    "two axes": idx(np.zeros((2, 28))),
    "no gzip": b"not gzip at all",
}


@pytest.mark.parametrize("case", BAD_IMAGES)
def test_bad_images(root, case):
    (root / "fashion-mnist/t10k-images-idx3-ubyte.gz").write_bytes(BAD_IMAGES[case])
    with pytest.raises(FileError, match=r"is not an idx file|not a valid gzip file"):
        load(root)


def test_bad_counts(root):
    path = root / "fashion-mnist-h/fmh_counts.csv"
    path.write_text("1,2\n3,4\n")
    with pytest.raises(FileError, match=r"must have shape \(2, 10\), got \(2, 2\)"):
        load(root)
    path.write_text("a,b\n")
    with pytest.raises(FileError, match="must hold numbers"):
        load(root)


def test_labels_of_other_images(root):
    (root / "fashion-mnist/t10k-labels-idx1-ubyte.gz").write_bytes(idx(np.zeros(7)))
    with pytest.raises(FileError, match="not as many labels"):
        load(root)

"""CIFAR-10H: the real files, the binary layout by hand, and fetching from a server of ours."""

import hashlib
import io
import tarfile

import numpy as np
import pytest

import rue.data
from rue.data.datasets import cifar10
from rue.data.splits import limit_training
from rue.data.truth import data_set_truth
from rue.errors import FileError, InputError
from rue.io.predictions import read_predictions

FOLDER = "cifar-10-batches-bin"


def test_real(real):
    data = rue.data.load("cifar10h", real, train_batches=[1])
    counts, n = data.annotations.counts, data.annotations.n_annotators
    assert data.inputs.shape == (20_000, 32, 32, 3)
    assert data.inputs.dtype == np.uint8
    assert counts.shape == (10_000, 10)
    assert (n.min(), n.mean(), n.max()) == rue.data.ENTRIES["cifar10h"].annotators
    assert counts.sum(axis=0).tolist() == PER_CLASS
    assert np.bincount(data.labels[data.test]).tolist() == [1000] * 10
    majority = data.annotations.probs.argmax(axis=1)
    assert np.mean(majority == data.labels[data.test]) == 0.9921
    assert data.annotated.tolist() == data.test.tolist() == list(range(10_000, 20_000))
    assert data.checksums.items() <= rue.data.ENTRIES["cifar10h"].checksums.items()
    assert len(data.checksums) == 3


PER_CLASS = [49809, 51612, 51393, 50504, 47927, 52908, 51285, 52960, 51352, 51250]


def test_real_first_test_image_is_a_cat(real):
    data = rue.data.load("cifar10h", real, train_batches=[], split="test")
    assert len(data) == 10_000
    assert data.class_names[data.labels[0]] == "cat"
    # The record is 1 label byte, then 1024 red, 1024 green and 1024 blue bytes, row by row.
    raw = (real / FOLDER / "test_batch.bin").read_bytes()
    assert data.inputs[0, 2, 5].tolist() == [raw[1 + c * 1024 + 2 * 32 + 5] for c in range(3)]


def test_real_features(real):
    data = rue.data.load("cifar10h-features", real)
    assert data.inputs.shape == (60_000, 192)
    assert (len(data.train), len(data.validation), len(data.test)) == (50_000, 0, 10_000)
    assert {name: array.shape for name, array in data.ood.items()} == {
        "tin": (800, 192),
        "texture": (800, 192),
        "mnist": (800, 192),
    }
    images = rue.data.load("cifar10h", real, train_batches=[1])
    assert (data.labels[data.test] == images.labels[images.test]).all()
    assert (data.labels[:10_000] == images.labels[images.train]).all()
    assert (data.annotations.counts == images.annotations.counts).all()
    assert data.checksums == rue.data.ENTRIES["cifar10h-features"].checksums


def test_real_features_carry_the_class(real):
    """Nearest class mean on whitened features: far above chance if rows and labels agree."""
    data = rue.data.load("cifar10h-features", real)
    train, test = data.train, data.test
    means = np.stack([data.inputs[train][data.labels[train] == k].mean(axis=0) for k in range(10)])
    distance = ((data.inputs[test][:, None] - means) ** 2).sum(axis=-1)
    assert np.mean(distance.argmin(axis=1) == data.labels[test]) > 0.75


def build(root, n_test=4, batches=(1, 2), counts=None):
    """Write a small CIFAR-10H in the official layout; give the records of each batch."""
    rng = np.random.default_rng(0)
    folder = root / FOLDER
    folder.mkdir(parents=True)
    names = [*(f"data_batch_{i}.bin" for i in batches), "test_batch.bin"]
    records = {}
    for name in names:
        labels = rng.integers(10, size=(n_test, 1))
        pixels = rng.integers(256, size=(n_test, 3072))
        records[name] = np.hstack([labels, pixels]).astype(np.uint8)
        records[name].tofile(folder / name)
    (root / "cifar-10h").mkdir()
    counts = rng.integers(1, 9, size=(n_test, 10)) if counts is None else counts
    np.save(root / "cifar-10h/cifar10h-counts.npy", counts)
    return records


def load(root, **options):
    return rue.data.load("cifar10h", root, verify=False, **options)


def test_layout(tmp_path):
    records = build(tmp_path)
    data = load(tmp_path)
    order = ("data_batch_1.bin", "data_batch_2.bin", "test_batch.bin")
    together = np.concatenate([records[name] for name in order])
    assert (data.labels == together[:, 0]).all()
    # A slow twin: pixel (row, column) of channel c is byte 1 + 1024 c + 32 row + column.
    for i, record in enumerate(together):
        for row, column, c in ((0, 0, 0), (31, 0, 1), (3, 17, 2)):
            assert data.inputs[i, row, column, c] == record[1 + 1024 * c + 32 * row + column]
    assert data.train.tolist() == list(range(8))
    assert data.test.tolist() == list(range(8, 12))
    assert data.notes == ("training batches 3, 4, 5 are not here and were left out",)


def test_train_batches(tmp_path):
    records = build(tmp_path)
    data = load(tmp_path, train_batches=[2])
    assert (data.labels[data.train] == records["data_batch_2.bin"][:, 0]).all()
    assert data.notes == ()
    assert len(load(tmp_path, train_batches=[]).train) == 0
    with pytest.raises(FileError, match=r"needs .*data_batch_3\.bin"):
        load(tmp_path, train_batches=[1, 3])
    for bad in ([0], [6], [1, 1], [True], [1.0], 1):
        with pytest.raises(InputError, match=r"train_batches must be some of 1..5"):
            load(tmp_path, train_batches=bad)


def test_an_id_does_not_depend_on_the_batches_that_are_loaded(tmp_path):
    build(tmp_path)
    some, second, none = (load(tmp_path, train_batches=b) for b in ([1, 2], [2], []))
    assert none.ids.tolist() == ["0", "1", "2", "3"]
    assert second.ids.tolist() == [*(f"train-{10_000 + i}" for i in range(4)), *none.ids]
    assert some.ids.tolist() == [*(f"train-{i}" for i in range(4)), *second.ids]


def test_predictions_of_others_match_by_the_place_in_the_test_batch(real):
    truth = data_set_truth("cifar10h", real)
    belief = read_predictions(real / "cifar-10h-models/hmc.csv")
    _, aligned = rue.align(truth, belief)
    assert len(aligned) == 10_000
    assert np.mean(aligned.mean().argmax(axis=1) == truth.counts.argmax(axis=1)) > 0.9


def test_limited_training_points_are_those_of_the_stored_rows(real):
    """The hash of a place, as when ids were places in the whole data set: CIFAR's 0, 1, 2, ..."""
    data = limit_training(rue.data.load("cifar10h-features", real), 3, seed=1)
    hashes = [
        hashlib.blake2b(f"cifar10h-features\n1\n{i}".encode(), digest_size=8).digest()
        for i in range(50_000)
    ]
    assert data.train.tolist() == sorted(sorted(range(50_000), key=hashes.__getitem__)[:3])


def test_small_files_are_not_the_published_ones(tmp_path):
    build(tmp_path)
    with pytest.raises(FileError, match=r"data_batch_1\.bin is not the published file"):
        rue.data.load("cifar10h", tmp_path)


def test_bad_files(tmp_path):
    build(tmp_path)
    path = tmp_path / FOLDER / "test_batch.bin"
    good = path.read_bytes()
    path.write_bytes(good[:-1])
    with pytest.raises(FileError, match="records of 3073 bytes, got 12291 bytes"):
        load(tmp_path)
    path.write_bytes(good[:3073] + b"\x0a" + good[3074:])
    with pytest.raises(FileError, match=r"labels must be 0\.\.9, got 10 at record 1"):
        load(tmp_path)
    path.write_bytes(good[:3073])
    with pytest.raises(FileError, match=r"must have shape \(1, 10\), got \(4, 10\)"):
        load(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(FileError, match="got 0 bytes"):
        load(tmp_path)


def test_features_without_an_array(tmp_path):
    (tmp_path / "cifar-10-features").mkdir()
    np.savez(tmp_path / cifar10.FEATURES, train=np.zeros((2, 3)))
    with pytest.raises(FileError, match="has no array test, only train"):
        rue.data.load("cifar10h-features", tmp_path, verify=False)


@pytest.fixture
def published(tmp_path, server, monkeypatch):
    """Publish a small CIFAR-10H on our server, as the real one is on its."""
    source = tmp_path / "source"
    build(source, batches=(1, 2, 3, 4, 5))
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        archive.add(source / FOLDER, FOLDER)
    server.files["/cifar-10-binary.tar.gz"] = content.getvalue()
    server.files["/cifar10h-counts.npy"] = (source / cifar10.COUNTS).read_bytes()
    from rue.data.entry import fetch_urls
    from rue.data.files import file_digest

    sums = {path: file_digest(source / path, path) for path in cifar10._CHECKSUMS}
    monkeypatch.setattr(cifar10, "_CHECKSUMS", sums)
    digest = hashlib.sha256(content.getvalue()).hexdigest()
    monkeypatch.setattr(cifar10, "_ARCHIVE_SHA256", digest)
    monkeypatch.setattr(cifar10, "_ARCHIVE_AT", f"{server.url}/cifar-10-binary.tar.gz")
    counts = fetch_urls({cifar10.COUNTS: (f"{server.url}/cifar10h-counts.npy",)}, sums)
    monkeypatch.setattr(cifar10, "_fetch_counts", counts)
    return source


def test_fetch(published, tmp_path, server):
    root = tmp_path / "root"
    rue.data.fetch("cifar10h", root)
    for path in cifar10._CHECKSUMS:
        assert (root / path).read_bytes() == (published / path).read_bytes()
    assert not (root / FOLDER / "cifar-10-binary.tar.gz").exists()
    assert len(load(root).train) == 20
    n_requests = len(server.requests)
    rue.data.fetch("cifar10h", root)
    assert len(server.requests) == n_requests
    (root / FOLDER / "data_batch_3.bin").write_bytes(b"damaged")
    rue.data.fetch("cifar10h", root)
    assert len(load(root).train) == 20


def test_fetch_of_another_archive_leaves_nothing(published, tmp_path, server):
    server.files["/cifar-10-binary.tar.gz"] += b"?"
    with pytest.raises(FileError, match="SHA-256 should be"):
        rue.data.fetch("cifar10h", tmp_path / "root")
    assert not list((tmp_path / "root" / FOLDER).glob("*.bin"))


def test_features_cannot_be_fetched(tmp_path):
    with pytest.raises(FileError, match="cannot be fetched: its features were made"):
        rue.data.fetch("cifar10h-features", tmp_path)

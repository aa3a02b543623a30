"""Feature files by split (appa-real's tests have those by name)."""

import zipfile

import numpy as np
import pytest

import rue.data
from rue.data.datasets import cifar10
from rue.data.features import attach_features
from rue.errors import AlignmentError, FileError, InputError, ShapeError


@pytest.fixture
def attach(tmp_path):
    def attach(**arrays):
        np.savez(tmp_path / "f.npz", **arrays)
        return rue.data.load("random-rbf", n_points=10, features=tmp_path / "f.npz")

    return attach


def parts(d=4, train=6):
    sizes = {"train": train, "validation": 2, "test": 2}
    return {split: np.full((n, d), n, np.float16) for split, n in sizes.items()}


def test_by_split(attach):
    data = attach(**parts(), far=np.ones((3, 4)), labels=np.zeros(6))
    assert data.task == "features"
    assert data.inputs.dtype == np.float32
    assert data.inputs[:, 0].tolist() == [6] * 6 + [2] * 4
    assert {name: array.shape for name, array in data.ood.items()} == {"far": (3, 4)}
    assert data.annotations.n_points == 10


def test_real_features_for_cifar10h(real):
    path = real / "cifar-10-features/efficientnet-lite0-pca192.npz"
    with np.load(path) as arrays:
        test = arrays["test"]
    ready = rue.data.load("cifar10h-features", real)
    assert (ready.inputs[ready.test] == test.astype(np.float32)).all()
    with pytest.raises(ShapeError, match=r"train .* \(10000, n_features\), got \(50000, 192\)"):
        rue.data.load("cifar10h", real, train_batches=[1], features=path)


def test_bad_files(attach, tmp_path):
    with pytest.raises(FileError, match="needs an array validation for random-rbf"):
        attach(train=np.ones((6, 2)), test=np.ones((2, 2)))
    with pytest.raises(ShapeError, match=r"train of .* \(6, n_features\), got \(5, 4\)"):
        attach(**parts(train=5))
    with pytest.raises(ShapeError, match=r"test of .* must have shape \(2, 4\), got \(2, 3\)"):
        attach(**{**parts(), "test": np.ones((2, 3))})
    data = rue.data.load("random-rbf", n_points=10)
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(FileError, match=r"one\.npy: is an \.npy array, not an \.npz"):
        attach_features(data, tmp_path / "one.npy")
    np.savez(tmp_path / "pickled.npz", train=np.array([{}], dtype=object))
    with pytest.raises(FileError, match=r"pickled\.npz: .* pickled objects, which are refused"):
        attach_features(data, tmp_path / "pickled.npz")
    whole = (tmp_path / "pickled.npz").read_bytes()
    (tmp_path / "broken.npz").write_bytes(whole[:-30])
    with pytest.raises(FileError, match=r"broken\.npz: cannot be read as \.npz"):
        attach_features(data, tmp_path / "broken.npz")
    with pytest.raises(FileError, match=r"none\.npz: no such file"):
        attach_features(data, tmp_path / "none.npz")


def test_a_member_that_is_no_array_is_left_out(attach, tmp_path):
    attach(**parts())
    with zipfile.ZipFile(tmp_path / "f.npz", "a") as archive:
        archive.writestr("README", "by split")
    data = rue.data.load("random-rbf", n_points=10, features=tmp_path / "f.npz")
    assert data.inputs.shape == (10, 4)
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        archive.writestr("train", "no array")
    with pytest.raises(AlignmentError, match="has no features of 10 of 10 points"):
        rue.data.load("random-rbf", n_points=10, features=tmp_path / "f.npz")


def test_ids_that_are_neither_text_nor_numbers_are_refused(tmp_path):
    ids = np.zeros(10, dtype=[("a", "f8")])
    np.savez(tmp_path / "f.npz", ids=ids, features=np.ones((10, 2)))
    with pytest.raises(FileError, match="ids must be text or whole numbers"):
        rue.data.load("random-rbf", n_points=10, features=tmp_path / "f.npz")


def test_features_must_be_finite_numbers_and_those_from_elsewhere_as_wide(attach):
    holed = np.ones((6, 4))
    holed[3, 1] = np.nan
    with pytest.raises(InputError, match=r"train of .* must be finite, got nan at row 3"):
        attach(**{**parts(), "train": holed})
    with pytest.raises(InputError, match=r"far of .* must be finite, got inf at row 1"):
        attach(**parts(), far=[[0.0] * 4, [1e300] * 4])  # which float32 cannot hold
    with pytest.raises(ShapeError, match=r"far of .* must have shape \(n_points, 4\), got"):
        attach(**parts(), far=np.ones((3, 5)))
    with pytest.raises(FileError, match=r"test of .* must hold numbers, got dtype <U1"):
        attach(**{**parts(), "test": np.full((2, 4), "a")})
    names = np.arange(10).astype(str)
    with pytest.raises(FileError, match="must hold numbers"):
        attach(ids=names, features=np.full((10, 2), "a"))
    with pytest.raises(InputError, match="must be finite, got nan at row 0"):
        attach(ids=names, features=np.full((10, 2), np.nan))


def test_one_split_needs_the_features_of_that_split_only(tmp_path):
    np.savez(tmp_path / "f.npz", test=parts()["test"])
    options = {"n_points": 10, "features": tmp_path / "f.npz"}
    assert rue.data.load("random-rbf", split="test", **options).inputs.shape == (2, 4)
    with pytest.raises(FileError, match="needs an array train"):
        rue.data.load("random-rbf", split="train", **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tin": None}, "has no array tin"),
        ({"mnist": np.ones((2, 4))}, r"mnist of .* must have shape \(n_points, 3\)"),
        ({"test": np.full((1, 3), np.nan)}, "test of .* must be finite, got nan at row 0"),
        (
            {"test_labels": np.array(["a"])},
            r"test_labels of .* must have one class, 0\.\.9, per row",
        ),
        ({"train_labels": np.array([0])}, "train_labels of .* must have one class"),
        ({"train_labels": np.array([0, 10])}, "train_labels of .* must have one class"),
    ],
)
def test_bad_features_of_cifar10h(tmp_path, change, message):
    arrays = {name: np.ones((1, 3)) for name in ("test", "tin", "texture", "mnist")}
    arrays |= {"train": np.ones((2, 3)), "train_labels": np.array([0, 1]), "test_labels": [2]}
    for path in (cifar10.FEATURES, cifar10.COUNTS):
        (tmp_path / path).parent.mkdir()
    np.save(tmp_path / cifar10.COUNTS, np.ones((1, 10)))
    np.savez(tmp_path / cifar10.FEATURES, **arrays)
    assert len(rue.data.load("cifar10h-features", tmp_path, verify=False)) == 3
    arrays = {name: array for name, array in (arrays | change).items() if array is not None}
    np.savez(tmp_path / cifar10.FEATURES, **arrays)
    with pytest.raises(InputError, match=message):
        rue.data.load("cifar10h-features", tmp_path, verify=False)

"""Feature files by split (appa-real's tests have those by name)."""

import numpy as np
import pytest

import rue.data
from rue.data.feature_files import read_features
from rue.errors import FileError, ShapeError


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
    with pytest.raises(ShapeError, match=r"test of .* must have 4 features"):
        attach(**{**parts(), "test": np.ones((2, 3))})
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(FileError, match=r"one\.npy is not an \.npz file"):
        read_features(tmp_path / "one.npy")
    np.savez(tmp_path / "pickled.npz", train=np.array([{}], dtype=object))
    with pytest.raises(FileError, match=r"not a good .npz file"):
        read_features(tmp_path / "pickled.npz")
    whole = (tmp_path / "pickled.npz").read_bytes()
    (tmp_path / "broken.npz").write_bytes(whole[:-30])
    with pytest.raises(FileError, match=r"broken\.npz is not an \.npz file"):
        read_features(tmp_path / "broken.npz")
    with pytest.raises(FileError, match=r"no file .*none\.npz"):
        read_features(tmp_path / "none.npz")

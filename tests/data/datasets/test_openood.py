"""OpenOOD's lists: the real subsets, and the layout by hand."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import rue.data
from rue.data.registry import is_complete
from rue.errors import FileError


@pytest.mark.parametrize("name", ["tin", "texture", "mnist"])
def test_real(real, name):
    data = rue.data.load(f"openood-{name}", real)
    assert data.inputs.shape == (800, 32, 32, 3)
    assert data.inputs.dtype == np.uint8
    assert (data.annotations, data.labels, data.n_classes) == (None, None, 0)
    assert data.test.tolist() == list(range(800))
    assert data.ids[0] == f"{name}/00000.png"
    n_points = rue.data.ENTRIES[data.name].n_points
    assert data.notes == (f"800 of the {n_points:,} images of the official list",)
    assert rue.data.is_here(data.name, real)
    assert not is_complete(data.name, real)


def test_real_mnist_is_grey(real):
    data = rue.data.load("openood-mnist", real)
    assert (data.inputs[..., :1] == data.inputs).all()


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "openood/images_classic/svhn/a b"  # a path may hold a space
    folder.mkdir(parents=True)
    wide = np.zeros((10, 30, 3), np.uint8)
    wide[:, 10:20] = 255  # the middle, which is what is kept
    Image.fromarray(wide).save(folder / "wide.png")
    Image.new("L", (8, 8), 9).save(folder / "grey.png")
    (tmp_path / "openood/benchmark_imglist/cifar10").mkdir(parents=True)
    write(tmp_path, "svhn/a b/wide.png -1\r\nsvhn/a b/grey.png 3\r\n\r\n")
    return tmp_path


def write(root, lines):
    (root / "openood/benchmark_imglist/cifar10/test_svhn.txt").write_bytes(lines.encode())


def test_layout(root):
    data = rue.data.load("openood-svhn", root)
    assert data.ids.tolist() == ["svhn/a b/wide.png", "svhn/a b/grey.png"]
    assert data.inputs[0, :, 4:-4].min() > 250
    assert (data.inputs[1] == 9).all()
    assert rue.data.load("openood-svhn", root, size=6).inputs.shape == (2, 6, 6, 3)
    assert rue.data.load("openood-svhn", root, split="train").inputs.shape[0] == 0
    data = replace(rue.data.load("random-rbf", n_points=10), ood={"svhn": data.inputs})
    assert data.part("test").ood["svhn"].shape == (2, 32, 32, 3)


@pytest.mark.parametrize("path", ["../../secret.png", "/etc/secret.png", "svhn/../../x.png"])
def test_paths_stay_inside(root, path):
    write(root, f"{path} -1\n")
    with pytest.raises(FileError, match="must stay in images_classic"):
        rue.data.load("openood-svhn", root)


def test_bad_lists(root):
    write(root, "svhn/none.png -1\n")
    with pytest.raises(FileError, match=r"needs openood/images_classic/svhn/none\.png"):
        rue.data.load("openood-svhn", root)
    write(root, "\n")
    with pytest.raises(FileError, match="lists no image"):
        rue.data.load("openood-svhn", root)


def test_how_it_is_had(tmp_path):
    with pytest.raises(FileError, match="cannot be fetched: get OpenOOD's image lists"):
        rue.data.fetch("openood-tin", tmp_path)


def test_latin_1_list_is_refused(root):
    path = root / "openood/benchmark_imglist/cifar10/test_svhn.txt"
    path.write_bytes("svhn/é.png -1\n".encode("latin-1"))
    with pytest.raises(FileError, match=r"test_svhn\.txt must be UTF-8"):
        rue.data.load("openood-svhn", root)

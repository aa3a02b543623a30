"""OpenML 156 from small files in its layout."""

import numpy as np
import pytest

from rue.data import load
from rue.data.datasets import random_rbf
from rue.errors import FileError, InputError

HEADER = (
    "@relation RandomRBF_0_0\n% a comment\n\n"
    + "".join(f"@attribute att{i} numeric\n" for i in range(1, 11))
    + "@attribute class {class1,class2,class3,class4,class5}\n\n@data\n"
)


def rows(n):
    rng = np.random.default_rng(0)
    numbers, labels = rng.uniform(size=(n, 10)), rng.integers(1, 6, n)
    lines = [
        f"{','.join(map(repr, x.tolist()))},class{k}" for x, k in zip(numbers, labels, strict=False)
    ]
    return numbers, labels - 1, lines


def write(root, text):
    folder = root / "openml-156"
    folder.mkdir(exist_ok=True)
    (folder / "RandomRBF_0_0.arff").write_text(text)
    return root


def test_the_first_points_are_read(tmp_path):
    numbers, labels, lines = rows(23)
    lines.insert(7, "% comments and empty lines are skipped")
    root = write(tmp_path, HEADER + "\n\n".join(lines) + "\n")
    data = load("openml-156", root, n_points=20, seed=1)
    assert np.array_equal(data.inputs, numbers[:20])
    assert np.array_equal(data.labels, labels[:20])
    assert data.class_names == tuple(f"class{k}" for k in range(1, 6))
    # Row i is of fold i mod 5; at seed 1 fold 1 validates and fold 2 tests.
    assert data.validation.tolist() == [1, 6, 11, 16]
    assert data.test.tolist() == [2, 7, 12, 17]
    assert len(data.checksums["openml-156/RandomRBF_0_0.arff"]) == 64
    assert data.notes == ("the first 20 points of the file",)


def test_the_whole_file_must_be_the_published_one(tmp_path, monkeypatch):
    _, labels, lines = rows(30)
    root = write(tmp_path, HEADER + "\n".join(lines))
    with pytest.raises(FileError, match="is not the published file, which has 1,000,000 points"):
        load("openml-156", root)
    assert len(load("openml-156", root, verify=False)) == 30
    counts = np.bincount(labels)
    for name, value in (("N_ROWS", 30), ("_MOST", counts.max()), ("_FEWEST", counts.min())):
        monkeypatch.setattr(random_rbf, name, value)
    assert len(load("openml-156", root)) == 30


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no header\n", "is no ARFF file: no line @data"),
        (HEADER.replace("att3 numeric", "att3 {a,b}"), "must have 10 numeric attributes"),
        (HEADER.replace(",class5", ""), "must name 5 classes"),
        (
            HEADER + "1,2,3,class1\n",
            r"a line must be 10 numbers and one of class1, class2, .*: .*column",
        ),
        (
            HEADER + "1," * 10 + "class9\n",
            "a line must be 10 numbers and one of .*: .*class9",
        ),
        (HEADER + "1," * 9 + "nan,class1\n", "a number of row 0 is not finite"),
        (HEADER + "1," * 10 + "class1\n", "has 1 points, fewer than n_points 5"),
    ],
)
def test_other_files_raise(tmp_path, text, message):
    with pytest.raises(FileError, match=message):
        load("openml-156", write(tmp_path, text), n_points=5)


def test_a_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(FileError, match=r"download the ARFF file of data set 156 from openml\.org"):
        load("openml-156", tmp_path)
    with pytest.raises(InputError, match="n_points"):
        load("openml-156", tmp_path, n_points=2)

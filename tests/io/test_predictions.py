"""Prediction files are written and read back with the same bits."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rue
import rue.methods
from rue.errors import AlignmentError, FileError, InputError, ShapeError
from rue.io.files import read_frame
from rue.io.predictions import predictions_of, read_method, read_predictions


def beliefs(rng, n, m, k):
    probs = rng.dirichlet(np.ones(k), (n, m))
    yield rue.Draws(probs)
    yield rue.Draws(probs.astype(np.float32))
    yield rue.Dirichlet(rng.gamma(2, size=(n, k)) + 0.1)
    yield rue.Scored(probs[:, 0], rng.normal(size=n))


@settings(max_examples=3)
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 4), st.integers(2, 5))
def test_what_is_written_is_read_back_to_the_bit(tmp_path_factory, seed, n, m, k):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (n, k)) + np.eye(k, dtype=int)[rng.integers(k, size=n)]
    exact = rng.dirichlet(np.ones(k), n)
    path = tmp_path_factory.mktemp("saved") / "file.npz"
    for belief in beliefs(rng, n, m, k):
        for truth in (rue.Annotations(counts, np.arange(k)), rue.Annotations.from_probs(exact)):
            ids = [f"item {i}" for i in rng.permutation(n)]
            rue.save_predictions(path, belief, ids=ids, annotations=truth, method="mine")
            read = read_predictions(path)
            assert type(read) is type(belief)
            for name in ("probs", "alpha", "epistemic"):
                if hasattr(belief, name):
                    got, wanted = getattr(read, name), getattr(belief, name)
                    assert got.dtype == wanted.dtype
                    np.testing.assert_array_equal(got, wanted)
            assert read.ids.tolist() == ids
            assert read.method == "mine"
            got = read.truth
            if truth.counts is None:  # rows are divided by their sums, 1 but for rounding
                np.testing.assert_allclose(got.probs, truth.probs, rtol=1e-15)
            else:
                np.testing.assert_array_equal(got.counts, truth.counts)
            assert (truth.values is None) == (read.outcomes.given_values is None)


def test_a_file_holds_what_it_was_given(tmp_path):
    path = tmp_path / "deep" / "a.npz"
    belief = rue.Dirichlet([[1.0, 2.0, 3.0], [4.0, 1.0, 1.0]])
    rue.save_predictions(path, belief)
    assert dict(np.load(path)).keys() == {"alpha"}
    rue.save_predictions(path, belief, ids=[7, 8], values=[0, 2, 5], classes="abc")
    held = dict(np.load(path))
    assert held.keys() == {"alpha", "ids", "values", "classes"}
    assert held["ids"].tolist() == ["7", "8"]
    assert held["classes"].tolist() == ["a", "b", "c"]
    assert read_predictions(path).groups == {}


def test_bad_arguments_name_themselves(tmp_path):
    belief = rue.Draws(np.full((3, 2, 2), 0.5))
    people = rue.Annotations([[3, 1], [1, 3]])
    for options, error, message in (
        ({"ids": ["a", "b"]}, ShapeError, r"ids must have shape \(3,\), got \(2,\)"),
        ({"ids": ["a", "b", "a"]}, InputError, "ids must not repeat, 'a' does"),
        ({"classes": ["x"]}, ShapeError, r"classes must have shape \(2,\)"),
        ({"values": [1, 2, 3]}, ShapeError, "values must have 2"),
        (
            {"annotations": people},
            ShapeError,
            "must have 3 points and 2 classes, got 2 and 2",
        ),
    ):
        with pytest.raises(error, match=message):
            rue.save_predictions(tmp_path / "a.npz", belief, **options)
    with pytest.raises(InputError, match=r"path must end in \.npz, got a\.csv"):
        rue.save_predictions(tmp_path / "a.csv", belief)
    with pytest.raises(InputError, match=r"belief must be Draws, Dirichlet or Scored, .*got B"):
        rue.save_predictions(tmp_path / "a.npz", type("B", (), {"n_points": 1, "n_classes": 1})())
    (tmp_path / "link.npz").symlink_to(tmp_path / "a.npz")
    with pytest.raises(FileError, match="is a symbolic link"):
        rue.save_predictions(tmp_path / "link.npz", belief)
    assert not (tmp_path / "a.npz").exists()


def test_it_is_one_function_and_needs_no_torch(tmp_path):
    assert rue.methods.save_predictions is rue.save_predictions
    code = (
        "import sys, numpy as np, rue; sys.modules['torch'] = None\n"
        "rue.save_predictions(sys.argv[1], rue.Draws(np.full((3, 2, 2), 0.5)))\n"
        "assert not [name for name in sys.modules if name.startswith('rue.data')]"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.npz")], check=True)


@pytest.mark.parametrize("shape", [(2, 1, 0), (2, 0, 3), (0, 1, 3), (2, 0), (0, 3), (3,), ()])
def test_logits_without_a_class_a_draw_or_a_point_are_one_line(tmp_path, shape):
    np.savez(tmp_path / "a.npz", logits=np.zeros(shape))
    with pytest.raises(FileError, match=r"a\.npz: logits must have"):
        read_predictions(tmp_path / "a.npz")


def test_only_what_is_needed_is_read(tmp_path):
    """An array that no one asked for may be pickled or of any size."""
    probs = np.full((3, 2, 2), 0.5)
    np.savez(tmp_path / "a.npz", probs=probs, day=np.arange(3), more=np.array([[{}]], dtype=object))
    assert list(read_predictions(tmp_path / "a.npz").groups) == ["day"]
    np.savez(tmp_path / "a.npz", probs=probs, odd=np.zeros(3, [("a", "f8")]), raw=np.zeros(3, "V4"))
    assert read_predictions(tmp_path / "a.npz").groups == {}


@pytest.mark.parametrize("ids", [np.zeros(3, [("a", "i8")]), np.zeros(3, "V4"), np.zeros(3, "c16")])
def test_ids_that_are_neither_text_nor_numbers_are_one_line(tmp_path, ids):
    np.savez(tmp_path / "a.npz", probs=np.full((3, 2, 2), 0.5), ids=ids)
    with pytest.raises(FileError, match=r"a\.npz: ids must be text or whole numbers, got dtype"):
        read_predictions(tmp_path / "a.npz")


def test_the_answers_of_files_with_further_points_are_joined(tmp_path):
    counts, probs = np.array([[3, 1], [0, 4], [2, 2], [1, 0]]), np.full((4, 2), 0.5)
    for name, rows in (("a", slice(0, 3)), ("b", slice(3, 4))):
        ids = [f"p{i}" for i in range(4)][rows]
        np.savez(tmp_path / f"{name}.npz", probs=probs[rows], counts=counts[rows], ids=ids)
    belief = read_method([tmp_path / "a.npz", tmp_path / "b.npz"])
    assert belief.ids.tolist() == ["p0", "p1", "p2", "p3"]
    assert belief.truth.counts.tolist() == counts.tolist()
    np.savez(tmp_path / "b.npz", probs=probs[3:], ids=["p3"])
    assert read_method([tmp_path / "a.npz", tmp_path / "b.npz"]).truth is None


def test_many_names_and_arrays_of_a_file_are_stored_once(tmp_path):
    probs, ids = np.full((20_000, 2, 2), 0.5), np.arange(20_000).astype(np.str_)
    assert ids.dtype.itemsize > 5 * 4
    np.savez(tmp_path / "p.npz", probs=probs, ids=ids)
    arrays = read_frame(tmp_path / "p.npz").arrays
    belief = predictions_of(tmp_path / "p.npz", arrays)
    assert belief.ids.dtype == "<U5"
    np.testing.assert_array_equal(belief.ids, ids)
    assert np.shares_memory(belief.probs, arrays["probs"])
    assert not belief.probs.flags.writeable
    ids[7] = "8"
    np.savez(tmp_path / "p.npz", probs=probs, ids=ids)
    with pytest.raises(AlignmentError, match="ids must not repeat"):
        read_predictions(tmp_path / "p.npz")


def test_a_saved_belief_keeps_its_names(tmp_path):
    probs = np.random.default_rng(0).dirichlet(np.ones(3), (4, 2))
    names = {"ids": ["d", "a", "c", "b"], "classes": ["low", "mid", "high"]}
    belief = rue.Draws(probs, **names, method="mine")
    rue.save_predictions(tmp_path / "p.npz", belief)
    read = rue.read_belief(tmp_path / "p.npz")
    assert (read.method, read.ids.tolist()) == ("mine", names["ids"])
    assert read.outcomes.names == ("low", "mid", "high")
    np.testing.assert_array_equal(read.probs, probs)


def test_answers_are_saved_beside_the_predictions_that_they_are_about(tmp_path):
    """Rows go by id and columns by class."""
    probs = np.random.default_rng(0).dirichlet(np.ones(3), (3, 2))
    belief = rue.Draws(probs, ids=["a", "b", "c"], classes=["x", "y", "z"])
    answers = rue.Annotations(
        [[0, 1, 5], [4, 2, 0], [3, 3, 0]], ids=["c", "a", "b"], classes=["z", "y", "x"]
    )
    rue.save_predictions(tmp_path / "p.npz", belief, annotations=answers)
    saved = rue.read_belief(tmp_path / "p.npz")
    for loss in ("log", "zero_one"):
        row = rue.evaluate(saved.truth, saved, loss=loss)
        assert row.risk == pytest.approx(rue.evaluate(answers, belief, loss=loss).risk, rel=1e-14)
    with pytest.raises(AlignmentError, match="q"):
        rue.save_predictions(
            tmp_path / "p.npz", belief.with_ids(["a", "b", "q"]), annotations=answers
        )

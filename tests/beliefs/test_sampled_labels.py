"""Sampled labels are one empirical distribution per model or prompt, not one per label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rue
from rue.adapters import sampled_labels as draws
from rue.beliefs.sampled_labels import label_frequencies
from rue.errors import InputError, ShapeError


def test_by_hand():
    # Two prompts: 3 of 4 say yes, then 2 of 4.
    labels = [[["yes", "no", "yes", "yes"], ["no", "yes", "no", "yes"]]]
    belief = draws(labels, classes=["no", "yes"])
    assert belief.probs.tolist() == [[[0.25, 0.75], [0.5, 0.5]]]
    one = rue.decompose(draws([labels[0][0]], classes=["no", "yes"]), "brier")
    assert (one.aleatoric[0], one.epistemic[0]) == (pytest.approx(0.375), 0)


def test_one_hot_draws_would_claim_to_be_certain():
    labels = np.array([["a", "b", "a", "b"]])
    wrong = rue.decompose(draws(labels[:, :, None], ["a", "b"]), "brier")
    right = rue.decompose(draws(labels, ["a", "b"]), "brier")
    assert (wrong.aleatoric[0], wrong.epistemic[0]) == (0, 0.5)
    assert (right.aleatoric[0], right.epistemic[0]) == (0.5, 0)


@given(
    st.integers(1, 5), st.integers(1, 3), st.integers(1, 6), st.integers(2, 4), st.integers(0, 999)
)
def test_frequencies_are_counted(n, d, a, k, seed):
    labels = np.random.default_rng(seed).integers(0, k, (n, d, a))
    probs = draws(labels, k).probs
    for i in range(n):
        for j in range(d):
            for c in range(k):
                assert probs[i, j, c] == pytest.approx((labels[i, j] == c).mean())


def test_names():
    assert label_frequencies([["b", "a"]])[0] == ("a", "b")
    assert label_frequencies([[0, 2]])[0] == ("0", "1", "2")
    assert label_frequencies(np.array([["x", "y"]], dtype=object))[0] == ("x", "y")
    assert label_frequencies([[3, 5]], classes=[3, 4, 5])[1].tolist() == [[[0.5, 0, 0.5]]]


@pytest.mark.parametrize(
    ("labels", "classes", "error", "words"),
    [
        (["a", "b"], None, ShapeError, r"got \(2,\)"),
        (np.zeros((2, 0), int), None, ShapeError, "none of them 0"),
        ([["a", "c"]], ["a", "b"], InputError, "one of .*got 'c'"),
        ([["a", "b"]], 2, InputError, "need the classes' names"),
        ([["a", "b"]], ["a", "a"], InputError, "two or more different"),
        ([[0, 3]], 3, InputError, "from 0 to 2, got 3"),
        ([[0.5, 1]], None, InputError, "words or whole numbers"),
        ([[-1, 1]], None, InputError, "from 0 to 1, got -1"),
    ],
)
def test_broken_labels(labels, classes, error, words):
    with pytest.raises(error, match=words):
        draws(labels, classes)


@pytest.mark.parametrize("label", [10**9, 2**60, 1e18, 1.7e308, float("inf"), float("nan")])
def test_a_label_that_would_be_a_billion_classes_is_one_line(label):
    # 12 labels of 8 bytes took gigabytes: a column for each class below the largest.
    with pytest.raises(InputError, match="sampled labels"):
        draws(np.array([[0, 1, label]]))


def test_many_classes_that_fit_are_taken():
    assert draws(np.array([[0, 1, 9_999]])).outcomes.names == ("0", "1", "9999")


def test_one_class_is_too_few_and_none_may_be_beyond_the_last():
    for labels, classes in (([[0, 0]], None), ([[0, 2]], 2), ([[-1, 1]], None), ([[0, 0]], 1)):
        with pytest.raises(InputError, match="sampled labels must be from 0 to"):
            draws(np.array(labels), classes)

"""Splits are hashed from names: no order, no other point and no rerun moves one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rue.data
from rue.data.splits import add_validation, hashed_folds, limit_training, rotate, split_as_published
from rue.errors import InputError

groups = st.lists(st.text(max_size=4), min_size=1, max_size=40)


def test_worked_by_hand():
    # Fold s validates, s + 1 tests, the rest trains. Seed 4: fold 4 and, mod 5, fold 0.
    folds = np.array([0, 1, 2, 3, 4, 0])
    splits = rotate(folds, 4)
    assert splits["validation"].tolist() == [4]
    assert splits["test"].tolist() == [0, 5]
    assert splits["train"].tolist() == [1, 2, 3]


def test_pinned():
    # Were this to change, every published number on these splits would.
    folds = hashed_folds("sentiment-movies", map(str, range(1, 21)))
    assert folds.tolist() == [4, 3, 2, 1, 1, 0, 3, 3, 3, 2, 0, 4, 1, 1, 4, 0, 2, 0, 2, 1]


@given(groups, st.integers(0, 20), st.randoms())
def test_order_does_not_matter(names, seed, random):
    shuffled = names.copy()
    random.shuffle(shuffled)
    fold_of = dict(zip(names, hashed_folds("x", names, seed=seed), strict=True))
    again = hashed_folds("x", shuffled, seed=seed)
    assert again.tolist() == [fold_of[name] for name in shuffled]


@given(groups, st.integers(0, 20))
def test_every_point_is_in_one_split_and_groups_stay_together(names, seed):
    splits = rotate(hashed_folds("x", names, seed=seed), seed)
    together = np.concatenate([splits["train"], splits["validation"], splits["test"]])
    assert sorted(together) == list(range(len(names)))
    parts = [{names[i] for i in splits[part]} for part in ("train", "validation", "test")]
    assert sum(map(len, parts)) == len(set(names))


@given(groups)
def test_over_five_seeds_every_point_tests_once(names):
    tests = [rotate(hashed_folds("x", names, seed=s), s)["test"] for s in range(5)]
    assert sorted(np.concatenate(tests)) == list(range(len(names)))


def test_folds_are_even_and_differ_by_name_and_by_deal():
    names = list(map(str, range(5000)))
    folds = hashed_folds("x", names)
    # Binomial(5000, 1/5): standard deviation 28
    assert np.abs(np.bincount(folds, minlength=5) - 1000).max() < 150
    for other in (hashed_folds("y", names), hashed_folds("x", names, seed=5)):
        assert np.mean(folds == other) == pytest.approx(0.2, abs=0.03)
    assert (folds == hashed_folds("x", names, seed=4)).all()


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0"])
def test_bad_seed(seed):
    with pytest.raises(InputError, match="seed must be a whole number of at least 0"):
        hashed_folds("x", ["a"], seed=seed)


def test_fewer_training_points_are_drawn_by_seed_and_id():
    data = rue.data.load("random-rbf", n_points=100)
    few, fewer, other = (limit_training(data, n, seed=s) for n, s in ((30, 0), (10, 0), (30, 1)))
    assert len(few.train) == 30
    assert set(fewer.train) < set(few.train) < set(data.train)
    assert set(other.train) != set(few.train)
    assert few.notes == ("30 of 60 training points, drawn by seed 0",)
    np.testing.assert_array_equal(few.test, data.test)
    np.testing.assert_array_equal(few.validation, data.validation)
    assert limit_training(data, 60) is data
    # Points in another order: the same ids are kept.
    turned = limit_training(replace(data, train=data.train[::-1]), 30)
    np.testing.assert_array_equal(turned.train, few.train)
    with pytest.raises(InputError, match="n_points must be"):
        limit_training(data, 0)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(0, 9))
def test_the_rule_of_the_papers_code(folds, seed):
    """Fold s tests; of the other n points, n // 10 validate and the rest train."""
    splits = split_as_published(np.array(folds), seed)
    assert splits["test"].tolist() == [i for i, fold in enumerate(folds) if fold == seed % 5]
    together = np.concatenate([splits["train"], splits["validation"], splits["test"]])
    assert sorted(together) == list(range(len(folds)))
    assert len(splits["validation"]) == (len(folds) - len(splits["test"])) // 10
    for part in splits.values():
        assert (np.diff(part) > 0).all()


def test_the_tenth_differs_by_seed_and_is_spread_over_folds():
    folds = np.arange(1000) % 5
    first, sixth = split_as_published(folds, 0), split_as_published(folds, 5)
    assert (first["test"] == sixth["test"]).all()
    assert len(set(first["validation"]) & set(sixth["validation"])) < 40
    assert set(folds[first["validation"]]) == {1, 2, 3, 4}


def test_validation_points_are_taken_from_training_points():
    data = rue.data.load("random-rbf", n_points=100)
    more, most = (add_validation(data, n) for n in (30, 40))
    assert len(data.validation) == 20
    assert len(more.validation) == 30
    assert set(data.validation) < set(more.validation) < set(most.validation)
    assert sorted([*more.train, *more.validation]) == sorted([*data.train, *data.validation])
    assert set(add_validation(data, 30, seed=1).validation) != set(more.validation)
    assert more.notes == ("10 of 60 training points validate, drawn by seed 0",)
    assert add_validation(data, 20) is data
    # Points in another order: the same ids are taken.
    turned = add_validation(replace(data, train=data.train[::-1]), 30)
    np.testing.assert_array_equal(turned.validation, more.validation)
    with pytest.raises(InputError, match="random-rbf has 60 training points, 80 cannot validate"):
        add_validation(data, 100)

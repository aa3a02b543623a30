"""Budgets of active learning."""

import pytest

from rue.errors import InputError
from rue.proxies.budgets import BUDGETS, Budget, get_budget


def test_the_budgets_of_table_5():
    letter, rbf = BUDGETS["openml-6"], BUDGETS["openml-156"]
    assert (letter.start, letter.step, letter.rounds, letter.runs) == (1000, 1000, 10, 10)
    assert (rbf.start, rbf.step, rbf.rounds, rbf.runs) == (100, 100, 10, 10)
    assert letter.n_labelled == 11_000
    assert rbf.n_labelled == 1_100


def test_a_table_is_a_budget():
    assert get_budget({"start": 3, "step": 2, "rounds": 4}) == Budget(start=3, step=2, rounds=4)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("openml-7", "active_learning must be of openml-6, openml-156 or a table, got 'openml-7'"),
        (5, "active_learning must be a name .* or a table with start, step, rounds, runs, got 5"),
        ({"start": 1}, "the field active_learning.step is missing"),
        ({"start": 1, "step": 1, "stop": 1}, "stop is no known field: must be one of start, step"),
        ({"start": 0, "step": 1}, r"active_learning\.start must be .* got 0"),
        ({"start": 1, "step": 2.5}, r"active_learning\.step must be .* got 2.5"),
    ],
)
def test_invalid_budgets_raise(value, message):
    with pytest.raises(InputError, match=message):
        get_budget(value)

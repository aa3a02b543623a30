"""docs/estimation.md shows what its study measured, and says nothing else."""

import numpy as np
import pytest

from rue.sandbox import make_category_world, split_category_regret
from studies import estimation
from studies.rows import read_rows


@pytest.fixture(scope="module")
def record():
    return read_rows("estimation")


def test_every_method_is_there(record):
    assert {row["method"] for row in record["rbf"]} == set(estimation.METHODS)


def test_parts_add_up_in_every_row(record):
    for row in record["sandbox"] + record["rbf"]:
        assert row["regret"] == pytest.approx(row["approximation"] + row["estimation"])
        assert row["approximation"] >= 0
    for row in record["sandbox"]:
        assert row["estimation"] == pytest.approx(row["in_class"])


def test_what_the_page_says_about_the_sandbox(record):
    for row in record["sandbox"]:
        if row["n_cells"] < 128 and row["loss"] == "log":
            assert row["predicted_regret"] == pytest.approx(row["estimation"], rel=0.2)
            assert row["n_aurec_in_class"] < 0.7 < 1 < row["n_aurec_approximation"]


def test_numbers_of_one_class_by_hand():
    world = make_category_world(depth=3)
    parts, epistemic = split_category_regret(world, 2)
    found = estimation.numbers(parts, epistemic, world.mass)
    assert found["regret"] == pytest.approx(world.mass @ parts.regret)
    assert found["predicted_regret"] == pytest.approx(np.average(epistemic, weights=world.mass))
    assert estimation.means([{"a": 1.0}, {"a": 3.0}]) == {"a": 2.0, "a_se": 1.0}
    assert estimation.means([{"a": 1.0}, {"a": None}]) == {"a": None, "a_se": None}

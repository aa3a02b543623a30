"""Rows of a study that come with rue, and a row's place among them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue.bench.baselines import RANKED, among, pack, read_baselines, shipped_baselines, unpack
from rue.bench.suite import read_suite
from rue.errors import InputError

ROW = {"dataset": "ferplus-features", "method": "a", "loss": "log", "n_seeds": 5, "n_points": 9}
ROWS = [
    {**ROW, "aurec": 0.123456789, "n_aurec": 0.5},
    {**ROW, "method": "b", "aurec": 0.2, "n_aurec": None},
    {**ROW, "method": "b", "loss": "", "auac": 0.7},
]


def test_packed_and_unpacked_through_json():
    content = json.loads(json.dumps(pack("mine", "tuned", ROWS, n_missing=3)))
    found = unpack(content)
    assert (found.study, found.regime, found.n_missing) == ("mine", "tuned", 3)
    assert [row["method"] for row in found.rows] == ["a", "b"]  # a proxy's row has no loss
    assert found.rows[0]["aurec"] == 0.12346  # five digits
    assert found.rows[1]["n_aurec"] is None


def test_a_data_set_of_features_has_the_points_of_its_original():
    found = unpack(pack("mine", "tuned", ROWS))
    assert [row["method"] for row in found.of("ferplus", "log")] == ["a", "b"]
    assert found.of("ferplus-features", "log") == found.of("ferplus", "log")
    with pytest.raises(InputError, match="mine has rows of ferplus-features, not of 'letter'"):
        found.of("letter", "log")
    with pytest.raises(InputError, match="has ferplus under log, not brier loss"):
        found.of("ferplus", "brier")


def test_ranks_worked_by_hand():
    # Only 0.1 is better than 0.15, so it would be the second of three; by n-AuReC none is.
    others = [{"aurec": 0.1, "n_aurec": 0.9}, {"aurec": 0.3, "n_aurec": None}]
    assert among({"aurec": 0.15, "n_aurec": 0.5}, others) == {"aurec": 2, "n_aurec": 1}
    assert among({"aurec": 0.1, "n_aurec": None}, others) == {"aurec": 1, "n_aurec": None}
    assert among({"aurec": float("nan")}, others)["aurec"] is None


@given(st.floats(0, 1), st.lists(st.floats(0, 1), max_size=9))
def test_a_rank_is_the_place_in_the_sorted_list(mine, others):
    rank = among({"aurec": mine}, [{"aurec": other} for other in others])["aurec"]
    assert rank == sorted([*others, mine]).index(mine) + 1


@pytest.mark.parametrize("name", shipped_baselines())
def test_shipped_rows_are_those_of_their_suite(name):
    found, suite = read_baselines(name), read_suite(name)
    assert (found.study, found.regime) == (name, suite.regime)
    seen = set()
    for row in found.rows:
        assert row["method"] in suite.methods_of(row["dataset"])
        assert row["loss"] in suite.losses_of(row["dataset"])
        assert row["n_seeds"] <= len(suite.seeds)
        assert all(row[key] is None or row[key] > 0 for key in RANKED)
        seen.add((row["dataset"], row["method"], row["loss"]))
    assert len(seen) == len(found.rows)
    assert 0 <= found.n_missing < suite.n_cells


def test_what_does_not_come_with_rue():
    assert "atlas" in shipped_baselines()
    with pytest.raises(InputError, match=r"against must be one of atlas.*, got 'atlass'"):
        read_baselines("atlass")

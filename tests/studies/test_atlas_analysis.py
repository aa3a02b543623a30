"""Ranks, tests and intervals over data sets, against values by hand and against twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.atlas_analysis import (
    Grid,
    bootstrap,
    estimate,
    grid,
    mean_ranks,
    nemenyi,
    permutation_tau,
    sign_flip,
    tau,
    taus,
    unresolved,
)


def made(values, column="n_aurec"):
    values = np.asarray(values, float)
    names = tuple(f"d{i}" for i in range(len(values)))
    return Grid(names, tuple("abcdefgh"[: values.shape[1]]), values, column)


def test_a_grid_is_the_mean_over_seeds():
    rows = [
        {"dataset": d, "method": m, "loss": "log", "seed": s, "n_aurec": value}
        for d, m, s, value in [("x", "a", 0, 0.2), ("x", "a", 1, 0.4), ("x", "b", 0, 0.5)]
    ]
    rows.append({"dataset": "y", "method": "a", "loss": "log", "seed": 0, "n_aurec": None})
    rows.append({"dataset": "y", "method": "b", "loss": "rps", "seed": 0, "n_aurec": 1.0})
    found = grid(rows, "n_aurec", "log")
    assert (found.datasets, found.methods) == (("x",), ("a", "b"))
    np.testing.assert_allclose(found.values, [[0.3, 0.5]])


def test_complete_keeps_data_sets_that_have_all_methods():
    found = made([[1, 2], [np.nan, 3]])
    assert found.complete().datasets == ("d0",)
    assert found.complete(["b"]).datasets == ("d0", "d1")


def test_ranks_worked_by_hand():
    # Row 1: b, a, c; row 2: a and b share ranks 1 and 2.
    found = made([[0.5, 0.4, 0.9], [0.2, 0.2, 0.3]])
    np.testing.assert_array_equal(found.ranks, [[2, 1, 3], [1.5, 1.5, 3]])
    high = made([[0.5, 0.4]], "auac")  # higher is better
    np.testing.assert_array_equal(high.ranks, [[1, 2]])


def test_nemenyi_has_the_published_values():
    # Demsar (2006), table 5: q_0.05 is 2.343 for 3 classifiers and 2.949 for 7... of 14 data sets
    # with 4 classifiers the critical difference is 2.569 sqrt(4 * 5 / (6 * 14)) = 1.25.
    assert nemenyi(14, 4) == pytest.approx(1.25, abs=0.005)
    assert nemenyi(1, 3) == pytest.approx(2.343 * np.sqrt(2), abs=0.002)


def test_ranks_of_methods_that_differ_and_of_noise():
    rng = np.random.default_rng(0)
    clear = mean_ranks(made(np.arange(4) + 0.01 * rng.normal(size=(12, 4))))
    assert clear.order == ["a", "b", "c", "d"]
    assert clear.p_value < 1e-6
    assert clear.not_separated == ["b"]  # 1 apart, and the critical difference is 1.35
    np.testing.assert_array_equal(clear.low, clear.high)  # the same order on every data set
    noise = mean_ranks(made(rng.normal(size=(12, 4))))
    assert noise.p_value > 0.01
    assert (noise.low < noise.mean).all()
    assert (noise.mean < noise.high).all()


def test_sign_flips_worked_by_hand():
    # Means of all 8 sign patterns of (1, 2, 3) over 3: only +++ and --- reach 2, so p is 2 / 8.
    assert sign_flip(np.array([1.0, 2.0, 3.0])) == 0.25
    assert sign_flip(np.array([1.0, -1.0])) == 1.0
    assert sign_flip(np.full(40, 1.0)) < 0.001


def named(*values):
    return {f"d{i}": value for i, value in enumerate(values)}


def test_an_estimate_covers_its_mean():
    spread = estimate(named(0.1, 0.3, np.nan, 0.2, 0.15, 0.25))
    assert (spread.n_datasets, spread.n_families) == (5, 5)
    assert spread.mean == pytest.approx(0.2)
    assert spread.low < spread.mean < spread.high
    assert not spread.is_clear  # five families: the least p is 2 / 32
    same = estimate(named(*[1.0] * 6))
    assert (str(same), same.families) == ("+1.000 [+1.000, +1.000]", "6 families")
    assert same.is_clear
    few = estimate(named(1.0, 1.0, 1.0, 1.0))
    assert (str(few), few.families) == ("+1.000", "4 families: cannot be tested")
    assert not few.is_clear
    assert str(estimate({})) == "-"


def test_an_estimate_counts_each_family_once():
    # Sentiment: (0 + 0 + 3) / 3 = 1; EmoBank 2; FER+ 6: the mean of the families is 3.
    values = {
        "sentiment-movies": 0.0,
        "sentiment-nyt": 0.0,
        "sentiment-tweets": 3.0,
        "emobank-valence": 2.0,
        "ferplus-features": 6.0,
    }
    one = estimate(values)
    assert (one.mean, one.n_datasets, one.n_families) == (3.0, 5, 3)
    ranks = mean_ranks(Grid(tuple(values), ("a", "b"), np.array([[1, 2.0]] * 4 + [[2, 1.0]]), "x"))
    np.testing.assert_allclose(ranks.mean, [4 / 3, 5 / 3])
    assert (ranks.n_families, ranks.is_tested) == (3, False)
    assert np.isnan(ranks.p_value)


def test_methods_with_the_same_mean_rank_are_both_first():
    ranks = mean_ranks(made([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]]))
    assert ranks.first == ["a", "b"]
    assert "b" not in ranks.not_separated


def test_a_bootstrap_of_a_mean_has_its_standard_error():
    x = np.random.default_rng(1).normal(size=400)
    low, high = bootstrap(x)
    assert (high - low) / 2 == pytest.approx(1.96 * x.std() / 20, rel=0.1)


@given(st.lists(st.integers(0, 5), min_size=3, max_size=7), st.randoms())
def test_tau_against_all_pairs(first, random):
    second = first.copy()
    random.shuffle(second)
    a, b = np.array(first, float), np.array(second, float)
    signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i in range(len(a)) for j in range(i)]
    concordant = sum(x * y for x, y in signs)
    untied = [sum(s[k] != 0 for s in signs) for k in (0, 1)]
    if all(untied):
        assert tau(a, b) == pytest.approx(concordant / np.sqrt(untied[0] * untied[1]))


def test_taus_turn_columns_of_which_high_is_better():
    regret, proxy = made([[1, 2, 3], [1, 2, 3]]), made([[9, 8, 7], [7, 8, 9]], "auac")
    assert taus(regret, proxy) == {"d0": pytest.approx(1), "d1": pytest.approx(-1)}


def test_a_permutation_finds_an_order_that_is_there_and_none_in_noise():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(6, 5))
    assert permutation_tau(made(a), made(2 * a), n_draws=99) == 0.01
    assert permutation_tau(made(a), made(rng.normal(size=(6, 5))), n_draws=99) > 0.05


def test_overlaps_worked_by_hand():
    # [0, 1] and [0.5, 2] overlap; [3, 4] overlaps neither.
    assert unresolved(np.array([0, 0.5, 3]), np.array([1, 2, 4])) == (1, 3)

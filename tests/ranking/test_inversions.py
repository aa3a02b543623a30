"""Ranks, tau and inversions: by hand, against loops, and as laws."""

import json
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata

from rue import Annotations, Draws, evaluate
from rue.errors import InputError
from rue.metrics.columns import Column
from rue.ranking.inversions import Contest, find_inversions
from rue.ranking.scores import CRITERIA, Score, to_scores

NEAR, AUREC = Contest("d", "near_ood", ""), Contest("d", "aurec", "log")


def scores_of(column, **values):
    """Scores of methods, a list of values being one a seed."""
    return [
        Score(column.dataset, method, seed, column.criterion, column.loss, value)
        for method, given_ in values.items()
        for seed, value in (enumerate(given_) if isinstance(given_, list) else [(None, given_)])
    ]


def test_by_hand():
    found = find_inversions(
        scores_of(AUREC, a=[0.30, 0.32], b=[0.20, 0.20], c=[0.10, 0.40])
        + scores_of(NEAR, a=[0.9, 0.7], b=[0.8, 0.8], c=[0.7, 0.6])
    )
    # Means: near-OOD 0.80, 0.80, 0.65 (high is best: 1.5, 1.5, 3), AuReC 0.31, 0.20, 0.25.
    assert found.columns == (NEAR, AUREC)  # the order of CRITERIA
    assert found.methods == ("a", "b", "c")
    assert found.values == pytest.approx(np.array([[0.8, 0.8, 0.65], [0.31, 0.2, 0.25]]))
    assert found.ranks.tolist() == [[1.5, 1.5, 3], [3, 1, 2]]
    # Pairs ab tied under one, ac disagree, bc agree: (1 - 1) / sqrt(2 * 3) = 0.
    assert found.tau.tolist() == [[1, 0], [0, 1]]
    # a is better than c by 0.15 of a span of 0.15, c than a by 0.06 of 0.11.
    (only,) = found.inversions
    assert (only.first, only.second, only.method, only.rival) == (NEAR, AUREC, "a", "c")
    assert (only.first_margin, only.second_margin) == pytest.approx((0.15, 0.06))
    assert only.strength == pytest.approx(0.06 / 0.11)
    # Seed 0: a leads 0.9 to 0.7, c leads 0.10 to 0.30. Seed 1: a leads under both.
    assert (only.n_seeds, only.n_inverted, only.p_value) == (2, 1, None)


def test_means_that_have_no_seeds_count_none():
    found = find_inversions(scores_of(NEAR, a=0.9, b=0.8) + scores_of(AUREC, a=0.2, b=0.1))
    (only,) = found.inversions
    assert (only.n_seeds, only.n_inverted, only.strength) == (0, 0, 1.0)


def test_seeds_are_matched_by_number():
    found = find_inversions(
        scores_of(NEAR, a=[0.9, 0.9, 0.1], b=[0.8, 0.8, 0.2])
        + scores_of(AUREC, a=[0.3, 0.1], b=[0.2, 0.15])
    )
    (only,) = found.inversions
    # Seed 2 has no AuReC; seed 0 is inverted, seed 1 is not. The means are.
    assert (only.n_seeds, only.n_inverted) == (2, 1)


def test_a_method_may_lack_a_criterion():
    found = find_inversions(scores_of(NEAR, a=0.9, b=0.8) + scores_of(AUREC, a=0.2, b=0.1, c=0.05))
    assert found.ranks_of("d", "near_ood") == {"a": 1, "b": 2}
    assert found.ranks_of("d", "aurec", "log") == {"a": 3, "b": 2, "c": 1}
    assert found.tau[0, 1] == -1  # of a and b alone
    assert [(i.method, i.rival) for i in found.inversions] == [("a", "b")]
    assert found.inversions[0].strength == pytest.approx(0.1 / 0.15)


def test_nothing_in_common_or_all_equal_has_no_tau():
    apart = find_inversions(scores_of(NEAR, a=1.0, b=2.0) + scores_of(AUREC, c=1.0, d=2.0))
    assert np.isnan(apart.tau[0, 1])
    assert apart.inversions == ()
    equal = find_inversions(scores_of(NEAR, a=1.0, b=2.0) + scores_of(AUREC, a=1.0, b=1.0))
    assert np.isnan(equal.tau[:, 1]).all()
    assert equal.ranks[1].tolist() == [1.5, 1.5]
    assert equal.inversions == ()


def test_r_s_is_best_near_zero():
    column = Contest("d", "spearman_hat", "log")
    found = find_inversions(scores_of(column, a=-0.5, b=0.1, c=0.5))
    assert found.ranks.tolist() == [[2.5, 1, 2.5]]


def test_data_sets_and_losses_are_columns_apart():
    columns = [Contest(d, "aurec", loss) for d, loss in product("de", ("log", "zero_one"))]
    found = find_inversions(s for c in columns for s in scores_of(c, a=0.1, b=0.2))
    assert found.columns == tuple(columns)
    assert found.tau.tolist() == np.ones((4, 4)).tolist()


def test_rows_of_evaluate_over_seeds(rng):
    """What a benchmark has: evaluations of several seeds, with the data set and seed beside."""
    people = Annotations(rng.multinomial(9, rng.dirichlet(np.ones(3), 40)))
    rows = [
        evaluate(people, Draws(rng.dirichlet(np.ones(3), (40, 4))), loss, method=method).to_dict()
        | {"dataset": "d", "seed": seed}
        for method in "abc"
        for seed in range(3)
        for loss in ("log", "brier")
    ]
    found = find_inversions(to_scores(rows))
    logs = [row for row in rows if row["loss"] == "log"]
    means = [np.mean([row["n_aurec"] for row in logs if row["method"] == m]) for m in "abc"]
    order = found.ranks_of("d", "n_aurec", "log")
    assert [order[m] for m in "abc"] == rankdata(means).tolist()
    assert found.inversions
    assert all(x.n_seeds == 3 for x in found.inversions)


def test_a_p_value_is_the_larger_of_two():
    asked = []

    def p_value(column, better, worse):
        asked.append((column, better, worse))
        return {NEAR: 0.03, AUREC: 0.2}[column]

    scores = scores_of(NEAR, a=0.9, b=0.8) + scores_of(AUREC, a=0.2, b=0.1)
    assert find_inversions(scores, p_value=p_value).inversions[0].p_value == 0.2
    assert asked == [(NEAR, "a", "b"), (AUREC, "b", "a")]
    half = find_inversions(scores, p_value=lambda column, *_: 0.0 if column == NEAR else None)
    assert half.inversions[0].p_value is None
    sure = find_inversions(scores, p_value=lambda *_: 0.0)
    assert sure.inversions[0].p_value == 0.0


def test_further_criteria_may_be_given():
    further = {
        **CRITERIA,
        "mine": Column(key="mine", title="mine", digits=2, better="high", kind="proxy", meaning=""),
    }
    column = Contest("d", "mine", "")
    found = find_inversions(scores_of(column, a=1.0, b=2.0), criteria=further)
    assert found.ranks.tolist() == [[2, 1]]
    with pytest.raises(InputError, match="criterion must be one of"):
        find_inversions(scores_of(column, a=1.0, b=2.0))


def test_broken_scores_are_refused():
    with pytest.raises(InputError, match="at least one score"):
        find_inversions([])
    with pytest.raises(InputError, match=r"unique, got two of .*method='a'"):
        find_inversions(scores_of(NEAR, a=0.1) * 2)
    with pytest.raises(InputError, match=r"finite and below 1e100 in size, got .*inf"):
        find_inversions(scores_of(NEAR, a=np.inf))
    found = find_inversions(scores_of(NEAR, a=0.1))
    with pytest.raises(InputError, match="scores of aurec d log, got none"):
        found.ranks_of("d", "aurec", "log")


def test_json_is_valid_and_whole():
    found = find_inversions(scores_of(NEAR, a=0.9, b=0.8) + scores_of(AUREC, a=0.2, b=0.1, c=0.1))
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["values"][0] == [0.9, 0.8, None]
    assert record["criteria"][1] == {"dataset": "d", "criterion": "aurec", "loss": "log"}
    assert record["inversions"][0]["first"] == record["criteria"][0]
    assert len(record["inversions"]) == len(found.inversions) == 1


# Naive twin and laws: three criteria, up to five methods, up to three seeds, many ties.

COLUMNS = (NEAR, AUREC, Contest("d", "spearman_hat", "log"))
worlds = st.integers(2, 5).flatmap(
    lambda n_methods: st.integers(1, 3).flatmap(
        lambda n_seeds: st.lists(
            st.lists(
                st.lists(st.integers(-2, 3), min_size=n_seeds, max_size=n_seeds),
                min_size=n_methods,
                max_size=n_methods,
            ),
            min_size=3,
            max_size=3,
        )
    )
)
COST = {"near_ood": lambda v: -v, "aurec": lambda v: v, "spearman_hat": abs}


def world_scores(world):
    return [
        score
        for column, rows in zip(COLUMNS, world, strict=True)
        for score in scores_of(column, **{f"m{i}": row for i, row in enumerate(rows)})
    ]


@given(worlds)
def test_equals_the_naive_twin(world):
    found = find_inversions(world_scores(world))
    n_seeds = len(world[0][0])
    means = [[sum(row) / n_seeds for row in rows] for rows in world]
    costs = [
        [COST[c.criterion](mean) for mean in row] for c, row in zip(COLUMNS, means, strict=True)
    ]
    assert found.ranks == pytest.approx(np.array([rankdata(row) for row in costs]))
    expected = set()
    for (i, first), (j, second) in permutations(enumerate(COLUMNS), 2):
        tau = kendalltau(costs[i], costs[j]).statistic
        assert found.tau[i, j] == pytest.approx(tau, abs=1e-12, nan_ok=True)
        for a, b in permutations(range(len(world[0])), 2):
            if i < j and costs[i][a] < costs[i][b] and costs[j][b] < costs[j][a]:
                times = sum(
                    COST[first.criterion](world[i][a][s]) < COST[first.criterion](world[i][b][s])
                    and COST[second.criterion](world[j][b][s])
                    < COST[second.criterion](world[j][a][s])
                    for s in range(n_seeds)
                )
                expected.add((first, second, f"m{a}", f"m{b}", times))
    assert {
        (x.first, x.second, x.method, x.rival, x.n_inverted) for x in found.inversions
    } == expected
    assert len(found.inversions) == len(expected)


@given(worlds, st.randoms())
def test_laws(world, random):
    scores = world_scores(world)
    found = find_inversions(scores)
    n = len(found.methods)
    assert found.ranks.sum(axis=1) == pytest.approx(n * (n + 1) / 2)
    assert (np.nan_to_num(found.tau) == np.nan_to_num(found.tau.T)).all()
    strengths = [x.strength for x in found.inversions]
    assert strengths == sorted(strengths, reverse=True)
    assert all(0 < s <= 1 for s in strengths)
    assert all(x.n_inverted <= x.n_seeds for x in found.inversions)
    assert all(x.first_margin > 0 < x.second_margin for x in found.inversions)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        pair = (found.columns[i], found.columns[j])
        n_inverted = sum((x.first, x.second) == pair for x in found.inversions)
        if all(len(set(found.ranks[k])) == n for k in (i, j)):  # no ties: tau counts inversions
            assert found.tau[i, j] == pytest.approx(1 - 4 * n_inverted / (n * (n - 1)))
    # The order of the scores does not matter.
    again = find_inversions(random.sample(scores, len(scores)))
    for column in found.columns:
        names = (column.dataset, column.criterion, column.loss)
        assert again.ranks_of(*names) == found.ranks_of(*names)
    key = [(x.first, x.second, x.method, x.rival, x.n_inverted) for x in found.inversions]
    assert set(key) == {
        (x.first, x.second, x.method, x.rival, x.n_inverted) for x in again.inversions
    }
    # Nor does the unit of a criterion.
    scaled = [Score(s.dataset, s.method, s.seed, s.criterion, s.loss, 8 * s.value) for s in scores]
    larger = find_inversions(scaled)
    assert [x.strength for x in larger.inversions] == pytest.approx(strengths)
    assert larger.ranks.tolist() == found.ranks.tolist()


def test_values_whose_sums_would_overflow_are_refused():
    rows = [{"method": m, "aurec": v, "aurc": v} for m, v in (("a", 1.7e308), ("b", 1.0))]
    with pytest.raises(InputError, match="below 1e100 in size"):
        find_inversions(to_scores(rows))

"""Comparisons: paired replicates, p-values that fit their intervals, Holm, ranks, inversions."""

import json
import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from rue import Annotations, Components, CostMatrix, Draws, Run, Scored, decompose, realize
from rue.errors import InputError, ShapeError
from rue.inference.bootstrap import own_order, replicates
from rue.inference.comparison import COMPARABLE, compare
from rue.inference.method_ranking import Ranking, compare_column, holm, significant_inversions
from rue.metrics.evaluation import evaluate_run
from rue.plots.comparison import _cliques, plot_rankings


@pytest.fixture(scope="module")
def runs():
    """Three methods of 150 points: a good ranking, a noisy one, and none."""
    rng = np.random.default_rng(0)
    people = Annotations(rng.multinomial(20, rng.dirichlet(np.ones(3), 150)))
    star = realize(people, Draws(rng.dirichlet(np.ones(3), (150, 1))), "brier")
    noise = rng.gamma(0.5, size=(2, 150))
    hats = {
        "good": star.epistemic + 0.05 * noise[0],
        "noisy": star.epistemic + noise[1],
        "none": np.ones(150),
    }
    zero = np.zeros(150)
    return [Run(star, Components(e, zero, e), method=name) for name, e in hats.items()]


def test_differences_are_of_the_same_samples(runs):
    found = compare(runs, criteria=["aurec", "aurc"], n_replicates=400)
    rows = own_order(runs)
    drawn = {r.method: replicates(r, n_replicates=400, rows=rows)["aurec"] for r in runs}
    each = {r.method: evaluate_run(r, gap=False).aurec for r in runs}
    for d in found["aurec"].differences:
        moved = drawn[d.first] - drawn[d.second]
        assert d.difference == pytest.approx(each[d.first] - each[d.second])
        assert moved.min() <= d.low < d.high <= moved.max()
    # Paired: the difference is known far better than either.
    first = found["aurec"].differences[0]
    alone = found["aurec"].high["good"] - found["aurec"].low["good"]
    assert first.high - first.low < 1.5 * alone
    assert found["aurec"].best == ("good",)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("skewed", [False, True])
def test_the_p_value_is_where_the_interval_meets_0(seed, skewed):
    rng = np.random.default_rng(seed)
    influences = {"a": rng.gamma(0.3, size=200) - 0.3, "b": np.zeros(200)} if skewed else None
    estimate = {"a": 0.4 + 0.15 * seed, "b": 0.0}
    drawn = {"a": estimate["a"] + rng.gamma(4.0, size=4000) / 2 - 2, "b": np.zeros(4000)}
    p = compare_column("x", estimate, drawn, influences).differences[0].p_value
    assert 0.001 < p < 1
    found = compare_column("x", estimate, drawn, influences, level=1 - p).differences[0]
    assert found.low == pytest.approx(0, abs=0.01)


def test_so_many_samples_show_no_less(runs):
    found = compare(runs, criteria=["aurec"], n_replicates=50)["aurec"]
    assert min(d.p_value for d in found.differences) >= 1 / 51


def test_identical_methods_are_never_told_apart(runs):
    good, noisy, _ = runs
    same = [replace(noisy, method="a"), replace(noisy, method="b"), replace(good, method="c")]
    found = compare(same, criteria=["aurec"], n_replicates=300)["aurec"]
    d = found.differences[0]
    assert (d.difference, d.low, d.high) == (0, 0, 0)
    assert d.p_value == pytest.approx(1)
    assert not found.significant("a", "b")
    assert found.rank_probability[0] == pytest.approx(found.rank_probability[1])


@pytest.mark.parametrize("seed", range(6))
def test_methods_that_differ_by_rounding_are_never_told_apart(seed):
    """Ties among neighbours of equal regret change no area, only how it is summed."""
    rng = np.random.default_rng(seed)
    regret = rng.integers(0, 3, 200) / 7 * (rng.random(200) < 0.5)
    order, zero = rng.permutation(200), np.zeros(200)
    score, tied = np.empty(200), np.empty(200)
    score[order] = np.arange(200)
    tied[order] = np.cumsum(np.append(True, np.diff(regret[order]) != 0))
    star = Components(regret + 0.3, zero + 0.3, regret)
    pair = [Run(star, Components(e, zero, e), method=n) for n, e in (("a", score), ("b", tied))]
    found = compare(pair, criteria=["aurec", "excess_aurec", "n_aurec", "aurc"], n_replicates=300)
    for ranking in found.rankings.values():
        d = ranking.differences[0]
        assert (d.difference, d.low, d.high) == (0, 0, 0)
        assert d.p_value == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_perfect_rankings_are_never_told_apart(seed):
    """Both have the oracle's area, so an excess is rounding and nothing else."""
    rng = np.random.default_rng(seed)
    regret, zero = rng.integers(0, 3, 200) / 7 * (rng.random(200) < 0.5), np.zeros(200)
    star = Components(regret + 0.3, zero + 0.3, regret)
    noise = 1e-3 * rng.random(200)
    hats = {"a": regret, "b": regret + noise, "c": regret + noise[::-1]}
    pairs = [Run(star, Components(e, zero, e), method=n) for n, e in hats.items()]
    found = compare(pairs, criteria=["excess_aurec", "n_aurec"], n_replicates=300)
    for ranking in found.rankings.values():
        assert set(ranking.estimate.values()) == {0}
        assert [d.p_value for d in ranking.differences] == pytest.approx([1, 1, 1])


def test_laws(runs):
    found = compare(runs, n_replicates=300)
    for ranking in found.rankings.values():
        assert ranking.rank_probability.sum(axis=1) == pytest.approx(1)
        assert ranking.rank_probability.sum(axis=0) == pytest.approx(1)
        for d in ranking.differences:
            assert d.p_value <= d.p_holm <= 1
            assert d.low <= d.high
    order = np.random.default_rng(1).permutation(150)
    moved = compare([run[order] for run in runs], n_replicates=300)
    back = compare(runs[::-1], n_replicates=300)
    for name, ranking in found.rankings.items():
        for a, b in zip(ranking.differences, moved[name].differences, strict=True):
            assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=1e-9)
        assert back[name].best == ranking.best
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["level"] == 0.95


def test_every_criterion(runs):
    good, *others = runs
    outside = replace(good, hat=replace(good.hat, outside_score=True))
    compared = [
        replace(run, at={"coverage": 0.8, "risk": 0.1, "regret": 0.1}) for run in (outside, *others)
    ]
    found = compare(compared, criteria=COMPARABLE, n_replicates=60)
    calibration = found["regret_calibration"]
    assert math.isnan(calibration.estimate["good"])
    assert calibration.order == tuple(sorted(("noisy", "none"), key=calibration.estimate.get))
    assert np.isnan(calibration.rank_probability[0]).all()
    assert found.to_dict()["criteria"]["regret_calibration"]["methods"]["good"]["low"] is None
    assert [math.isnan(d.p_holm) for d in calibration.differences] == [True, True, False]


def naive_holm(p):
    """Reject the k-th smallest at alpha if all up to it are below alpha / (m - their index)."""
    corrected = []
    for target in p:
        steps = sorted(p)
        upto = [(len(p) - i) * q for i, q in enumerate(steps) if q <= target]
        corrected.append(min(1.0, max(upto)))
    return corrected


def test_holm():
    for p in ([0.01, 0.02, 0.03, 0.5], [0.2], [0.04, 0.04, 0.001], [1.0, 0.9]):
        for order in permutations(p):
            assert holm(order) == pytest.approx(naive_holm(order))
    assert holm([0.01, math.nan, 0.02]) == pytest.approx([0.02, math.nan, 0.02], nan_ok=True)


def test_ranks_by_hand():
    # a beats b in two of four samples, is tied in one: 2.5 of 4 first places.
    drawn = {"a": np.array([1.0, 1.0, 2.0, 3.0]), "b": np.array([2.0, 2.0, 2.0, 1.0])}
    found = compare_column("x", {"a": 1.0, "b": 2.0}, drawn)
    assert found.rank_probability.tolist() == [[0.625, 0.375], [0.375, 0.625]]
    assert found.expected_rank == {"a": 1.375, "b": 1.625}


def ranking(values, spread, rng):
    drawn = {n: v + spread * rng.normal(size=2000) for n, v in values.items()}
    return compare_column("x", values, drawn)


def test_inversions_must_be_sure_both_ways(rng):
    first = ranking({"a": 1.0, "b": 2.0, "c": 2.1}, 0.05, rng)
    second = ranking({"a": 5.0, "b": 4.0, "c": 3.0}, 0.05, rng)
    assert significant_inversions(first, second) == [("a", "b"), ("a", "c")]
    assert significant_inversions(first, first) == []
    blurred = ranking({"a": 5.0, "b": 4.0, "c": 3.0}, 3.0, rng)
    assert significant_inversions(first, blurred) == []


def test_sentences(runs, rng):
    sure = ranking({"a": 1.0, "b": 2.0}, 0.05, rng)
    assert str(sure).startswith("a has the lowest x of 2 methods (p <= ")
    unsure = ranking({"a": 1.0, "b": 1.01, "c": 9.0}, 0.5, rng)
    assert str(unsure) == "No significant winner by x: a and b cannot be separated."
    nothing = compare_column("x", dict.fromkeys("ab", math.nan), dict.fromkeys("ab", np.ones(3)))
    assert str(nothing) == "x is undefined for every method."
    values = {"o": math.nan, "a": 1.0, "b": 2.0}
    drawn = {n: v + 0.05 * rng.standard_normal(200) for n, v in values.items()}
    partly = compare_column("x", values, drawn)
    p = partly.differences[-1].p_holm
    assert str(partly) == f"a has the lowest x of 2 methods (p <= {p:.2g})."
    with pytest.raises(InputError, match="methods must be among a, b"):
        sure.significant("a", "z")


def test_bars_join_what_cannot_be_told_apart(rng, tmp_path):
    found = ranking({"a": 1.0, "b": 1.02, "c": 1.3, "d": 9.0}, 0.2, rng)
    assert _cliques(found) == [("a", "b", "c")]
    chained: Ranking = ranking({"a": 1.0, "b": 1.6, "c": 2.2}, 0.25, rng)
    assert _cliques(chained) == [("a", "b"), ("b", "c")]
    figure = plot_rankings([("one", found), ("two", chained)])
    shown = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert len(shown) == 7
    assert shown[0].startswith("a  1.00 [")


def test_broken_calls(runs):
    with pytest.raises(InputError, match="at least two methods, got 1"):
        compare(runs[:1])
    with pytest.raises(InputError, match="criteria must be some of"):
        compare(runs, criteria=["spearman_hat"])
    with pytest.raises(InputError, match="got none"):
        compare(runs, criteria=[])
    with pytest.raises(ShapeError, match="same points, got good 150 and noisy 9"):
        compare([runs[0], runs[1][:9]])
    with pytest.raises(InputError, match="a name of its own, got two of 'good'"):
        compare([runs[0], runs[0]])
    with pytest.raises(InputError, match=r"runs must be a list of rue.Run, .* got 'good'"):
        compare({"good": runs[0], "noisy": runs[1]})


def test_an_outside_score_compares_by_its_ranking(runs, rng):
    people = Annotations(rng.multinomial(9, rng.dirichlet(np.ones(3), 80)))
    belief = Draws(rng.dirichlet(np.ones(3), (80, 4)))
    scored = Scored(belief.mean(), decompose(belief).epistemic * 100)
    pairs = [Run.from_belief(people, b, method=n) for n, b in (("d", belief), ("s", scored))]
    found = compare(pairs, criteria=["aurec"], n_replicates=50)["aurec"]
    assert found.differences[0].difference == 0


@pytest.fixture
def belief_runs(rng):
    truth = Annotations(rng.multinomial(8, [0.3, 0.3, 0.4], 60))
    ids = np.array([f"p{i}" for i in range(60)])

    def make(method, loss="zero_one", truth=truth, **options):
        belief = Draws(np.random.default_rng(len(method)).dirichlet(np.ones(3), (60, 3)))
        return replace(
            Run.from_belief(truth, belief, loss, method=method, **options), ids=ids[: len(truth)]
        )

    return truth, make


def test_rows_must_be_the_same_points(belief_runs, rng):
    truth, make = belief_runs
    one, two = make("a"), make("bb")
    rows = np.roll(np.arange(60), 1)
    back = compare([one, two[rows]], criteria=["aurec"])["aurec"]
    assert back.differences == compare([one, two], criteria=["aurec"])["aurec"].differences
    with pytest.raises(
        InputError, match="the run 'bb' lacks 1 of the ids in the run 'a', first 'p0'"
    ):
        compare([one, replace(two, ids=np.array(["x", *two.ids[1:]]))], criteria=["aurec"])
    with pytest.raises(InputError, match="all runs must have ids, or none, 'bb' has none"):
        compare([one, replace(two, ids=None)], criteria=["aurec"])
    with pytest.raises(InputError, match="the same answers, those of 'a' and 'bb' differ, first"):
        compare([one, make("bb", truth=truth[rows])], criteria=["aurec"])


def test_runs_must_have_one_loss_and_definition_1(belief_runs):
    _, make = belief_runs
    with pytest.raises(InputError, match="same loss and scale, got zero_one and log in 'a' and"):
        compare([make("a"), make("bb", "log")], criteria=["aurec"])
    scale = make("a", "squared", values=[0, 1, 5])
    with pytest.raises(InputError, match=r"got squared and squared .*, with other values or costs"):
        compare([scale, make("bb", "squared")], criteria=["aurec"])
    same = [make("a", "squared", values=[1, 2, 3]), make("bb", "squared")]
    assert compare(same, criteria=["aurec"], n_replicates=20).n_points == 60
    costs = [make("a", CostMatrix(np.eye(3))), make("bb", CostMatrix(2 * np.eye(3)))]
    with pytest.raises(InputError, match="with other values or costs"):
        compare(costs, criteria=["aurec"])
    with pytest.raises(InputError, match="got 'bb' by the convention \"published\""):
        compare([make("a"), make("bb", convention="published")], criteria=["aurec"])


def test_columns_of_which_high_or_no_values_are_better_have_paired_tests():
    rng = np.random.default_rng(3)
    probs = rng.dirichlet(np.ones(3), 200)
    people = Annotations(rng.multinomial(6, probs))
    members = {"near": 0.9 * probs + 0.1 * rng.dirichlet(np.ones(3), 200)}
    members["far"] = rng.dirichlet(np.ones(3), 200)
    beliefs = {
        name: Draws(np.stack([mean, 0.5 * mean + 0.5 * rng.dirichlet(np.ones(3), 200)], axis=1))
        for name, mean in members.items()
    }
    runs = [Run.from_belief(people, b, "brier", method=name) for name, b in beliefs.items()]
    criteria = ["pair_gain", "agreement_hat", "person_parity", "spearman_aleatoric"]
    assert set(criteria) <= set(COMPARABLE)
    assert "agreement_star" not in COMPARABLE  # it is the same for all methods
    found = compare(runs, criteria=criteria, n_replicates=300)
    own = {run.method: evaluate_run(run, gap=False, references=False) for run in runs}
    for key in criteria:
        d = found[key].differences[0]
        assert d.difference == pytest.approx(getattr(own["near"], key) - getattr(own["far"], key))
        assert d.low <= d.difference <= d.high
        assert (d.p_value <= 0.05) == (d.low > 0 or d.high < 0)
        json.dumps(found.to_dict(), allow_nan=False)
    high = found["spearman_aleatoric"]
    assert high.estimate["near"] > high.estimate["far"]
    assert high.order == ("near", "far")
    assert high.best == ("near",)
    assert high.expected_rank["near"] < high.expected_rank["far"]
    assert "near has the highest r_s aleatoric of 2 methods" in str(high)
    gain = found["pair_gain"]
    assert gain.best == ()
    assert str(gain).endswith("Compare it only between beliefs with the same mean.")
    assert "of 1 pairs differ significantly" in str(gain)
    assert significant_inversions(high, high) == []


def test_a_limit_that_runs_lack_is_named(runs):
    with pytest.raises(InputError, match="coverage_at_risk needs the same risk in all runs"):
        compare(runs, criteria=["coverage_at_risk"], n_replicates=20)
    limited = [replace(run, at={"risk": 0.1}) for run in runs]
    found = compare(limited, criteria=["coverage_at_risk"], n_replicates=50)["coverage_at_risk"]
    assert found.order[0] == max(found.estimate, key=found.estimate.get)

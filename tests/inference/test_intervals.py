"""Bootstrap intervals: replicates against resampling row by row, BCa against scipy, laws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from rue import Annotations, Components, Draws, Run, Scored, decompose, pareto_gap, realize
from rue._kernels.bootstrap import draw
from rue.errors import InputError, ShapeError
from rue.inference.bootstrap import _key, gap_replicates, own_order, replicates
from rue.inference.intervals import AREAS, INTERVAL_COLUMNS, influence, intervals
from rue.losses import LOSSES
from rue.metrics.clusters import number_clusters
from rue.metrics.columns import COLUMNS
from rue.metrics.evaluation import evaluate_run
from rue.truth.answer_losses import answers


def world(seed=0, n=60, loss="log", k=3, ties=False):
    rng = np.random.default_rng(seed)
    people = Annotations(rng.multinomial(rng.integers(2, 12, n), rng.dirichlet(np.ones(k), n)))
    probs = np.eye(k)[rng.integers(0, k, (n, 2))] if ties else rng.dirichlet(np.ones(k), (n, 4))
    belief = Draws(probs)
    return people, belief, realize(people, belief, loss), decompose(belief, loss)


def drawn_rows(run, replicate, seed=0):
    weight = np.empty(len(run), np.uint8)
    draw(_key(seed), replicate, weight)
    return np.repeat(own_order([run], columns=INTERVAL_COLUMNS), weight)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_replicates_are_evaluations_of_the_rows_drawn(loss, n, ties):
    people, belief, star, _ = world(n=n, loss=loss, ties=ties)
    run = Run.from_belief(people, belief, loss)
    found = replicates(run, n_replicates=20)
    for b in range(20):
        rows = drawn_rows(run, b)
        assert len(rows) == n
        again = evaluate_run(replace(run[rows], star=star[rows]), gap=False)  # the same panels
        for name in INTERVAL_COLUMNS:
            if name != "pareto_gap":
                expected = getattr(again, name)
                assert found[name][b] == pytest.approx(expected, abs=1e-10, nan_ok=True), name


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("decimals", [1, 9])
def test_replicates_of_more_points_than_a_part_are_evaluations_of_the_rows_drawn(
    decimals, clustered
):
    # 2,500 points are three parts of sums, and 10 replicates more than eight; with one decimal a
    # block of ties is longer than a part.
    rng = np.random.default_rng(5)
    numbers = np.round(rng.gamma(0.5, size=(4, 2500)), decimals)
    star = Components(numbers[0] + numbers[1], numbers[0], numbers[1])
    hat = Components(numbers[2] + numbers[3], numbers[2], numbers[3])
    run = Run(star, hat)
    codes = np.sort(rng.integers(0, 40, 2500)) if clustered else None
    rows = own_order([run], codes, INTERVAL_COLUMNS)
    found = replicates(run, n_replicates=10, cluster=codes)
    for b in range(10):
        if codes is None:
            drawn = drawn_rows(run, b)
        else:
            numbered = number_clusters(codes[rows])
            weight = np.empty(numbered.max() + 1, np.uint8)
            draw(_key(0), b, weight)
            drawn = np.repeat(rows, weight[numbered])
        again = evaluate_run(run[drawn], gap=False)
        for name in INTERVAL_COLUMNS:
            if name != "pareto_gap":
                expected = getattr(again, name)
                assert found[name][b] == pytest.approx(expected, rel=1e-11, nan_ok=True), name


def test_draws_are_uniform():
    n, weight, total = 37, np.empty(37, np.uint8), np.zeros(37)
    square = 0.0
    for b in range(4000):
        draw(_key(3), b, weight)
        assert weight.sum() == n
        assert weight.min() >= 0
        total += weight
        square += (weight.astype(int) ** 2).sum()
    # Each count is Binomial(4000 n, 1/n): mean 4000, standard deviation about 63.
    assert np.abs(total - 4000).max() < 4.5 * math.sqrt(4000)
    # E w^2 = 1 + (1 - 1/n) of a Binomial(n, 1/n).
    assert square / 4000 / n == pytest.approx(2 - 1 / n, abs=0.02)


@pytest.mark.parametrize("ties", [False, True])
def test_gap_replicates_follow_the_gap_of_the_rows_drawn(ties):
    _, _, star, hat = world(n=80, ties=ties, loss="brier")
    run = Run(star, hat)
    rows = own_order([run])
    moved = gap_replicates(star[rows], hat[rows], _key(0), 30)
    exact = [pareto_gap(star[r], hat[r]) for r in (drawn_rows(run, b) for b in range(30))]
    exact = np.array(exact) - pareto_gap(star, hat)
    assert np.corrcoef(moved, exact)[0, 1] > 0.97
    assert np.abs(moved - exact).max() < 0.25 * exact.std() + 1e-9


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", AREAS)
def test_influence_is_the_derivative_by_weight(name, ties):
    people, belief, _, _ = world(n=12, loss="brier", ties=ties)
    run = Run.from_belief(people, belief, "brier")
    found = influence(run)[name]
    assert found.sum() == pytest.approx(0, abs=1e-12)
    # Repeat every point 2,000 times and point i once more.
    for i in range(12):
        many = np.append(np.repeat(np.arange(12), 2000), i)
        base = getattr(evaluate_run(run, gap=False), name)
        more = getattr(evaluate_run(run[many], gap=False), name)
        assert (more - base) * 24_001 == pytest.approx(found[i], rel=2e-3, abs=2e-4)


def test_bca_is_scipy_s():
    rng = np.random.default_rng(5)
    regret = rng.lognormal(sigma=1.0, size=40)  # skewed, so that BCa is not percentile
    star = Components(regret, np.zeros(40), regret)
    hat = Components(np.arange(40.0), np.zeros(40), np.arange(40.0))
    ours = intervals(Run(star, hat), gap=False, n_replicates=20_000)
    theirs = stats.bootstrap(
        (regret,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    for found, expected in ((ours.low, theirs.low), (ours.high, theirs.high)):
        assert found["regret"] == pytest.approx(expected, rel=0.03)
    plain = intervals(Run(star, hat), gap=False, n_replicates=20_000, method="percentile")
    theirs = stats.bootstrap(
        (regret,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert plain.low["regret"] == pytest.approx(theirs.low, rel=0.03)
    assert plain.high["regret"] == pytest.approx(theirs.high, rel=0.03)
    assert ours.low["regret"] > plain.low["regret"]
    basic = intervals(Run(star, hat), gap=False, n_replicates=20_000, method="basic")
    assert basic.low["regret"] == pytest.approx(2 * regret.mean() - plain.high["regret"])


@pytest.mark.parametrize("loss", LOSSES)
def test_laws(loss):
    people, belief, star, hat = world(loss=loss, n=70)
    run = Run.from_belief(people, belief, loss)
    found = intervals(run, n_replicates=300, gap=loss == "log")
    order = np.random.default_rng(0).permutation(70)
    moved = intervals(run[order], n_replicates=300, gap=loss == "log")
    narrow = intervals(run, n_replicates=300, level=0.5, gap=False)
    for name in INTERVAL_COLUMNS:
        if math.isnan(found.estimate[name]):
            assert math.isnan(found.low[name])
            continue
        assert found.low[name] <= found.high[name]
        assert moved.low[name] == pytest.approx(found.low[name], abs=1e-9)
        assert moved.high[name] == pytest.approx(found.high[name], abs=1e-9)
        if name != "pareto_gap":
            assert found.low[name] <= narrow.low[name] <= narrow.high[name] <= found.high[name]
    # In another unit areas have other intervals, n-AuReC and correlations the same.
    wide = [Components(*(8 * v for v in (c.total, c.aleatoric, c.epistemic))) for c in (star, hat)]
    scaled = intervals(Run(*wide), n_replicates=300, gap=False)
    for name in AREAS:
        if math.isnan(scaled.estimate[name]):  # what components alone do not have
            continue
        unit = 8 if COLUMNS[name].unit == "loss" else 1
        assert scaled.high[name] == pytest.approx(unit * found.high[name])


def test_constant_columns_have_no_width():
    regret = np.full(30, 0.25)
    star = Components(regret + 0.5, np.full(30, 0.5), regret)
    hat = Components(np.arange(30.0), np.zeros(30), np.arange(30.0))
    found = intervals(Run(star, hat), gap=False, n_replicates=100)
    assert found.low["regret"] == found.high["regret"] == 0.25
    for name in ("n_aurec", "spearman_hat", "spearman_star"):
        assert math.isnan(found.low[name])
    assert found.to_dict()["n_aurec_ci_low"] is None
    assert found.to_dict()["ci"] == 0.95
    nothing = Components(np.zeros(9), np.zeros(9), np.zeros(9))
    assert intervals(Run(nothing, nothing), gap=False).high["aurec"] == 0


def test_an_outside_score_has_no_calibration():
    people, belief, _, _ = world()
    scored = Scored(belief.mean(), np.arange(60.0))
    run = Run.from_belief(people, scored)
    found = intervals(run, gap=False, n_replicates=50)
    assert math.isnan(found.low["regret_calibration"])
    assert np.isnan(found.replicates["regret_calibration"]).all()
    said = replace(run, answers=answers(people, scored))
    found = intervals(said, resample_annotators=True, n_replicates=50)
    assert math.isnan(found.low["regret_calibration"])
    assert found.high["aurec"] > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_answers_are_what_is_realised(loss):
    people, belief, star, hat = world(loss=loss)
    said = answers(people, belief, loss)
    again = said.realized()
    for name in ("total", "aleatoric", "epistemic"):
        assert getattr(again, name) == pytest.approx(getattr(star, name), abs=1e-10)
    fewer = said.subsampled(3, np.random.default_rng(0))
    assert (fewer.counts <= people.counts).all()
    assert (fewer.counts.sum(axis=1) == np.minimum(people.n_annotators, 3)).all()
    found = intervals(
        Run(star, hat, answers=said), resample_annotators=True, n_replicates=100, gap=False
    )
    assert set(found.method.values()) == {"basic"}
    assert found.low["aurec"] < found.high["aurec"]


def test_drawing_people_again_takes_the_plug_in_bias_off():
    # Everyone predicts p* exactly: the true regret is 0, the plug-in one is all bias.
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 400)
    people = Annotations(rng.multinomial(10, probs))
    belief = Draws(probs[:, None])
    star, hat = realize(people, belief, "brier"), decompose(belief, "brier")
    points = intervals(Run(star, hat), gap=False, n_replicates=300)
    run = Run(star, hat, answers=answers(people, belief, "brier"))
    both = intervals(run, resample_annotators=True, n_replicates=300)
    assert points.low["regret"] > 0.02
    assert both.low["regret"] < 0.01
    assert abs(both.low["regret"] + both.high["regret"]) / 2 < 0.2 * star.epistemic.mean()


def test_broken_calls():
    _, _, star, hat = world(n=9)
    for wrong, words in (
        ({"level": 1.0}, "level must be between 0 and 1"),
        ({"level": math.nan}, "level must be"),
        ({"method": "t"}, "method must be one of"),
        ({"n_replicates": 1}, "n_replicates must be at least 2"),
        ({"n_replicates": 2.5}, "whole number"),
        ({"seed": -1}, "seed must be"),
    ):
        with pytest.raises(InputError, match=words):
            intervals(Run(star, hat), gap=False, **wrong)
    with pytest.raises(ShapeError, match="same points"):
        intervals(Run(star, hat[:5]), gap=False)
    with pytest.raises(InputError, match="annotators cannot be resampled"):
        intervals(Run(star, hat), resample_annotators=True)
    row = evaluate_run(Run(star, hat), gap=False)
    with pytest.raises(InputError, match="row must have a Pareto-gap, got NaN"):
        intervals(Run(star, hat), row=row)
    with pytest.raises(InputError, match="p\\* is known"):
        answers(Annotations.from_probs([[0.5, 0.5]]), Draws([[[0.5, 0.5]]]))


@pytest.mark.parametrize("n_values", [5, 400, 10**9])
def test_the_own_order_is_that_of_all_keys(rng, n_values):
    # Many ties of the first key, few, and none.
    aleatoric, epistemic, *hat = rng.integers(0, n_values, (4, 500)) / 100
    star = Components(aleatoric + epistemic, aleatoric, epistemic)
    run = Run(star, Components(sum(hat), *hat))
    keys = (run.hat.aleatoric, run.hat.epistemic, run.star.total, run.star.epistemic)
    np.testing.assert_array_equal(own_order([run]), np.lexsort(keys))

"""OOD detection: exact ties, naive twins, groups as OpenOOD has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_proxies
import rue.data
from rue.errors import InputError, ShapeError
from rue.proxies import evaluate_ood
from rue.sandbox import SANDBOX_LOSSES, run_sandbox


def auroc(inside, out):
    return evaluate_ood(inside, {"out": out}).sets[0].auroc


def aupr(inside, out):
    return evaluate_ood(inside, {"out": out}).sets[0].aupr


def fpr95(inside, out):
    return evaluate_ood(inside, {"out": out}).sets[0].fpr95


METRICS = (auroc, aupr, fpr95)
few_levels = st.lists(st.integers(0, 4), min_size=1, max_size=30)


NAIVE = {auroc: naive_proxies.auroc, aupr: naive_proxies.aupr, fpr95: naive_proxies.fpr}


@pytest.mark.parametrize("metric", METRICS)
@given(few_levels, few_levels)
def test_equals_the_naive_twin_with_heavy_ties(metric, inside, out):
    assert metric(inside, out) == pytest.approx(NAIVE[metric](inside, out), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_equals_the_naive_twin_on_many_scores(metric, rng):
    inside, out = rng.normal(size=500).round(1), rng.normal(0.7, 1.5, size=90).round(1)
    assert metric(inside, out) == pytest.approx(NAIVE[metric](inside, out), abs=1e-12)


def test_scores_far_apart_and_close_together():
    assert auroc([-1e308], [1e308, -1e308]) == 0.75
    close = np.array([1.0, 2.0, 3.0])
    assert auroc(close, np.nextafter(close, 9)) == pytest.approx(6 / 9, abs=1e-15)
    assert auroc(close, close) == 0.5


def test_by_hand():
    # Pairs (in, out): (1, 1) ties, (2, 1) is wrong, the other four are right: (4 + 1/2) / 6.
    inside, out = [0, 1, 2], [1, 3]
    assert auroc(inside, out) == 4.5 / 6
    # From the top: 3 (out), 2 (in), 1 (both): recall 1/2 at precision 1, then 1 at 2/4.
    assert aupr(inside, out) == 0.5 * 1 + 0.5 * 0.5
    # Both of out are found at threshold 1, which flags 1 and 2 of in.
    assert fpr95(inside, out) == 2 / 3


def test_a_constant_score_finds_nothing(rng):
    inside, out = np.zeros(50), np.zeros(30)
    assert auroc(inside, out) == 0.5
    assert aupr(inside, out) == 30 / 80
    assert fpr95(inside, out) == 1.0


@given(few_levels, few_levels)
def test_the_auroc_of_the_two_classes_exchanged_is_the_rest(inside, out):
    assert auroc(inside, out) + auroc(out, inside) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("metric", METRICS)
@given(few_levels, few_levels, st.randoms(use_true_random=False))
def test_only_the_order_of_scores_matters(metric, inside, out, random):
    value = metric(inside, out)
    assert metric(np.exp(inside), np.exp(out)) == value
    for scores in (inside, out):
        random.shuffle(scores)
    assert metric(inside, out) == value


def test_groups_are_means_over_their_sets():
    found = evaluate_ood(
        [0, 1, 2, 3],
        {"tin": [1, 4], "cifar100": [9, 9, 9], "mnist": [0, 0]},
        {"near": ["cifar100", "tin"], "far": ["mnist", "svhn"], "other": ["texture"]},
        score="total",
    )
    by_name = {d.name: d for d in found.sets}
    assert list(by_name) == ["tin", "cifar100", "mnist"]
    assert by_name["tin"].auroc == auroc([0, 1, 2, 3], [1, 4])
    # Not weighted by size, as OpenOOD does it; svhn and texture are not here.
    assert found.near.auroc == (by_name["tin"].auroc + 1) / 2
    assert found.near.fpr95 == (by_name["tin"].fpr95 + 0) / 2
    assert found.near.n_out == 5
    assert found.far.auroc == by_name["mnist"].auroc
    assert [group.name for group in found.groups] == ["near", "far"]
    record = found.to_dict()
    assert record["score"] == "total"
    assert record["groups"]["near"]["auroc"] == found.near.auroc
    assert record["sets"]["mnist"] == {"n_out": 2, "auroc": 0.125, "aupr": 1 / 3, "fpr95": 1.0}


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="at least one OOD set"):
        evaluate_ood([1.0], {})
    with pytest.raises(ShapeError, match="scores_out of tin must have at least one"):
        evaluate_ood([1.0], {"tin": []})
    with pytest.raises(InputError, match="score_in must be finite, got nan at row 1"):
        evaluate_ood([1.0, np.nan], {"tin": [1.0]})
    with pytest.raises(InputError, match="a list of names for 'near', got 'tin'"):
        evaluate_ood([1.0], {"tin": [1.0]}, {"near": "tin"})


def test_the_groups_that_the_data_sets_have_are_evaluated():
    groups = rue.data.ood_groups("cifar10h-features")
    found = evaluate_ood([0, 1], {"tin": [1], "texture": [2], "mnist": [0]}, groups)
    assert found.near.auroc == auroc([0, 1], [1])
    assert found.far.auroc == (1 + 0.25) / 2


@pytest.mark.parametrize("loss", SANDBOX_LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_optimal_scores_of_ood_and_of_regret_each_lose_at_the_other(loss, seed):
    """In the sandbox both scores are optimal, so misalignment is no artefact of training.

    In-distribution inputs follow p, to 1e-5 of the mass of each cell, OOD ones are uniform.
    """
    run = run_sandbox(loss=loss, seed=seed)
    copies = np.rint(run.world.mass * 1e5).astype(int)
    detection = {
        name: auroc(np.repeat(run.scores[name], copies), run.scores[name])
        for name in ("ood", "epistemic")
    }
    assert detection["ood"] > detection["epistemic"] + 0.01
    assert run.areas["ood"]["aurec"] > 1.2 * run.areas["epistemic"]["aurec"]
    assert run.areas["ood"]["aurec_star"] > run.areas["epistemic"]["aurec_star"]

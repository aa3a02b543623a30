"""Estimation and approximation: values by hand, a slow twin, laws, and who can be negative."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from rue import Annotations, Dirichlet, Draws, Gaussians, Ratings, n_aurec, realize, regret_parts
from rue.errors import InputError
from rue.losses import LOSSES


def world(seed, n_points=12, n_classes=3):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(n_classes), (2, n_points))
    return p, q, Draws(rng.dirichlet(np.ones(n_classes), (n_points, 3)))


def test_by_hand_under_0_1_loss():
    # The limit chooses class 0, the belief class 1. Under p* = (.7, .3) the belief loses .4 that
    # more data would win back; under (.2, .8) the limit is wrong by .6, and the belief, by luck,
    # is not: estimation is -.6.
    truth = Annotations.from_probs([[0.7, 0.3], [0.2, 0.8]])
    found = regret_parts(truth, Draws([[[0.4, 0.6]]] * 2), [[0.55, 0.45]] * 2, "zero_one")
    assert found.regret == pytest.approx([0.4, 0.0])
    assert found.approximation == pytest.approx([0.0, 0.6])
    assert found.estimation == pytest.approx([0.4, -0.6])
    assert found.in_class == pytest.approx([0.1, 0.1])
    assert len(found) == 2


def test_by_hand_under_log_loss():
    # KL((1/2, 1/2) || (1/4, 3/4)) = log 2 / 2 + log(2/3) / 2.
    truth = Annotations.from_probs([[0.5, 0.5]])
    found = regret_parts(truth, Draws([[[0.25, 0.75]]]), [[0.5, 0.5]])
    assert found.estimation == pytest.approx([(np.log(2) + np.log(2 / 3)) / 2])
    assert found.approximation == pytest.approx([0.0])


@pytest.mark.parametrize("name", LOSSES)
def test_a_slow_twin(name):
    p, q, belief = world(1)
    found = regret_parts(Annotations.from_probs(p), belief, q, name)
    for i, (true, best, mean) in enumerate(zip(p, q, belief.mean(), strict=True)):

        def risk(of, under):
            return naive.risk(name, under, naive.action(name, of))

        assert found.regret[i] == pytest.approx(risk(mean, true) - risk(true, true), abs=1e-9)
        assert found.approximation[i] == pytest.approx(
            risk(best, true) - risk(true, true), abs=1e-9
        )
        assert found.estimation[i] == pytest.approx(risk(mean, true) - risk(best, true), abs=1e-9)
        assert found.in_class[i] == pytest.approx(risk(mean, best) - risk(best, best), abs=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(LOSSES)))
def test_laws(seed, name):
    p, q, belief = world(seed)
    truth = Annotations.from_probs(p)
    found = regret_parts(truth, belief, q, name)
    assert found.regret == pytest.approx(found.approximation + found.estimation)
    assert found.approximation.min() >= 0
    assert found.in_class.min() >= 0
    assert (found.regret == realize(truth, belief, name).epistemic).all()
    # The whole truth in the class: all of the regret is estimation, and inside the class.
    full = regret_parts(truth, belief, p, name)
    assert not full.approximation.any()
    assert full.estimation == pytest.approx(full.in_class)
    # Unlimited data: none of it is.
    done = regret_parts(truth, belief, belief, name)
    assert not done.estimation.any()
    # Only the mean of the limit counts.
    other = regret_parts(truth, belief, Dirichlet(5 * q), name)
    assert other.estimation == pytest.approx(found.estimation)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(LOSSES)))
def test_the_mean_over_a_cell_is_never_negative(seed, name):
    # All points are one cell: the limit is the mean of p*, the belief is the same everywhere.
    p, _, belief = world(seed)
    one = Draws(np.repeat(belief.probs[:1], len(p), axis=0))
    limit = np.repeat(p.mean(axis=0, keepdims=True), len(p), axis=0)
    found = regret_parts(Annotations.from_probs(p), one, limit, name)
    assert found.estimation.mean() == pytest.approx(found.in_class.mean(), abs=1e-9)
    assert found.estimation.mean() >= -1e-9


def test_the_limit_of_one_loss_is_not_the_best_under_another():
    # Both inputs get the same prediction. The limit puts class 0 first, and so does nobody at
    # input 0; on the scale 0, 1, 2 its mean .4 is further than the belief's 1.1 from the mean of
    # the means 1.55 and .15, .85.
    truth = Annotations.from_probs([[0.0, 0.45, 0.55], [0.9, 0.05, 0.05]])
    limit, belief = [[0.6, 0.4, 0.0]] * 2, Draws([[[0.3, 0.3, 0.4]]] * 2)
    found = regret_parts(truth, belief, limit, "zero_one")
    assert found.estimation[0] < 0  # the belief chooses the class that is right here
    assert regret_parts(truth, belief, limit, "squared").estimation.mean() < 0


def test_finitely_many_annotators_move_regret_and_approximation_alike(rng):
    p, q, belief = world(3, n_points=6000)
    said = Annotations(rng.multinomial(4, p))
    found = regret_parts(said, belief, q, "brier")
    true = regret_parts(Annotations.from_probs(p), belief, q, "brier")
    for part, bias in (("regret", 0.1), ("approximation", 0.1), ("estimation", 0.0)):
        moved = (getattr(found, part) - getattr(true, part)).mean()
        # E[Brier Bayes risk] / 4: the mean of 1 - sum p^2 is 1/2 for a uniform Dirichlet of three.
        assert moved == pytest.approx(1.25 * bias, abs=0.015)


def test_a_signed_part_can_be_ranked():
    # n-AuReC does not change when a constant is added, so values below 0 are no problem.
    part, score = np.array([-0.5, 0.25, 0.0]), np.array([3.0, 1.0, 2.0])
    assert n_aurec(part, score) == pytest.approx(n_aurec(part + 0.5, score))


def test_values_are_those_of_the_annotations():
    truth = Annotations.from_probs([[0.5, 0.5]], values=[0.0, 10.0])
    belief = Draws([[[1.0, 0.0]]])
    assert regret_parts(truth, belief, [[0.5, 0.5]], "squared").estimation == pytest.approx([25.0])
    scaled = regret_parts(truth, belief, [[0.5, 0.5]], "squared", values=[0.0, 2.0])
    assert scaled.estimation == pytest.approx([1.0])


def test_broken_calls():
    truth, belief = Annotations.from_probs([[0.5, 0.5]]), Draws([[[1.0, 0.0]]])
    with pytest.raises(InputError, match=r"limit must have shape .* got .*\(2,\)"):
        regret_parts(truth, belief, [0.5, 0.5])
    with pytest.raises(InputError, match=r"limit must have the same .*, got 1 x 2 and 2 x 2"):
        regret_parts(truth, belief, [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(InputError, match=r"need a belief about classes .*got Gaussians"):
        regret_parts(truth, Gaussians([[0.0]], [[1.0]]), [[0.5, 0.5]])


def test_the_limit_goes_through_the_gate_of_beliefs():
    truth, belief = Annotations.from_probs([[0.5, 0.5]]), Draws([[[0.25, 0.75]]])
    for wrong, words in (
        ([["a", "b"]], "limit must hold real numbers"),
        ([[0.5, 0.5], [1.0]], "limit must be an array"),
        ([[0.5 + 0j, 0.5]], "limit must hold real numbers"),
        (np.ma.masked_array([[0.5, 0.5]]), "limit must not be a masked array"),
    ):
        with pytest.raises(InputError, match=words):
            regret_parts(truth, belief, wrong)
    half = np.array([[0.3333, 0.6667]], dtype=np.float16)
    assert regret_parts(truth, belief, half).approximation[0] > 0
    for other, words in (
        (Ratings([[1.0, 2.0]]), "Ratings need a belief about real numbers"),
        (np.array([[1, 1]]), r"truth must be rue.Annotations\(counts\).*got ndarray"),
    ):
        with pytest.raises(InputError, match=words):
            regret_parts(other, belief, [[0.5, 0.5]])

"""DeployableSelector: fit and accept, and the bounds that a promise rests on."""

import json
import math

import numpy as np
import pytest
from sklearn.base import clone

from rue import (
    Annotations,
    CostMatrix,
    DeployableSelector,
    Dirichlet,
    Draws,
    Gaussians,
    Kind,
    Log,
    Ratings,
    Samples,
    Scored,
    decompose,
    fit_selector,
    realize,
)
from rue.errors import InputError
from rue.losses import LOSSES, get_loss

N, K = 150, 3


@pytest.fixture
def world(rng):
    probs = rng.dirichlet(np.ones(K) / 2, N)
    draws = 0.8 * probs[:, None] + 0.2 * rng.dirichlet(np.ones(K), (N, 4))
    return Annotations(rng.multinomial(12, probs)), draws


@pytest.mark.parametrize(
    ("loss", "bound"),
    [
        ("zero_one", 1),
        ("brier", 2),
        ("absolute", 2),
        ("squared", 4),
        ("rps", 2),
        ("pinball:0.8", 1.6),
        (Log(0.01), -math.log(0.01)),
        (CostMatrix([[0, 1, 3], [1, 0, 1], [2, 1, 0]]), 3),
    ],
)
def test_is_fit_selector_with_the_loss_s_bound(world, loss, bound):
    people, draws = world
    asked = {"maximize": "coverage", "risk_max": 0.4 * bound, "delta": 0.1}
    selector = DeployableSelector(loss, **asked).fit(people, Draws(draws))
    star, hat = realize(people, Draws(draws), loss), decompose(Draws(draws), loss)
    rule = fit_selector(star, hat, bound=bound, **asked)
    assert (selector.rule_.weights, selector.rule_.tau) == (rule.weights, rule.tau)
    assert selector.rule_.bound == pytest.approx(bound)
    assert (selector.accept(Draws(draws)) == rule.accept(hat)).all()
    assert rule.accept(hat).mean() > 0


@pytest.mark.parametrize("name", [*LOSSES, "pinball:0.8", "cost"])
def test_no_action_of_a_belief_loses_more_than_the_bound(rng, name):
    # Sure beliefs, and people sure of another class: the worst there is.
    losses = {"log": Log(0.01), "cost": CostMatrix(rng.uniform(0, 5, (4, K)))}
    loss = losses.get(name) or get_loss(name, values=[-1.0, 0.0, 4.0])
    sharp = np.concatenate([np.eye(K).repeat(K, axis=0), rng.dirichlet(np.ones(K) / 9, 200)])
    truth = np.concatenate([np.tile(np.eye(K), (K, 1)), rng.dirichlet(np.ones(K) / 9, 200)])
    star = realize(Annotations.from_probs(truth), Draws(sharp[:, None]), loss)
    assert star.total.max() <= loss.bound(K) * (1 + 1e-12)
    assert (star.epistemic <= star.total + 1e-9).all()
    if name != "cost":  # and it is reached
        assert star.total.max() == pytest.approx(loss.bound(K))


def test_the_log_loss_needs_a_floor(world):
    people, draws = world
    asked = {"maximize": "coverage", "risk_max": 1.0, "delta": 0.1}
    with pytest.raises(InputError, match="log loss has no bound, and a promise needs one"):
        DeployableSelector("log", **asked).fit(people, Draws(draws))
    DeployableSelector("log", maximize="coverage", risk_max=1.0).fit(people, Draws(draws))
    for floor in (0.0, 1.0, -1):
        with pytest.raises(InputError, match="floor must be from 1e-12 to below 1"):
            Log(floor)
    with pytest.raises(InputError, match=r"floor must be below 1/3 \(classes\), got 0.4"):
        DeployableSelector(Log(0.4), **asked).fit(people, Draws(draws))


def test_a_floor_by_hand():
    # a = 0.01 + 0.98 (0, 1) = (0.01, 0.99) and p = (1/2, 1/2): a distribution, so a regret.
    half = Annotations.from_probs([[0.5, 0.5]])
    for belief, actions in ((Draws([[[0.0, 1.0]]]), None), (None, [[0.0, 1.0]])):
        star = realize(half, belief, Log(0.01), actions=actions)
        assert star.total == pytest.approx(-(math.log(0.01) + math.log(0.99)) / 2)
        assert star.aleatoric == pytest.approx(math.log(2))
        assert star.total == pytest.approx(star.aleatoric + star.epistemic)
        assert star.n_floored == 0


@pytest.mark.parametrize("floor", [1e-6, 0.01, 0.3])
def test_a_floor_is_that_of_definition_1(rng, floor):
    # Estimated: E[risk of the mixed mean under p - entropy of p], and total is its expected loss.
    draws = rng.dirichlet(np.ones(K) / 3, (20, 6))
    m = draws.mean(axis=1)
    action = floor + (1 - K * floor) * m
    logs = np.log(np.where(draws > 0, draws, 1))
    epistemic = (draws * (logs - np.log(action)[:, None])).sum(axis=2).mean(axis=1)
    hat = decompose(Draws(draws), Log(floor))
    assert hat.epistemic == pytest.approx(epistemic, abs=1e-9)
    assert hat.total == pytest.approx(-(m * np.log(action)).sum(axis=1), abs=1e-9)
    alpha = rng.uniform(0.2, 3, (20, K))
    mixed, plain = (decompose(Dirichlet(alpha), loss) for loss in (Log(floor), Log()))
    m = alpha / alpha.sum(axis=1, keepdims=True)
    action = floor + (1 - K * floor) * m
    assert mixed.aleatoric == pytest.approx(plain.aleatoric)
    assert mixed.total == pytest.approx(-(m * np.log(action)).sum(axis=1), abs=1e-9)


def test_actions_outside_the_values_are_unbounded(world):
    people, draws = world
    asked = {"maximize": "coverage", "risk_max": 0.5, "delta": 0.1}
    actions = np.linspace(0, 2, N)
    DeployableSelector("absolute", **asked).fit(people, Draws(draws), actions=actions)
    actions[7] = 2.5
    with pytest.raises(InputError, match=r"within the values, 0 to 2, .* got 2.5 at row 7"):
        DeployableSelector("absolute", **asked).fit(people, Draws(draws), actions=actions)
    wide = DeployableSelector("absolute", bound=3, **asked)
    assert wide.fit(people, Draws(draws), actions=actions).rule_.bound == 3


def test_values_are_those_of_the_people(world):
    people, draws = world
    scaled = Annotations(people.counts, [0, 10, 20])
    asked = {"maximize": "coverage", "risk_max": 5, "delta": 0.1}
    selector = DeployableSelector("absolute", **asked).fit(scaled, Draws(draws))
    assert selector.rule_.kind.values == (0, 10, 20)
    assert selector.rule_.bound == 20
    assert (
        selector.accept(Draws(draws))
        == selector.rule_.accept(decompose(Draws(draws), "absolute", values=[0, 10, 20]))
    ).all()


def test_other_beliefs_are_refused(world):
    people, draws = world
    selector = DeployableSelector("zero_one", maximize="coverage", risk_max=0.2)
    with pytest.raises(InputError, match="fit the selector first"):
        selector.accept(Draws(draws))
    selector.fit(people, Draws(draws))
    others = [
        (Draws(draws[:, :2]), "4 in the rule and 2 in the belief"),
        (Dirichlet(draws[:, 0] + 0.1), "draws in the rule and dirichlet in the belief"),
        (Scored(draws[:, 0] / draws[:, 0].sum(axis=1, keepdims=True), np.zeros(N)), "scored"),
    ]
    for belief, words in others:
        with pytest.raises(InputError, match=words):
            selector.accept(belief)


def test_scikit_learn_s_tools_know_it():
    selector = DeployableSelector("brier", maximize="coverage", risk_max=0.2, seed=4)
    copy = clone(selector)
    assert copy is not selector
    assert copy.get_params() == selector.get_params()
    assert copy.set_params(risk_max=0.3, delta=0.1).get_params()["risk_max"] == 0.3
    with pytest.raises(InputError, match="parameters are loss"):
        selector.set_params(colour="red")


def ratings_world(rng, n=400):
    truth = rng.uniform(1, 9, n)
    people = Ratings([np.clip(rng.normal(t, 1, 6), 0, 10) for t in truth], range=(0, 10))
    error = rng.gamma(1, 0.7, n)
    mean = truth[:, None] + error[:, None] * rng.normal(0, 1, (n, 4))
    return people, Gaussians(np.clip(mean, 0, 10), np.ones((n, 4)))


@pytest.mark.parametrize(
    ("loss", "bound"), [("squared", 100), ("absolute", 10), ("crps", 10), ("pinball:0.8", 8)]
)
def test_real_numbers_are_bounded_by_their_range(loss, bound, rng):
    people, belief = ratings_world(rng)
    asked = {"maximize": "coverage", "risk_max": 0.3 * bound, "delta": 0.1}
    selector = DeployableSelector(loss, **asked).fit(people, belief)
    assert selector.rule_.bound == pytest.approx(bound)
    assert selector.rule_.kind.range == (0, 10)
    star, hat = realize(people, belief, loss), decompose(belief, loss)
    assert star.total.max() <= bound
    rule = fit_selector(star, hat, bound=bound, **asked)
    assert (selector.accept(belief) == rule.accept(hat)).all()
    assert rule.accept(hat).mean() > 0
    again = Kind.from_dict(json.loads(json.dumps(selector.rule_.kind.to_dict())))
    assert again == selector.rule_.kind
    assert again.get_loss().name == loss


def test_real_numbers_need_a_range_and_predictions_within_it(rng):
    people, belief = ratings_world(rng)
    asked = {"maximize": "coverage", "risk_max": 4, "delta": 0.1}
    wide = Ratings(np.full((400, 2), 5.0))
    with pytest.raises(
        InputError, match=r"needs one; Ratings\(..., range=...\) states their range"
    ):
        DeployableSelector("absolute", **asked).fit(wide, belief)
    DeployableSelector("absolute", maximize="coverage", risk_max=4).fit(wide, belief)
    DeployableSelector("absolute", bound=20, **asked).fit(wide, belief)
    far = Gaussians(belief.mean + 40 * (np.arange(400) == 7)[:, None], belief.sd)
    for loss in ("squared", "absolute", "crps", "pinball:0.8"):
        with pytest.raises(InputError, match=r"within the range, 0 to 10, .* at row 7"):
            DeployableSelector(loss, **asked).fit(people, far)
    with pytest.raises(InputError, match=r"within the range.* at row 0"):
        DeployableSelector("absolute", **asked).fit(people, belief, actions=np.full(400, 11.0))
    selector = DeployableSelector("absolute", **asked).fit(people, belief)
    with pytest.raises(InputError, match="kind of belief is gaussians in the rule and samples in"):
        selector.accept(Samples(np.zeros((3, 4, 1))))

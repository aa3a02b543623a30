"""Definition 1: every loss and belief against the naive twin, and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import naive
from rue import (
    Annotations,
    Components,
    CostMatrix,
    Dirichlet,
    Draws,
    Scored,
    Squared,
    decompose,
    realize,
)
from rue.errors import InputError, ShapeError
from rue.losses import LOSSES, get_loss

COSTS = [[0.0, 1.0, 4.0, 2.0], [1.0, 0.0, 1.0, 1.0], [5.0, 2.0, 0.0, 3.0]]
SCALED = ("squared", "absolute", "rps", "pinball:0.8", "pinball:0.1")
MORE = {name: {} for name in LOSSES}
MORE |= {name: {"values": [-1.0, 0.5, 4.0, 5.0]} for name in SCALED}
MORE["cost"] = {"costs": COSTS}


def loss_of(name):
    if name == "cost":
        return CostMatrix(COSTS)
    return get_loss(name, values=MORE[name].get("values"))


def coarse(*shape):
    """Distributions with many exact ties and zeros."""
    weights = hnp.arrays(np.int64, (*shape, 4), elements=st.integers(0, 4))
    return weights.map(lambda w: (w + (w.sum(-1, keepdims=True) == 0)).astype(float)).map(
        lambda w: w / w.sum(-1, keepdims=True)
    )


@pytest.mark.parametrize("name", MORE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws_equal_the_naive_twin(name, dtype, rng):
    probs = np.concatenate(
        [rng.dirichlet(np.full(4, 0.3), (30, 3)), rng.integers(1, 4, (30, 3, 4)) / 1.0]
    )
    probs = (probs / probs.sum(axis=2, keepdims=True)).astype(dtype)
    hat = decompose(Draws(probs), loss_of(name))
    for i, draws in enumerate(probs.astype(float).tolist()):
        twin = naive.decompose(name, draws, **MORE[name])
        assert (hat.total[i], hat.aleatoric[i], hat.epistemic[i]) == pytest.approx(twin, abs=1e-9)


@pytest.mark.parametrize("name", MORE)
@pytest.mark.parametrize("kind", ["draws", "dirichlet", "scored", "actions"])
def test_realised_equals_the_naive_twin(name, kind, rng):
    counts = rng.integers(0, 4, (40, 4)) + np.eye(4, dtype=int)[rng.integers(0, 4, 40)]
    probs = rng.dirichlet(np.ones(4), (40, 3))
    belief = {
        "draws": lambda: Draws(probs),
        "dirichlet": lambda: Dirichlet(probs[:, 0] * 7 + 0.01),
        "scored": lambda: Scored(probs[:, 0], np.zeros(40)),
        "actions": lambda: None,
    }[kind]()
    loss = loss_of(name)
    means = probs.mean(axis=1) if belief is None else belief.mean()
    actions = loss.action(means) if belief is None else None
    star = realize(Annotations(counts), belief, loss, actions=actions)
    for i, (row, m) in enumerate(zip(counts.tolist(), means.tolist(), strict=True)):
        p = [c / sum(row) for c in row]
        total = naive.risk(name, p, naive.action(name, m, **MORE[name]), **MORE[name])
        aleatoric = naive.bayes_risk(name, p, **MORE[name])
        assert star.total[i] == pytest.approx(total, abs=1e-9)
        assert star.aleatoric[i] == pytest.approx(aleatoric, abs=1e-9)
        assert star.epistemic[i] == pytest.approx(max(total - aleatoric, 0), abs=1e-9)


@pytest.mark.parametrize("name", MORE)
@settings(max_examples=40)
@given(probs=coarse(3, 4), data=st.data())
def test_laws_of_draws(name, probs, data):
    loss = loss_of(name)
    scale = loss.scale(4)
    hat = decompose(Draws(probs), loss)
    assert (hat.epistemic >= 0).all()
    assert np.abs(hat.total - hat.aleatoric - hat.epistemic).max() <= 3e-12 * scale
    assert np.abs(hat.total - loss.bayes_risk(probs.mean(axis=1))).max() <= 1e-10 * scale
    # The order of draws and of points does not matter, and one draw has nothing epistemic.
    order = data.draw(st.permutations(range(4)))
    points = data.draw(st.permutations(range(3)))
    moved = decompose(Draws(probs[points][:, order]), loss)
    for part in ("total", "aleatoric", "epistemic"):
        difference = getattr(hat, part)[list(points)] - getattr(moved, part)
        assert np.abs(difference).max() <= 1e-12 * max(scale, 1)
    assert (decompose(Draws(probs[:, :1]), loss).epistemic == 0).all()
    assert (decompose(Draws(np.repeat(probs[:, :1], 7, axis=1)), loss).epistemic == 0).all()


@pytest.mark.parametrize("name", MORE)
def test_a_perfect_model_has_no_regret(name, rng):
    counts = rng.integers(1, 30, (50, 4))
    annotations = Annotations(counts)
    star = realize(annotations, Draws(annotations.probs[:, None]), loss_of(name))
    assert (star.epistemic == 0).all()
    assert (star.total == star.aleatoric).all()


def test_scored_epistemic_is_left_as_given():
    hat = decompose(Scored([[0.5, 0.5], [1.0, 0.0]], [-3.5, 1e-20]), "brier")
    assert hat.epistemic.tolist() == [-3.5, 1e-20]
    assert hat.aleatoric.tolist() == [0.5, 0.0]
    assert hat.total.tolist() == [0.5, 0.0]  # another unit: it is not added


def test_zero_one_regrets_tie_exactly(rng):
    # Three draws that agree on the class but not on its probability: regret is exactly 0, though
    # max p - p[a] is rounded differently in each.
    probs = rng.dirichlet(np.ones(10), (2000, 5)).astype(np.float32)
    probs[..., 3] += 5
    probs /= probs.sum(axis=2, keepdims=True)
    assert (decompose(Draws(probs), "zero_one").epistemic == 0).all()


def test_values_of_the_annotations_are_used_unless_others_are_given():
    people = Annotations([[1, 1]], values=[0, 10])
    belief = Draws([[[1.0, 0.0]]])
    assert realize(people, belief, "squared").total == pytest.approx([50])
    assert realize(people, belief, "squared", values=[0, 1]).total == pytest.approx([0.5])


@pytest.mark.parametrize("origin", [2000.0, 1.7e9, -1e12])
def test_values_far_from_zero_lose_nothing(origin, rng):
    draws = Draws(rng.dirichlet(np.ones(3), (20, 4)))
    for name in ("squared", "absolute", "rps", "pinball:0.8"):
        near = decompose(draws, name, values=[0, 1, 2])
        far = decompose(draws, name, values=[origin, origin + 1, origin + 2])
        assert far.epistemic == pytest.approx(near.epistemic, abs=1e-12)
        assert far.aleatoric == pytest.approx(near.aleatoric, abs=1e-12)
    constant = Draws(np.repeat(draws.probs[:, :1], 3, axis=1))
    values = [origin, origin + 1, origin + 2]
    assert (decompose(constant, "squared", values=values).epistemic == 0).all()


def test_a_loss_object_takes_values_if_it_has_none():
    people = Annotations([[1, 1]], values=[0, 10])
    assert realize(people, Draws([[[1.0, 0.0]]]), Squared()).total == pytest.approx([50])


def test_the_floor_is_counted():
    star = realize(Annotations([[1, 1], [2, 0]]), Draws([[[1.0, 0.0]], [[1.0, 0.0]]]), "log")
    assert star.n_floored == 1
    assert (star[:1].n_floored, star[1:].n_floored) == (1, 0)
    assert star.total[0] == pytest.approx(-0.5 * np.log(1e-12))


def test_components_of_some_points():
    part = Components([1, 2, 3], [1, 1, 1], [0, 1, 2])[np.array([True, False, True])]
    assert part.total.tolist() == [1, 3]


def test_streaming_gives_the_same_bits_as_one_piece(rng, monkeypatch):
    probs = rng.dirichlet(np.ones(5), (1000, 4)).astype(np.float32)
    whole = decompose(Draws(probs), "log")
    from rue import _arrays
    from rue.beliefs import draws

    monkeypatch.setattr(draws, "chunked", lambda array: _arrays.chunked(array, n_bytes=999))
    parts = decompose(Draws(probs), "log")
    assert (whole.total == parts.total).all()
    assert (whole.epistemic == parts.epistemic).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: realize(Annotations([[1, 1]]), None, "log"), "belief or actions"),
        (
            lambda: realize(Annotations([[1, 1]]), Draws([[[0.5, 0.5]]] * 2), "log"),
            "2 points but the truth has 1",
        ),
        (
            lambda: realize(Annotations([[1, 1, 1]]), Draws([[[0.5, 0.5]]]), "log"),
            "2 classes but the truth has 3",
        ),
        (lambda: realize(Annotations([[1, 1]]), None, "zero_one", actions=[2]), "from 0 to 1"),
        (
            lambda: realize(
                Annotations([[1, 1, 1]]), Draws([[[0.5, 0.5]]]), "zero_one", actions=[0]
            ),
            "2 classes but the truth has 3",
        ),
        (lambda: decompose(np.full((1, 1, 2), 0.5), "log"), "must be Draws, Dirichlet or Scored"),
        (
            lambda: decompose(Draws([[[0.5, 0.5]]]), Squared([0, 1]), values=[0, 2]),
            "values must be equal to those of the loss",
        ),
        (lambda: realize(Annotations([[1, 1]]), None, "log", actions=[0]), "distributions"),
        (lambda: realize(Annotations([[1, 1]]), None, "squared", actions=[np.nan]), "finite"),
        (lambda: Components([1, 2], [1], [1, 2]), "2 points"),
        (lambda: decompose(Draws([[[0.5, 0.5]]]), "nll"), "loss must be one of"),
    ],
)
def test_broken_input_is_refused(make, words):
    with pytest.raises((InputError, ShapeError), match=words):
        make()

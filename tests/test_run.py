"""Runs: what must fit together, and what some of the points have."""

import numpy as np
import pytest

from rue import (
    Annotations,
    Components,
    Draws,
    Run,
    Scored,
    decompose,
    evaluate,
    evaluate_run,
    realize,
)
from rue.errors import InputError, ShapeError
from rue.losses import LOSSES
from rue.truth.answer_losses import answers


@pytest.fixture
def people(rng):
    return Annotations(rng.multinomial(7, rng.dirichlet(np.ones(3), 40)))


@pytest.fixture
def belief(rng):
    return Draws(rng.dirichlet(np.ones(3), (40, 4)))


@pytest.mark.parametrize("loss", LOSSES)
def test_from_belief_is_definition_1(people, belief, loss):
    run = Run.from_belief(people, belief, loss, method="m", with_answers=True)
    star, hat = realize(people, belief, loss), decompose(belief, loss)
    for name in ("total", "aleatoric", "epistemic"):
        np.testing.assert_array_equal(getattr(run.star, name), getattr(star, name))
        np.testing.assert_array_equal(getattr(run.hat, name), getattr(hat, name))
    np.testing.assert_array_equal(run.answers.losses, answers(people, belief, loss).losses)
    assert (run.method, run.loss_name, len(run)) == ("m", loss, 40)
    expected = evaluate(people, belief, loss, method="m")
    assert evaluate_run(run).to_dict() == expected.to_dict()


@pytest.mark.parametrize("loss", LOSSES)
def test_some_points_are_a_run_of_their_own(people, belief, loss):
    """All of it, the bracket too, which under log loss pools over the points there are."""
    whole = Run.from_belief(people, belief, loss, with_answers=True)
    rows = np.arange(40) % 3 == 0
    part = whole[rows]
    alone = Run.from_belief(people[rows], Draws(belief.probs[rows]), loss)
    assert evaluate_run(part).to_dict() == evaluate_run(alone).to_dict()
    assert len(part.answers) == len(part.annotations) == rows.sum()


def test_columns_go_with_their_points():
    parts = Components(*np.arange(9.0).reshape(3, 3))
    names, place = np.array(["a", "b", "c"]), np.array([3, 1, 2])
    run = Run(parts, parts, ids=names, groups={"place": place})[np.argsort(place)]
    assert run.ids.tolist() == ["b", "c", "a"]
    assert run.groups["place"].tolist() == [1, 2, 3]
    assert run.star.total.tolist() == [1, 2, 0]
    assert run.loss_name == ""


def test_the_flag_of_an_outside_score_stays(people, belief):
    scored = Scored(belief.mean(), np.arange(40.0))
    for convention in ("definition", "published"):
        hat = decompose(scored, convention=convention)
        assert hat.outside_score
        assert hat[:3].outside_score
    assert Run.from_belief(people, scored)[:5].hat.outside_score
    assert not decompose(belief).outside_score
    assert not realize(people, scored).outside_score


@pytest.mark.parametrize("name", ["ids", "annotations", "answers", "groups"])
def test_all_parts_have_the_same_points(people, belief, name):
    run = Run.from_belief(people, belief, with_answers=True)
    short = {
        "ids": np.array(["a"]),
        "annotations": people[:1],
        "answers": run.answers[:1],
        "groups": {"groups": np.zeros(1)},
    }
    with pytest.raises(ShapeError, match=f"{name} must have 40 points as star has, got 1"):
        Run(run.star, run.hat, **{name: short[name]})
    with pytest.raises(ShapeError, match="star and hat must have the same points, got 40 and 9"):
        Run(run.star, run.hat[:9])


def test_bare_arrays_and_swapped_arguments_say_which_class_is_wanted(people, belief):
    with pytest.raises(InputError, match=r"be rue.Annotations\(counts\).* of shape \(40, 3\)"):
        evaluate(people.counts, belief.probs)
    with pytest.raises(InputError, match=r"be rue.Draws\(probs\).* ndarray of shape \(40, 4, 3\)"):
        evaluate(people, belief.probs)
    with pytest.raises(InputError, match=r"got Draws first: swap the two arguments"):
        evaluate(belief, people)


def test_actions_count_the_columns_of_the_belief():
    """Shuffling the classes of the truth changes nothing, whichever function is called."""
    truth = Annotations([[9, 1, 0], [0, 8, 2]], classes=["a", "b", "c"])
    belief = Draws([[[0.1, 0.1, 0.8]], [[0.2, 0.7, 0.1]]], classes=["c", "b", "a"])
    for people in (truth, truth.with_classes(["c", "a", "b"])):
        run = Run.from_belief(people, belief, "zero_one", actions=[2, 1])
        np.testing.assert_allclose(run.star.total, [0.1, 0.2])
        own = Run.from_belief(people, belief.with_actions([2, 1]), "zero_one")
        np.testing.assert_array_equal(own.star.total, run.star.total)
        realised = realize(people, belief, "zero_one", actions=[2, 1])
        np.testing.assert_array_equal(realised.total, run.star.total)

"""Objects with arrays show themselves in one short line, and help starts with a short signature."""

import inspect
import textwrap

import numpy as np
import pytest

import rue


@pytest.fixture
def world(rng):
    truth = rue.Annotations(rng.multinomial(9, rng.dirichlet(np.ones(3), 200)))
    return truth, rue.Draws(rng.dirichlet(np.ones(3), (200, 4)))


def test_objects_with_arrays_are_one_short_line(world):
    truth, belief = world
    star, hat = rue.realize(truth, belief, "log"), rue.decompose(belief, "log")
    curve = rue.regret_coverage_curve(star.epistemic, hat.epistemic)
    selector = rue.optimal_selector(star, maximize="coverage", risk_max=0.5)
    run = rue.Run.from_belief(truth, belief, "log", method="mine")
    other = rue.Run.from_belief(truth, belief[::-1], "log", method="other")
    calibration = rue.regret_calibration(star.epistemic, hat.epistemic)
    comparison = rue.compare([run, other], criteria=["aurec"], n_replicates=20)
    objects = (star, hat, curve, selector, run, calibration, comparison, comparison["aurec"])
    for shown in objects:
        text = repr(shown)
        assert text.startswith(f"{type(shown).__name__}(")
        assert "\n" not in text
        assert len(text) < 400, text
    n = len(curve.coverage)
    assert repr(curve) == (
        f"Curve(coverage=<array of shape ({n},)>, value=<array of shape ({n},)>, "
        f"threshold=<array of shape ({n},)>)"
    )
    assert f"coverage={selector.coverage:.6g}, " in repr(selector)
    assert "star=<Components of 200 points>" in repr(run)
    assert "loss=log" in repr(run)


def test_small_arrays_are_shown():
    assert repr(rue.Components([3.0], [1.0], [2.0])) == (
        "Components(total=array([3.]), aleatoric=array([1.]), epistemic=array([2.]), "
        "outside_score=False)"
    )


def test_help_of_evaluate_starts_with_a_short_signature():
    signature = f"evaluate{inspect.signature(rue.evaluate)}"
    assert len(textwrap.wrap(signature, 80)) <= 10
    text = inspect.getdoc(rue.evaluate)
    for name in ("loss : str or Loss", "values : array_like", "seed : int"):
        assert f"\n{name}" in text


def test_equal_numbers_of_answers_are_one_number():
    assert "3 annotators" in repr(rue.Annotations([[1, 2], [3, 0]]))
    assert "2 answers each" in repr(rue.Ratings([[1.0, 2.0], [3.0, 4.0]]))
    assert "3 to 4 annotators" in repr(rue.Annotations([[1, 2], [3, 1]]))

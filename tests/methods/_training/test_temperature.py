"""Temperatures: the one with the lowest log loss, of every method that gives probabilities."""

import dataclasses

import numpy as np
import pytest
from scipy.special import softmax

import rue
from rue.errors import InputError
from rue.methods import METHODS, Training
from rue.methods.post_hoc import fit_temperature, temper

TEMPERED = [name for name in METHODS if "temperature" in METHODS[name].Config.__dataclass_fields__]


def test_by_hand():
    """(0.8, 0.2) at T = 2: square roots 2 : 1, so (2, 1) / 3."""
    belief = temper(rue.Scored([[0.8, 0.2]], [3.0]), 2.0)
    np.testing.assert_allclose(belief.probs, [[2 / 3, 1 / 3]])
    np.testing.assert_array_equal(belief.epistemic, [3.0])
    draws = rue.Draws([[[0.8, 0.2], [0.5, 0.5]]])
    np.testing.assert_allclose(temper(draws, 2.0).probs, [[[2 / 3, 1 / 3], [0.5, 0.5]]])
    assert temper(draws, 1.0) is draws
    np.testing.assert_array_equal(temper(rue.Draws([[[1.0, 0.0]]]), 5.0).probs, [[[1.0, 0.0]]])


@pytest.mark.parametrize("true", [0.5, 1.0, 3.0])
def test_it_finds_the_temperature_that_logits_were_made_with(rng, true):
    logits = rng.normal(scale=2, size=(500, 4))
    said = rue.Scored(softmax(logits, axis=1), np.zeros(500))
    assert fit_temperature(said, softmax(logits / true, axis=1)) == pytest.approx(true, rel=0.01)


def test_no_temperature_is_better(rng):
    draws = rue.Draws(rng.dirichlet(np.full(3, 0.3), size=(60, 5)))
    targets = rng.dirichlet(np.ones(3), size=60)

    def loss(t):
        return -(targets * np.log(temper(draws, t).mean())).sum(axis=1).mean()

    best = fit_temperature(draws, targets)
    assert loss(best) <= min(loss(t) for t in np.geomspace(0.06, 19, 200)) + 1e-6


def test_real_numbers_have_none(features):
    ratings = rue.Ratings([[1.0, 2.0]] * len(features))
    rated = dataclasses.replace(
        features, annotations=None, ratings=ratings, class_names=(), values=np.zeros(0)
    )
    for name in ("ensemble", "dropout"):
        with pytest.raises(InputError, match="temperature scaling is of classes"):
            METHODS[name].fit(rated, METHODS[name].Config(temperature=True))


def test_every_method_with_probabilities_has_it():
    kinds = {"single", "dropout", "ensemble", "ddu", "laplace", "forest", "sngp", "swag", "deup"}
    kinds |= {"knn"}
    assert set(TEMPERED) == kinds


@pytest.mark.parametrize("name", TEMPERED)
def test_a_method_is_tempered_on_points_that_it_has_not_learnt(name, features):
    """Its belief is that of the same method without, tempered; a tenth of the points validates."""
    training = Training(width=32, epochs=2, batch_size=64)
    if name == "swag":
        training = dataclasses.replace(training, epochs=1)
    plain, tempered = (
        METHODS[name].fit(
            dataclasses.replace(features, validation=features.test[:50]),
            METHODS[name].Config(temperature=t, training=training),
        )[0]
        for t in (False, True)
    )
    assert plain.temperature == 1.0 != tempered.temperature
    x = features.inputs[features.test[50:]]
    expected = temper(plain.predict(x), tempered.temperature)
    np.testing.assert_allclose(tempered.predict(x).mean(), expected.mean(), atol=1e-9)
    held = dataclasses.replace(features, train=features.test[:50]).part("train")
    belief = plain.predict(held.inputs)
    assert tempered.temperature == pytest.approx(fit_temperature(belief, held.targets()))

"""A strength learnt afterwards: known ones are recovered, and the mean stays as it is."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import dirichlet_multinomial

import rue
from replicates import STRENGTHS, world
from rue.errors import InputError
from rue.methods import Learner, Training, snapshots
from rue.methods.post_hoc import fit_strength

SHORT = Training(width=32, epochs=3, batch_size=64)


def belief_and_counts(rng, n, strength):
    """Draws whose epistemic component varies, and answers of p drawn around their mean."""
    spread = rng.uniform(1, 30, n)
    centre = rng.dirichlet(np.ones(3), n) * 0.9 + 0.1 / 3
    draws = np.stack([rng.dirichlet(s * c, size=8) for s, c in zip(spread, centre, strict=True)])
    draws = np.maximum(draws, 1e-6)
    belief = rue.Draws(draws / draws.sum(axis=2, keepdims=True))
    alpha = strength(rue.decompose(belief, "log"))[:, None] * belief.mean()
    counts = [rng.multinomial(20, rng.dirichlet(a)) for a in alpha]
    return belief, np.array(counts, dtype=float)


def test_it_recovers_one_strength_for_all(rng):
    belief, counts = belief_and_counts(rng, 1500, lambda hat: np.full(len(hat.total), 6.0))
    found = fit_strength(belief, counts)(belief)
    assert np.median(found) == pytest.approx(6, rel=0.1)
    assert np.quantile(found, [0.05, 0.95]) == pytest.approx([6, 6], rel=0.3)


def test_it_recovers_a_strength_that_falls_with_epistemic(rng):
    """s = 2 for the more uncertain half, 20 for the other: a smooth curve between them."""

    def strength(hat):
        return np.where(hat.epistemic > np.median(hat.epistemic), 2.0, 20.0)

    belief, counts = belief_and_counts(rng, 1500, strength)
    found = fit_strength(belief, counts)(belief)
    true = strength(rue.decompose(belief, "log"))
    assert np.median(found[true == 2]) == pytest.approx(2, rel=0.35)
    assert np.median(found[true == 20]) == pytest.approx(20, rel=0.5)


def test_the_maximum_is_one(rng, monkeypatch):
    """Against SciPy's likelihood: no other coefficients near by are better, with the prior."""
    belief, counts = belief_and_counts(rng, 80, lambda hat: np.full(len(hat.total), 3.0))
    found = fit_strength(belief, counts)

    def posterior(coefficients):
        strength = dataclasses.replace(found, coefficients=coefficients)(belief)
        alpha = strength[:, None] * belief.mean()
        logs = [dirichlet_multinomial.logpmf(c, a, 20) for c, a in zip(counts, alpha, strict=True)]
        return sum(logs) - (coefficients[1:] ** 2).sum() / 2

    slope = approx_fprime(found.coefficients, posterior, 1e-5)
    np.testing.assert_allclose(slope, 0, atol=0.05)


def test_the_mean_is_the_base_methods(features):
    fitted = snapshots.fit(features, snapshots.Config(base="ddu", training=SHORT), seeds=(2,))[0]
    x = features.inputs[features.test]
    alpha = fitted.predict(x).alpha
    np.testing.assert_allclose(
        alpha / alpha.sum(axis=1, keepdims=True), fitted.state[0].predict(x).mean(), atol=1e-8
    )


def test_in_a_known_world_its_epistemic_is_the_regret_to_expect():
    data, group, probs = world(2000, 15)
    training = Training(width=32, epochs=15, batch_size=64, lr=0.01)
    fitted = snapshots.fit(data, snapshots.Config(training=training))[0]
    belief = fitted.predict(data.inputs[data.test])
    truth = rue.Annotations.from_probs(probs[data.test])
    hat, star = rue.decompose(belief, "brier"), rue.realize(truth, belief, "brier")
    assert hat.epistemic.mean() == pytest.approx(star.epistemic.mean(), rel=0.2)
    strength = belief.alpha.sum(axis=1)
    weak = STRENGTHS[group[data.test]] == 2
    assert np.median(strength[weak]) < np.median(strength[~weak])


def test_validation_points_are_not_learnt_by_the_base(features, monkeypatch):
    seen = {}
    original = Learner.fit

    def spy(self, data, *args, **options):
        seen[self.name] = data
        return original(self, data, *args, **options)

    monkeypatch.setattr(Learner, "fit", spy)
    snapshots.fit(features, snapshots.Config(training=SHORT))
    (data,) = seen["ensemble"]
    assert len(data.validation) == 42
    assert not np.isin(data.validation, data.train).any()


def test_bad_input_is_refused(features):
    with pytest.raises(InputError, match=r"base must be one of dropout, evidential, .* got 'x'"):
        snapshots.fit(features, snapshots.Config(base="x"))
    with pytest.raises(InputError, match="a method of its own"):
        snapshots.Config(base="snapshots")
    one = rue.Annotations(np.eye(3)[features.targets().argmax(axis=1)])
    with pytest.raises(InputError, match="has no replicates: every point has one answer"):
        snapshots.fit(dataclasses.replace(features, annotations=one))

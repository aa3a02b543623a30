"""Baselines of one network: its confidence, a distance of its features, and one strength."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

import rue
from rue.errors import InputError
from rue.methods import Training, confidence, knn, single, strength
from rue.methods.dirichlet_multinomial import match
from rue.methods.post_hoc import fit_strength

SHORT = Training(width=16, epochs=3, batch_size=64)


@pytest.mark.parametrize("score", ["max", "entropy"])
def test_confidence_is_a_score_of_the_networks_distribution(features, score):
    inputs = features.part("test").inputs
    fitted = confidence.fit(features, confidence.Config(score=score, training=SHORT))[0]
    belief = fitted.predict(inputs)
    p = fitted.model.distributions(inputs)[:, 0].astype(float)
    by_hand = 1 - p.max(axis=1) if score == "max" else -(p * np.log(p)).sum(axis=1)
    np.testing.assert_allclose(belief.epistemic, by_hand, rtol=1e-12)
    # Under the loss whose Bayes risk it is, it ranks as the total of a single network does.
    loss = {"max": "zero_one", "entropy": "log"}[score]
    truth = features.part("test").annotations
    row = rue.evaluate(truth, belief, loss, gap=False)
    assert row.n_aurec == pytest.approx(row.n_aurec_total, abs=1e-9)


def test_an_unknown_score_is_refused():
    with pytest.raises(InputError, match="score must be one of max, entropy, got 'margin'"):
        confidence.Config(score="margin")


def test_knn_is_the_distance_to_the_kth_training_point(features):
    fitted = knn.fit(features, knn.Config(n_neighbors=3, training=SHORT))[0]
    inputs = features.part("test").inputs[:20]

    def unit(x):
        (z,) = (z[0].double().numpy() for z in fitted.model.features(x))
        return z / np.linalg.norm(z, axis=1, keepdims=True)

    train, new = unit(features.part("train").inputs), unit(inputs)
    distances = np.sort(np.linalg.norm(new[:, None] - train[None], axis=-1), axis=1)
    belief = fitted.predict(inputs)
    np.testing.assert_allclose(belief.epistemic, distances[:, 2], atol=1e-6)
    np.testing.assert_array_equal(belief.probs, fitted.model.distributions(inputs)[:, 0])


def test_knn_of_a_few_points_takes_the_farthest(features):
    fitted = knn.fit(features, knn.Config(n_neighbors=10_000, training=SHORT))[0]
    assert fitted.state.n_neighbors == len(features.train)


def test_one_strength_maximises_the_likelihood_of_the_answers():
    rng = np.random.default_rng(0)
    mean = rng.dirichlet(np.ones(3), 400)
    probs = np.stack([rng.dirichlet(6.0 * m) for m in mean])
    counts = np.stack([rng.multinomial(12, p) for p in probs]).astype(float)
    fitted = fit_strength(rue.Draws(mean[:, None]), counts, constant=True)
    (log_strength,) = fitted.coefficients

    def loss(log_s):
        alpha = np.exp(log_s) * mean
        s, n = alpha.sum(axis=1), counts.sum(axis=1)
        each = gammaln(s) - gammaln(n + s) + (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)
        return -each.sum()

    best = minimize_scalar(loss, bounds=(-3, 8), method="bounded").x
    assert log_strength == pytest.approx(best, abs=1e-3)
    assert np.exp(log_strength) == pytest.approx(6, rel=0.25)  # that of the generator
    np.testing.assert_allclose(fitted(rue.Draws(mean[:7, None])), np.exp(log_strength))


def test_strength_keeps_the_mean_and_gives_all_points_one_alpha_0(features):
    inputs = features.part("test").inputs
    config = strength.Config(base="single", training=SHORT)
    belief = strength.fit(features, config)[0].predict(inputs)
    alpha = np.asarray(belief.alpha)
    np.testing.assert_allclose(alpha.sum(axis=1), alpha.sum(axis=1)[0])
    base = strength.fit(features, config)[0].state[0]
    assert base.learner is single
    np.testing.assert_allclose(belief.mean(), base.predict(inputs).mean(), atol=1e-6)


def test_a_base_must_be_a_method_of_its_own():
    for name in ("strength", "snapshots"):
        with pytest.raises(InputError, match=f"must be a method of its own, got '{name}'"):
            strength.Config(base=name)


def test_a_mean_that_underflowed_is_still_a_dirichlet():
    """Pairs of a network that is sure have shares of exactly 0."""
    alpha = match(np.array([[0.5, 0.5, 0.0]]), np.array([0.5]))
    assert (alpha > 0).all()
    assert rue.Dirichlet(alpha).mean()[0] == pytest.approx([0.5, 0.5, 0.0], abs=1e-9)

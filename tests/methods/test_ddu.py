"""The mixture against scipy's, soft against hard labels, the jitter, the norms."""

import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from made import data_set
from rue.errors import InputError
from rue.methods import Training, ddu
from rue.methods._training.networks import Probe, leading, norms, project_exactly, project_members
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.pools import make_pool
from rue.methods._training.training import Member, train
from rue.methods.ddu import fit_mixture


def test_density_is_scipys_mixture(rng):
    z, weights = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6)), rng.dirichlet(np.ones(3), 400)
    mixture = fit_mixture(z, weights)
    new = rng.normal(size=(50, 6))
    parts = []
    for k in range(3):
        w = weights[:, k]
        mean = np.average(z, axis=0, weights=w)
        covariance = np.cov(z.T, aweights=w, ddof=0)
        parts.append(np.log(w.mean()) + multivariate_normal(mean, covariance).logpdf(new))
    np.testing.assert_allclose(mixture.log_density(new), logsumexp(parts, axis=0), rtol=1e-9)
    assert mixture.jitter == 0
    assert mixture.priors.sum() == pytest.approx(1)


def test_classes_of_fewer_points_than_features(rng):
    """50, 8 and 2 points in 20 dimensions; by eigenvalues, as scipy takes no such covariance."""
    z, label = rng.normal(size=(60, 20)), np.repeat([0, 1, 2], [50, 8, 2])
    mixture = fit_mixture(z, np.eye(3)[label])
    assert 0 < mixture.jitter < 1e-12
    new, parts = rng.normal(size=(30, 20)), []
    for k in range(3):
        own = z[label == k]
        variance, basis = np.linalg.eigh(np.cov(own.T, ddof=0) + mixture.jitter * np.eye(20))
        variance = np.maximum(variance, mixture.jitter)
        distance = ((new - own.mean(axis=0)) @ basis) ** 2 / variance
        parts.append(
            np.log(len(own) / 60) - (distance + np.log(2 * np.pi * variance)).sum(axis=1) / 2
        )
    np.testing.assert_allclose(mixture.log_density(new), logsumexp(parts, axis=0), rtol=1e-9)


def test_one_hot_labels_give_each_class_its_own_gaussian(rng):
    z, label = rng.normal(size=(90, 2)), np.repeat([0, 2], 45)
    mixture = fit_mixture(z, np.eye(3)[label])
    assert mixture.priors.tolist() == [0.5, 0.5]  # the class that nobody has is left out
    np.testing.assert_allclose(mixture.means, [z[:45].mean(axis=0), z[45:].mean(axis=0)])
    factor = mixture.factors[1]
    np.testing.assert_allclose(factor @ factor.T, np.cov(z[45:].T, ddof=0))


def test_density_does_not_underflow(rng):
    mixture = fit_mixture(rng.normal(size=(50, 3)), np.ones((50, 1)))
    far = mixture.log_density(np.array([[1e4, 0.0, 0.0], [1e5, 0.0, 0.0]]))
    assert np.isfinite(far).all()
    assert far[1] < far[0] < -1e6


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_jitter_is_the_smallest_that_factorises(rng, scale):
    """Four features that are two: covariances of rank 2."""
    z = scale * rng.normal(size=(60, 2))[:, [0, 1, 0, 1]]
    mixture = fit_mixture(z, np.ones((60, 1)))
    unit = z.var(axis=0).mean()
    assert 0 < mixture.jitter <= 1e-13 * unit
    assert np.isfinite(mixture.log_density(z)).all()
    smaller = ddu._factorise(np.cov(z.T, ddof=0)[None], mixture.jitter / 10)
    assert smaller is None


def test_hidden_norm_is_at_most_three_after_training(features):
    """A high rate drives the norm up: without the projection it is far above 3."""
    fast = Training(width=16, epochs=10, batch_size=32, lr=0.2)
    free, bound = (
        ddu.fit(features, ddu.Config(coefficient=c, training=fast), seeds=(0, 1))
        for c in (1e9, 3.0)
    )
    for loose, tight in zip(free, bound, strict=True):
        assert max(n.item() for n in norms(loose.model.networks[0].hidden())) > 4
        for weight in tight.model.networks[0].hidden():
            norm = np.linalg.norm(weight.double().numpy(), 2, axis=(1, 2))
            assert (norm <= 3).all()
            assert (norm > 2.5).all()  # the bound was met, not undercut


def test_no_step_leaves_the_norm_far_above_three(features):
    """One step of power iteration knows the norm to 20 %, at a rate that lifts it."""
    pool = make_pool(features, torch.device("cpu"))
    probe = Probe.initial(6, 3, [1], width=16, slope=0.01)
    seen = []
    training = Training(width=16, epochs=5, batch_size=32, lr=0.1)
    train(
        probe,
        pool,
        [Member("m", 0, 0, np.arange(pool.n_train), training)],
        cross_entropy,
        coefficient=3.0,
        on_step=lambda *_: seen.append(norms(probe.hidden())[0].item()),
    )
    assert max(seen) < 3.6
    assert min(seen[-20:]) > 2.5


def test_projection_follows_the_norm_and_leaves_short_ones_alone(rng):
    weight = torch.tensor(rng.normal(size=(2, 5, 7)))
    weight[1] *= 0.01
    before = weight.clone()
    vectors = leading([weight])
    project_members([weight], vectors, 3.0)
    exact = [np.linalg.norm(w, 2) for w in before.numpy()]
    np.testing.assert_allclose(weight[0], before[0] * 3 / exact[0], rtol=1e-9)
    assert torch.equal(weight[1], before[1])
    project_exactly([before], 3.0)
    assert np.linalg.norm(before[0].numpy(), 2) == pytest.approx(3, rel=2e-6)


def test_it_is_fitted_to_all_training_points_and_their_soft_labels(features, short):
    fitted = ddu.fit(features, ddu.Config(training=short))[0]
    train = features.part("train")
    (z,) = (z[0].double().numpy() for z in fitted.model.features(train.inputs))
    by_hand = fit_mixture(z, train.targets())
    np.testing.assert_allclose(fitted.state.priors, by_hand.priors, rtol=1e-6)
    np.testing.assert_allclose(fitted.state.means, by_hand.means, rtol=1e-4, atol=1e-5)
    score = -by_hand.log_density(z)
    np.testing.assert_allclose(fitted.predict(train.inputs).epistemic, score, rtol=1e-3, atol=0.01)


def test_a_bound_seed_does_not_depend_on_its_neighbours(rng):
    """On one thread the same bits, where every step is scaled back: 128 units, 40 features."""
    data = data_set(
        rng.normal(size=(200, 40)).astype(np.float32), rng.dirichlet(np.ones(3), 200), n_train=190
    )
    config = ddu.Config(coefficient=0.5, training=Training(epochs=3, batch_size=64))
    alone, beside = ddu.fit(data, config, seeds=(4,))[0], ddu.fit(data, config, seeds=(1, 4))[1]
    assert norms(alone.model.networks[0].hidden())[0].item() == pytest.approx(0.5, rel=1e-5)
    for ours, theirs in zip(
        alone.model.networks[0].parameters(), beside.model.networks[0].parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_far_inputs_are_less_certain(features):
    fitted = ddu.fit(features, ddu.Config(training=Training(width=16, epochs=5)))[0]
    near, far = features.part("test").inputs, features.part("test").inputs + 50
    assert fitted.predict(far).epistemic.min() > np.median(fitted.predict(near).epistemic)
    with pytest.raises(InputError, match="coefficient"):
        ddu.Config(coefficient=0.0)

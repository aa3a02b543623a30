"""Moments of the tail of SGD, on a quadratic whose stationary distribution is known."""

import copy

import numpy as np
import pytest
import torch

from rue.data.splits import hold_out
from rue.errors import InputError
from rue.methods import SMALL_IMAGES, Training, swag
from rue.methods._training.networks import NetworkStack
from rue.methods._training.pools import Pool, Scaling, make_pool
from rue.methods._training.training import Member, train
from rue.methods._training.weights import Moments


def test_moments_are_those_of_the_vectors(rng):
    vectors = rng.normal(size=(30, 5)) * [1, 2, 3, 4, 5] + 7
    moments = Moments(rank=10)
    for vector in vectors:
        moments.add(vector)
    np.testing.assert_allclose(moments.mean, vectors.mean(axis=0))
    np.testing.assert_allclose(moments.diagonal, vectors.var(axis=0))
    deviations = [vectors[t] - vectors[: t + 1].mean(axis=0) for t in range(20, 30)]
    np.testing.assert_allclose(moments.deviations, deviations)
    draws = np.stack([moments.sample(np.random.default_rng(s)) for s in range(4000)])
    low_rank = np.stack(deviations, axis=1)
    expected = np.diag(moments.diagonal) / 2 + low_rank @ low_rank.T / (2 * 9)
    np.testing.assert_allclose(draws.mean(axis=0), moments.mean, atol=0.4)
    np.testing.assert_allclose(np.cov(draws.T), expected, atol=0.12 * expected.max())


class Point(NetworkStack):
    """One weight vector, whatever the input: the loss of target y is h |w - y|^2 / 2."""

    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1, size, 1))

    def features(self, x):
        return torch.ones(1, x.shape[1], 1)

    def head(self):
        return self.weight, torch.zeros(1, 1, self.weight.shape[1])

    def hidden(self):
        return []


def test_the_tail_of_sgd_on_a_quadratic(rng):
    """w <- w - lr v, v <- 0.9 v + h (w - mean of a batch of 4): a linear recursion.

    Its stationary covariance solves S = A S A' + B B' var / 4, with the state (w, v). Iterates are
    taken once in 40 steps, when they have forgotten the last; 100 of them give the variance to
    1 / sqrt(50) = 14 %, and the mean to 10 % of a standard deviation.
    """
    from scipy.linalg import solve_discrete_lyapunov

    h, lr, n = 2.0, 0.05, 160
    y = rng.normal(loc=3.0, size=(n, 2)) * [1.0, 2.0]
    pool = Pool(
        torch.zeros(n, 1),
        torch.tensor(y).float(),
        Scaling((1,), torch.zeros(1), torch.ones(1)),
        n,
    )
    training = Training(
        network="probe",
        epochs=100,
        batch_size=4,
        optimizer="sgd",
        schedule="constant",
        lr=lr,
        weight_decay=0.0,
    )
    network, moments = Point(2), Moments(rank=20)
    member = Member("m", 0, 0, np.arange(n), training)

    def collect(_, loss):
        if loss is not None:
            moments.add(network.weight.detach().double().numpy().ravel())

    train(
        network,
        pool,
        [member],
        lambda z, target: h * ((z - target) ** 2).sum(-1) / 2,
        on_step=collect,
    )
    a = np.array([[1 - lr * h, -lr * 0.9], [h, 0.9]])
    b = np.array([[lr * h], [-h]])
    stationary = solve_discrete_lyapunov(a, b @ b.T)[0, 0]
    # Batches of an epoch are drawn without replacement, which the recursion does not know: an
    # iterate at an epoch's end has seen every point once, and varies less.
    assert np.abs(moments.mean - y.mean(axis=0)).max() < 0.1
    ratio = moments.diagonal / (stationary * y.var(axis=0) / 4)
    assert (ratio > 0.4).all()
    assert (ratio < 1.2).all()


def test_draws_are_networks_around_the_trained_one(features):
    training = Training(width=32, epochs=5, batch_size=64)
    config = swag.Config(n_draws=7, n_epochs=4, training=training)
    fitted = swag.fit(features, config, seeds=(1,))[0]
    draws = fitted.predict(features.inputs[:11])
    assert (len(draws), draws.n_draws) == (11, 7)
    assert len(np.unique(draws.probs[0, :, 0])) == 7
    (stack,) = fitted.model.networks
    assert stack.n_members == 7
    wilder = swag.Config(n_draws=7, n_epochs=4, lr=0.1, training=training)
    other = swag.fit(features, wilder, seeds=(1,))[0].predict(features.inputs[:11])
    assert other.probs.std(axis=1).mean() > draws.probs.std(axis=1).mean()


def test_batch_norm_is_that_of_the_training_images(images):
    """After a draw the running mean is the mean over the training images' batches."""
    training = Training(network="small_cnn", epochs=1, batch_size=60)
    config = swag.Config(n_draws=2, n_epochs=2, training=training)
    fitted = swag.fit(images, config)[0]
    network = copy.deepcopy(fitted.model.networks[1])
    pool = make_pool(hold_out(images), torch.device("cpu"))
    x, _ = pool.points(slice(0, pool.n_train))
    with torch.no_grad():
        maps = network.conv1(x)
    expected = torch.stack([part.mean((0, 2, 3)) for part in maps.split(60)]).mean(0)
    torch.testing.assert_close(network.bn1.running_mean, expected, rtol=1e-3, atol=1e-4)
    assert not network.training


def test_bad_settings_are_refused():
    for name, value in (("n_draws", 0), ("n_epochs", 1), ("rank", 1), ("lr", 0.0)):
        with pytest.raises(InputError, match=name):
            swag.Config(**{name: value})
    assert SMALL_IMAGES.is_constant

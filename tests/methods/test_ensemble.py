"""Members: left-out folds, and training together or one by one."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.special import softmax
from scipy.stats import spearmanr

from made import data_set
from rue import Annotations
from rue.data.splits import hashed, stream
from rue.methods import Training, ensemble
from rue.methods._training import fitting
from rue.methods._training.networks import NetworkStack, Probe
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.pools import Pool, Scaling, make_pool
from rue.methods._training.training import Member, keep, train
from rue.methods.laplace import fit_last_layer

CPU = torch.device("cpu")


def rows_of_member(n, index):
    """The rows of n that a member trains on: all but those of its fold of 5."""
    return np.flatnonzero(fitting.fold_of_each(n) != index % 5)


def test_each_member_leaves_out_one_fold_and_each_point_is_left_out_once():
    rows = [rows_of_member(103, i) for i in range(5)]
    left_out = [np.setdiff1d(np.arange(103), r) for r in rows]
    assert sorted(np.concatenate(left_out)) == list(range(103))
    assert {len(fold) for fold in left_out} == {20, 21}
    np.testing.assert_array_equal(rows_of_member(103, 5), rows[0])


def test_a_member_does_not_see_its_fold(features):
    """Other answers to the points of fold 1 change all members but that of fold 1."""
    fold = np.setdiff1d(np.arange(423), rows_of_member(423, 1))
    probs = features.targets()
    probs[fold] = [0.0, 0.0, 1.0]
    other = dataclasses.replace(features, annotations=Annotations.from_probs(probs))
    config = ensemble.Config(training=Training(width=32, epochs=2, batch_size=64))
    a, b = (
        ensemble.fit(data, config, seeds=(3,))[0].predict(features.inputs).probs
        for data in (features, other)
    )
    same = [np.array_equal(a[:, i], b[:, i]) for i in range(5)]
    assert same == [False, True, False, False, False]


def test_draws_are_the_members(features, short):
    fitted = ensemble.fit(features, ensemble.Config(n_members=5, training=short))[0]
    draws = fitted.predict(features.inputs[:7])
    assert draws.n_draws == 5
    x = (torch.tensor(features.inputs[:7]) - fitted.model.scaling.mean) / fitted.model.scaling.std
    (stack,) = fitted.model.networks
    for i in range(5):
        hidden = torch.relu(x @ stack.weight1[i].T + stack.bias1[i])
        by_hand = torch.softmax(hidden @ stack.weight2[i].T + stack.bias2[i, :, :3], dim=1)
        np.testing.assert_allclose(draws.probs[:, i], by_hand.detach(), atol=1e-6)


def test_members_of_a_split_stack_are_all_there(features):
    """423 rows in 5 folds: members have 338 or 339 rows, 169 or 170 batches of two."""
    training = Training(width=4, epochs=1, batch_size=2)
    fitted = ensemble.fit(features, ensemble.Config(training=training))[0]
    assert sorted(network.n_members for network in fitted.model.networks) == [2, 3]
    assert fitted.predict(features.inputs[:3]).n_draws == 5


def test_a_stack_trains_as_plain_torch_does(features):
    """A loop over one nn.Module with torch's own layers, loss and AdamW, fed the same numbers."""
    settings = [
        Training(width=8, epochs=3, batch_size=50, weight_decay=decay, lr=lr)
        for decay, lr in ((0.5, 1e-3), (0.5, 1e-3), (0.1, 3e-3))
    ]
    pool = make_pool(features, CPU)
    members = [
        Member("m", seed, 0, np.arange(pool.n_train - seed), settings[seed], dropout=0.1)
        for seed in range(3)
    ]
    seeds = [hashed(*m.names, "start") for m in members]
    stack = Probe.initial(6, 3, seeds, width=8, slope=0.0)
    assert train(stack, pool, members, cross_entropy) == [3, 3, 3]
    for i, member in enumerate(members):
        torch.manual_seed(seeds[i])
        net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
        own = {"lr": settings[i].lr, "weight_decay": settings[i].weight_decay}
        optimizer = torch.optim.AdamW(net.parameters(), **own)
        for epoch in range(3):
            rng = stream("m", i, 0, "epoch", epoch)
            for rows in torch.tensor(rng.permutation(member.rows)).split(50):
                drawn = 64 if len(rows) > 32 else 32  # a batch is filled up to whole vectors
                mask = torch.tensor(keep(rng, (drawn, 8), 0.1))[: len(rows)] / 0.9
                logits = net[2](net[1](net[0](pool.inputs[rows])) * mask)
                loss = torch.nn.functional.cross_entropy(logits, pool.targets[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        torch.testing.assert_close(stack.weight1[i], net[0].weight, rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(stack.bias2[i, 0, :3], net[2].bias, rtol=1e-4, atol=1e-6)


class Lines(NetworkStack):
    """A stack of linear regressions, without a hidden layer."""

    def __init__(self, n_members, n_features):
        super().__init__()
        self.n_members = n_members
        self.weight = torch.nn.Parameter(torch.zeros(n_members, 1, n_features))

    def features(self, x):
        return x

    def head(self):
        return self.weight, torch.zeros(self.n_members, 1, 1)

    def hidden(self):
        return []


def least_squares(x, y, rows):
    """Weights (n_members, d) of a stack trained on rows of each member's points (d,) and y."""
    n_members, n, d = x.shape
    scaling = Scaling((d,), torch.zeros(d), torch.ones(d))
    flat = (torch.tensor(part.reshape(n_members * n, -1)).float() for part in (x, y))
    pool = Pool(*flat, scaling, n_members * n)
    training = Training(epochs=150, batch_size=n, optimizer="sgd", lr=0.3, weight_decay=0.0)
    members = [Member("m", 0, i, i * n + np.asarray(rows[i]), training) for i in range(n_members)]
    lines = Lines(n_members, d)
    train(lines, pool, members, lambda z, target: ((z - target) ** 2).sum(-1) / 2)
    return lines.weight[:, 0].detach().double().numpy()


def regression(rng, n, d):
    x = rng.normal(size=(n, d))
    return x, x @ rng.normal(size=d) + rng.normal(size=n)


def test_a_big_randomised_ensemble_is_the_posterior():
    """Linear regression, noise 1, prior N(0, I / 4), whose posterior is a Gaussian.

    The prior is four more points, 2 e_j with answer 0. A member that fits all answers with noise
    of its own added is a draw of the posterior (Pearce et al. 2020), so 300 members' means and
    widths are known to 1 / sqrt(300) and 1 / sqrt(600) of a width: four of these are allowed.
    """
    rng = np.random.default_rng(3)
    x, y = regression(rng, 40, 4)
    x, y = np.concatenate([x, 2 * np.eye(4)]), np.concatenate([y, np.zeros(4)])
    covariance = np.linalg.inv(x.T @ x)
    noisy = y + rng.normal(size=(300, 44))
    ours = least_squares(np.broadcast_to(x, (300, 44, 4)), noisy, [np.arange(44)] * 300)
    exact = np.linalg.lstsq(x, noisy.T, rcond=None)[0].T  # what each member should reach
    np.testing.assert_allclose(ours, exact, atol=1e-3)
    directions = rng.normal(size=(20, 4))
    width = np.sqrt(np.einsum("ni,ij,nj->n", directions, covariance, directions))
    said = ours @ directions.T
    off = np.abs(said.mean(axis=0) - directions @ covariance @ x.T @ y) / width
    assert off.max() < 4 / np.sqrt(300)
    np.testing.assert_allclose(said.std(axis=0) / width, 1, atol=4 / np.sqrt(600))


def test_left_out_folds_alone_say_half_of_the_posteriors_width():
    """Members that differ in nothing but their fold of 5 are a jackknife.

    Its variance is (5 - 1) / 5 times the sum of squares about the members' mean (Efron 1982), so
    their standard deviation is 1 / sqrt(5 - 1) of the posterior's under a flat prior. Of 30 data
    sets with 4 weights and 5 folds each the root mean square is known to
    1 / sqrt(2 * 30 * 4 * 4) = 0.032 of itself; with terms of order 4 * 5 / 400 = 0.05 that the
    jackknife leaves out, 0.06 is allowed. The mean is the posterior's to 0.05 widths.
    """
    rng = np.random.default_rng(4)
    sets = [regression(rng, 400, 4) for _ in range(30)]
    rows = [rows_of_member(400, i) for i in range(5)] * 30
    x, y = (np.repeat(np.stack(part), 5, axis=0) for part in zip(*sets, strict=True))
    ours = least_squares(x, y, rows)
    ratios, off = [], []
    for said, (x, y) in zip(ours.reshape(30, 5, 4), sets, strict=True):
        width = np.sqrt(np.diag(np.linalg.inv(x.T @ x)))
        ratios.append(said.var(axis=0) / width**2)
        off.append((said.mean(axis=0) - np.linalg.lstsq(x, y, rcond=None)[0]) / width)
    assert np.sqrt(np.mean(ratios)) == pytest.approx(0.5, abs=0.06)
    assert np.sqrt(np.mean(np.square(off))) < 0.05


def test_a_big_ensemble_of_probes_comes_close_to_the_posterior():
    """Softmax regression, 1,000 points: 25 probes against the posterior, at 200 new points.

    The posterior is Laplace's, which test_laplace.py holds to the exact one. Stated tolerances.
    Means: 0.03 on average, where the mean answer is off by more than 0.15. Widths: probes are no
    draws of the posterior. Folds alone would make them half as wide (see above), and starts,
    orders and masks add to that; no more noise is put in, so their root mean square must be
    between 0.5 and 1 of the posterior's (0.70 here, 0.70 to 0.90 in six runs of such toys), and
    where the posterior is wide they must be: a rank correlation above 0.8.
    """
    rng = np.random.default_rng(5)
    z, truth = rng.normal(size=(1200, 2)), rng.normal(size=(3, 3))
    phi = np.column_stack([z, np.ones(1200)])
    label = np.array([rng.choice(3, p=p) for p in softmax(phi @ truth.T, axis=1)])
    mode = np.zeros((3, 3))
    for _ in range(500):
        residual = np.eye(3)[label[:1000]] - softmax(phi[:1000] @ mode.T, axis=1)
        mode += 0.003 * (residual.T @ phi[:1000] - mode)
    draws = fit_last_layer(z[:1000], mode).sample(rng, 500)
    posterior = softmax(phi[1000:] @ draws.transpose(0, 2, 1), axis=2)
    data = data_set(z.astype(np.float32), np.eye(3)[label], n_train=1000)
    config = ensemble.Config(n_members=25, training=Training(epochs=15, batch_size=64))
    ours = ensemble.fit(data, config)[0].predict(data.inputs[1000:]).probs.transpose(1, 0, 2)
    mean = posterior.mean(axis=0)
    assert np.abs(ours.mean(axis=0) - mean).mean() < 0.03
    assert np.abs(np.eye(3)[label[:1000]].mean(axis=0) - mean).mean() > 0.15
    widths = [np.sqrt(probs.var(axis=0).sum(axis=1)) for probs in (ours, posterior)]
    assert 0.5 < np.sqrt(np.mean(widths[0] ** 2) / np.mean(widths[1] ** 2)) < 1
    assert spearmanr(*widths)[0] > 0.8

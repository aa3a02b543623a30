"""Members: left-out folds, and training together or one by one."""

import numpy as np
import torch
from scipy.special import softmax

from made import data_set
from rue.methods import Training, ensemble, models
from rue.methods.laplace import fit_posterior
from rue.methods.networks import Probe
from rue.methods.pools import make_pool
from rue.methods.streams import hashed, stream
from rue.methods.training import Member, cross_entropy, keep, train

CPU = torch.device("cpu")


def test_each_member_leaves_out_one_fold_and_each_point_is_left_out_once():
    rows = [models._rows(103, i, 5) for i in range(5)]
    left_out = [np.setdiff1d(np.arange(103), r) for r in rows]
    assert sorted(np.concatenate(left_out)) == list(range(103))
    assert {len(fold) for fold in left_out} == {20, 21}
    np.testing.assert_array_equal(models._rows(103, 5, 5), rows[0])


def test_draws_are_the_members(features, short):
    fitted = ensemble.fit(features, ensemble.Config(n_members=5, training=short))[0]
    draws = fitted.predict(features.inputs[:7])
    assert draws.n_draws == 5
    x = (torch.tensor(features.inputs[:7]) - fitted.model.scaling.mean) / fitted.model.scaling.std
    (stack,) = fitted.model.networks
    for i in range(5):
        hidden = torch.relu(x @ stack.weight1[i].T + stack.bias1[i])
        by_hand = torch.softmax(hidden @ stack.weight2[i].T + stack.bias2[i], dim=1)
        np.testing.assert_allclose(draws.probs[:, i], by_hand.detach(), atol=1e-6)


def test_members_of_a_split_stack_are_all_there(features):
    """423 rows in 5 folds: members have 338 or 339 rows, 169 or 170 batches of two."""
    training = Training(width=4, epochs=1, batch_size=2)
    fitted = ensemble.fit(features, ensemble.Config(training=training))[0]
    assert sorted(network.n_members for network in fitted.model.networks) == [2, 3]
    assert fitted.predict(features.inputs[:3]).n_draws == 5


def test_a_stack_trains_as_plain_torch_does(features):
    """A loop over one nn.Module with torch's own layers, loss and AdamW, fed the same numbers."""
    training = Training(width=8, epochs=3, batch_size=50)
    pool = make_pool(features, CPU)
    members = [Member("m", seed, 0, np.arange(len(pool) - seed)) for seed in range(3)]
    seeds = [hashed(*m.names, "start") for m in members]
    stack = Probe.initial(6, 3, seeds, width=8, slope=0.0)
    train(stack, pool, members, training, cross_entropy)
    for i, member in enumerate(members):
        torch.manual_seed(seeds[i])
        net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4)
        for epoch in range(3):
            rng = stream("m", i, 0, "epoch", epoch)
            for rows in torch.tensor(rng.permutation(member.rows)).split(50):
                width = 50 if len(rows) == 50 else len(pool) % 50  # what the stack draws
                mask = torch.tensor(keep(rng, (width, 8), 0.1))[: len(rows)] / 0.9
                logits = net[2](net[1](net[0](pool.inputs[rows])) * mask)
                loss = torch.nn.functional.cross_entropy(logits, pool.targets[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        torch.testing.assert_close(stack.weight1[i], net[0].weight, rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(stack.bias2[i, 0], net[2].bias, rtol=1e-4, atol=1e-6)


def test_a_big_ensemble_comes_close_to_the_posterior():
    """Softmax regression, 1,000 points: the mean of 25 members against the posterior's mean.

    The posterior is Laplace's, which test_laplace.py holds to the exact one. Members are no
    draws of it (they know the model class less well and stop early), so only means are
    compared. Stated tolerance: 0.03 on average over 200 points, where the mean answer is off by
    more than 0.15.
    """
    rng = np.random.default_rng(5)
    z, truth = rng.normal(size=(1200, 2)), rng.normal(size=(3, 3))
    phi = np.column_stack([z, np.ones(1200)])
    label = np.array([rng.choice(3, p=p) for p in softmax(phi @ truth.T, axis=1)])
    mode = np.zeros((3, 3))
    for _ in range(500):
        residual = np.eye(3)[label[:1000]] - softmax(phi[:1000] @ mode.T, axis=1)
        mode += 0.003 * (residual.T @ phi[:1000] - mode)
    draws = fit_posterior(z[:1000], mode).sample(rng, 500)
    posterior = softmax(phi[1000:] @ draws.transpose(0, 2, 1), axis=2).mean(axis=0)
    data = data_set(z.astype(np.float32), np.eye(3)[label], n_train=1000)
    config = ensemble.Config(n_members=25, training=Training(epochs=15, batch_size=64))
    ours = ensemble.fit(data, config)[0].predict(data.inputs[1000:]).mean()
    assert np.abs(ours - posterior).mean() < 0.03
    assert np.abs(np.eye(3)[label[:1000]].mean(axis=0) - posterior).mean() > 0.15

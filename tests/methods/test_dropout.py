"""Passes differ, runs agree, and each pass is a thinned network."""

import numpy as np
import pytest
import torch

from rue.data.splits import stream
from rue.errors import InputError
from rue.methods import Training, dropout
from rue.methods._training.training import keep


def test_passes_differ_and_runs_agree(features):
    training = Training(epochs=3)
    runs = [dropout.fit(features, dropout.Config(training=training), seeds=(3,))[0] for _ in "ab"]
    a, b = (fitted.predict(features.inputs[:20]).probs for fitted in runs)
    np.testing.assert_array_equal(a, b)
    assert a.shape == (20, 20, 3)
    # All twenty passes are different functions.
    assert len(np.unique(a[0], axis=0)) == 20


def test_a_pass_is_a_thinned_network(features, short):
    fitted = dropout.fit(features, dropout.Config(n_draws=4, training=short))[0]
    draws = fitted.predict(features.inputs[:9]).probs
    (net,) = fitted.model.networks
    x = fitted.model.scaling(torch.tensor(features.inputs[:9]))
    hidden = torch.relu(x @ net.weight1[0].T + net.bias1[0])
    masks = keep(stream("mc_dropout", 0, "draws"), (4, 1, 16), 0.1)
    for s in range(4):
        thinned = hidden * torch.tensor(masks[s]) / 0.9
        by_hand = torch.softmax(thinned @ net.weight2[0].T + net.bias2[0, :, :3], dim=1)
        np.testing.assert_allclose(draws[:, s], by_hand.detach(), atol=1e-6)


def test_units_stay_as_often_as_they_should():
    """1,000,000 units: the standard error of the share is 0.0003."""
    rng = np.random.default_rng(0)
    assert keep(rng, (1000, 1000), 0.1).mean() == pytest.approx(0.9, abs=0.0015)
    assert keep(rng, (10,), 0.0).all()


def test_without_dropout_there_is_nothing_to_draw():
    with pytest.raises(InputError, match="dropout must be above 0"):
        dropout.Config(training=Training(dropout=0.0))
    with pytest.raises(InputError, match="n_draws"):
        dropout.Config(n_draws=0)

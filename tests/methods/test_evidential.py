"""The loss, its gradient and the KL term, against formulas."""

import numpy as np
import pytest
import torch
from scipy.special import digamma, expit, polygamma
from scipy.stats import dirichlet

from rue.errors import InputError
from rue.methods import Training, evidential
from rue.methods._training.objectives import evidential_loss


@pytest.fixture
def batch(rng):
    return rng.normal(scale=3, size=(2, 5, 4)), rng.dirichlet(np.ones(4), size=(2, 5))


def test_by_hand():
    """Logits 0: softplus(0) = log 2, alpha = (1 + log 2, 1 + log 2), and p = (1, 0)."""
    loss = evidential_loss(torch.zeros(1, 1, 2), torch.tensor([[[1.0, 0.0]]]))
    a = 1 + np.log(2)
    assert loss.item() == pytest.approx(digamma(2 * a) - digamma(a), rel=1e-6)


def test_it_is_the_expected_log_loss(batch):
    logits, targets = batch
    alpha = np.log1p(np.exp(logits)) + 1
    loss = evidential_loss(torch.tensor(logits), torch.tensor(targets)).numpy()
    draws = np.random.default_rng(0).dirichlet(alpha[0, 0], size=200_000)
    sampled = -(np.log(draws) @ targets[0, 0])
    assert loss[0, 0] == pytest.approx(sampled.mean(), abs=5 * sampled.std() / np.sqrt(200_000))


def test_gradient_is_the_analytic_one(batch):
    """d/d logit_k = sigmoid(logit_k) (psi'(alpha_0) - p_k psi'(alpha_k)), as sum p = 1."""
    logits, targets = batch
    x = torch.tensor(logits, requires_grad=True)
    evidential_loss(x, torch.tensor(targets)).sum().backward()
    alpha = np.log1p(np.exp(logits)) + 1
    total = alpha.sum(axis=-1, keepdims=True)
    analytic = expit(logits) * (polygamma(1, total) - targets * polygamma(1, alpha))
    np.testing.assert_allclose(x.grad, analytic, rtol=1e-8, atol=1e-12)


def test_kl_term_is_the_divergence_from_uniform():
    """KL = E log Dirichlet(x; a~) - log Gamma(K), the flat density being (K - 1)!; sampled."""
    logits, targets = torch.tensor([[[1.0, -1.0, 2.0]]]).double(), torch.tensor([[[0.2, 0.3, 0.5]]])
    targets = targets.double()
    alpha = (torch.nn.functional.softplus(logits) + 1).numpy()[0, 0]
    wrong = targets.numpy()[0, 0] + (1 - targets.numpy()[0, 0]) * alpha
    draws = np.random.default_rng(0).dirichlet(wrong, size=100_000)
    logs = dirichlet(wrong).logpdf(draws.T) - np.log(2.0)
    with_kl = evidential_loss(logits, targets, kl=2.0) - evidential_loss(logits, targets)
    assert with_kl.item() == pytest.approx(2 * logs.mean(), abs=10 * logs.std() / np.sqrt(100_000))


def test_the_kl_term_takes_evidence_away(features):
    training = Training(width=16, epochs=10, batch_size=32)
    alpha = [
        evidential.fit(features, evidential.Config(kl=kl, training=training))[0]
        .predict(features.inputs)
        .alpha
        for kl in (0.0, 1.0)
    ]
    assert alpha[0].min() >= 1
    assert alpha[1].sum(axis=1).mean() < 0.9 * alpha[0].sum(axis=1).mean()
    with pytest.raises(InputError, match="kl must be at least 0 and finite"):
        evidential.Config(kl=-1.0)

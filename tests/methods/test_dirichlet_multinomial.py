"""The likelihood, its gradient, and a strength that is known."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.stats import dirichlet_multinomial as scipys
from scipy.stats import multinomial

import rue
from replicates import REGRETS, STRENGTHS, world
from rue.errors import InputError
from rue.methods import PROBE, RESNET9, Training, dirichlet_multinomial
from rue.methods._training.objectives import log_likelihood

TRAINING = Training(width=32, epochs=30, batch_size=64, lr=0.01)


@pytest.fixture(scope="module")
def fitted():
    """Five members on 1,500 points with 40 answers each, and the world."""
    made = world(1500, 40)
    config = dirichlet_multinomial.Config(training=TRAINING)
    return dirichlet_multinomial.fit(made[0], config)[0], *made


def test_by_hand():
    """Alpha (1, 1), one answer each way: 2! Gamma(2) / Gamma(4) = 2 / 6."""
    loss = log_likelihood(torch.ones(1, 2), torch.ones(1, 2))
    assert loss.item() == pytest.approx(np.log(1 / 3))


def test_it_is_scipys(rng):
    alpha = rng.gamma(1.0, 5.0, size=(50, 4)) + 0.01
    counts = rng.multinomial(12, rng.dirichlet(np.ones(4), 50))
    expected = [scipys.logpmf(c, a, 12) for c, a in zip(counts, alpha, strict=True)]
    ours = log_likelihood(torch.tensor(alpha), torch.tensor(counts))
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_its_gradient_is_that_of_finite_differences(rng):
    logits = torch.tensor(rng.normal(scale=3, size=(6, 4)), requires_grad=True)
    counts = torch.tensor(rng.multinomial(9, [0.4, 0.3, 0.3, 0.0], size=6)).double()
    assert torch.autograd.gradcheck(
        lambda z: log_likelihood(torch.nn.functional.softplus(z) + 1e-6, counts), (logits,)
    )


def test_a_strong_dirichlet_is_a_multinomial():
    """In float32 the logarithms of Gamma alone would be off by some 1."""
    probs = np.array([0.5, 0.3, 0.2])
    ours = log_likelihood(torch.tensor(1e7 * probs).float(), torch.tensor([4.0, 3.0, 1.0]))
    assert ours.item() == pytest.approx(multinomial.logpmf([4, 3, 1], 8, probs), abs=1e-4)


def test_one_answer_says_nothing_of_the_strength():
    alpha, one = torch.tensor([[0.5, 1.5]]), torch.tensor([[1.0, 0.0]])
    weak, strong = (log_likelihood(scale * alpha, one) for scale in (1, 1000))
    assert weak.item() == pytest.approx(strong.item()) == pytest.approx(np.log(0.25))


def test_it_recovers_known_strengths(fitted):
    """375 points of 40 answers a group: log s is known to less than 0.1; 25 % are allowed."""
    model, data, group, _ = fitted
    strength = model.predict(data.inputs[data.test]).alpha.sum(axis=1)
    found = [np.median(strength[group[data.test] == g]) for g in range(4)]
    np.testing.assert_allclose(found, STRENGTHS, rtol=0.25)


def test_epistemic_is_the_regret_to_expect_and_ranks_it_better_than_total(fitted):
    model, data, group, probs = fitted
    belief = model.predict(data.inputs[data.test])
    truth = rue.Annotations.from_probs(probs[data.test])
    hat, star = rue.decompose(belief, "brier"), rue.realize(truth, belief, "brier")
    for g in range(4):
        own = group[data.test] == g
        assert hat.epistemic[own].mean() == pytest.approx(star.epistemic[own].mean(), rel=0.25)
        assert star.epistemic[own].mean() == pytest.approx(REGRETS[g], rel=0.2)
    by_epistemic, by_total = (rue.aurec(star.epistemic, x) for x in (hat.epistemic, hat.total))
    assert by_epistemic < by_total - 0.01


def test_the_belief_is_the_members_second_moment(fitted):
    model, data, _, _ = fitted
    x = data.inputs[data.test[:7]]
    joint, alpha = dirichlet_multinomial.joint(model, x), model.predict(x).alpha
    np.testing.assert_allclose(joint.sum(axis=(1, 2)), 1, atol=1e-9)
    np.testing.assert_allclose(joint.sum(axis=2), alpha / alpha.sum(axis=1, keepdims=True))
    assert (np.linalg.eigvalsh(joint - np.einsum("ni,nj->nij", *[joint.sum(2)] * 2)) > -1e-9).all()


@pytest.mark.parametrize("name", ["dirichlet_multinomial", "pairs"])
def test_single_labels_are_refused(name, features):
    method = rue.methods.METHODS[name]
    once = method.Config(training=dataclasses.replace(TRAINING, epochs=1))
    labels = features.targets().argmax(axis=1)
    for other, why in (
        ({"annotations": None, "annotated": features.annotated[:0], "labels": labels}, "one label"),
        ({"annotations": rue.Annotations(np.eye(3)[labels])}, "every point has one answer"),
        ({"annotations": rue.Annotations.from_probs(features.targets())}, "exact distributions"),
        (
            {"annotations": features.annotations[5:], "annotated": features.annotated[5:]},
            "point 0 has no answers",
        ),
    ):
        with pytest.raises(InputError, match=f"made has no replicates: .*{why}"):
            method.fit(dataclasses.replace(features, **other), once)
    with pytest.raises(InputError, match="n_members"):
        method.Config(n_members=0)


def test_sgd_minimises_the_likelihood_of_one_answer():
    """At the rate of cross-entropy, SGD on that of all ten answers learnt nothing from faces."""
    logits, counts = torch.randn(1, 4, 3), torch.tensor([[[6.0, 3, 1]] * 4])
    losses = {
        training.optimizer: dirichlet_multinomial._recipe(
            dirichlet_multinomial.Config(training=training)
        ).objective(logits, counts)
        for training in (PROBE, RESNET9)
    }
    torch.testing.assert_close(losses["sgd"], losses["adamw"] / 10)

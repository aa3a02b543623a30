"""The error network learns out-of-fold regret, never in-fold."""

import dataclasses

import numpy as np
import pytest
import torch

import rue
from replicates import world
from rue.errors import InputError
from rue.methods import Training, deup
from rue.methods._training import fitting
from rue.methods._training.fitting import fit_models, fold_of_each, out_of_fold_regret
from rue.methods._training.objectives import regret_loss

SHORT = Training(width=32, epochs=3, batch_size=64)


@pytest.fixture
def trained(features, monkeypatch):
    """What deup trains first, and the data."""
    kept = []

    def spy(*args, **options):
        kept.extend(fit_models(*args, **options))
        return kept

    monkeypatch.setattr(fitting, "fit_models", spy)
    deup.fit(features, deup.Config(training=SHORT))
    return kept[0]


def test_the_loss_is_least_at_the_mean(rng):
    regret = torch.tensor(rng.gamma(0.5, size=(1, 2000, 1)))
    logits = torch.linspace(-3, 2, 501, dtype=torch.float64)
    losses = [regret_loss(x.expand(1, 2000, 1), regret).mean().item() for x in logits]
    best = np.exp(logits[int(np.argmin(losses))].item())
    assert best == pytest.approx(regret.mean().item(), rel=0.02)


def test_each_regret_is_that_of_a_network_that_left_the_point_out(trained, features):
    """The naive twin: for each point, the network of its fold, and the regret by rue.realize."""
    regret = out_of_fold_regret(trained).numpy()[:, 0]
    folds = fold_of_each(423)
    train = features.part("train")
    expected = np.empty(423)
    for fold in range(5):
        own = np.flatnonzero(folds == fold)
        probs = trained.model.only(fold + 1).distributions(train.inputs[own])[:, 0]
        truth = rue.Annotations(train.counts()[own])
        expected[own] = rue.realize(truth, rue.Scored(probs, np.zeros(len(own))), "log").epistemic
    np.testing.assert_allclose(regret, expected, atol=1e-5)


def test_a_network_does_not_see_the_fold_that_it_is_asked_about(features):
    """Other answers to fold 2 leave network 3 as it is, and change all others."""
    fold = np.flatnonzero(fold_of_each(423) == 2)
    counts = features.counts()
    counts[fold] = [30, 0, 0]
    other = dataclasses.replace(features, annotations=rue.Annotations(counts))
    kept = []
    for data in (features, other):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                fitting, "fit_models", lambda *a, **k: kept.append(fit_models(*a, **k)) or kept[-1]
            )
            deup.fit(data, deup.Config(training=SHORT))
    a, b = (one[0].model for one in kept)
    same = [
        np.array_equal(a.only(i).distributions(x), b.only(i).distributions(x))
        for i in range(6)
        for x in [features.inputs[:9]]
    ]
    assert same == [False, False, False, True, False, False]


def test_memorised_answers_are_no_certainty(rng):
    """Answers that have nothing to do with the input: in-fold regret is near 0 after 150 epochs,
    and what the error network says is the out-of-fold regret."""
    from made import data_set

    x = rng.normal(size=(400, 20)).astype(np.float32)
    probs = rng.dirichlet(np.full(3, 0.3), 400)
    data = data_set(x, probs, n_train=200, counts=rng.multinomial(20, probs))
    training = Training(width=64, epochs=60, batch_size=50, lr=0.01)
    fitted = deup.fit(data, deup.Config(training=training))[0]
    regrets = {}
    for part in ("train", "test"):
        held = data.part(part)
        belief = fitted.predict(held.inputs)
        regrets[part] = rue.realize(held.annotations, belief, "log").epistemic.mean()
        said = belief.epistemic.mean()
    assert regrets["train"] < 0.2 * regrets["test"]
    assert said > 0.5 * regrets["test"]


def test_in_a_known_world_it_says_where_regret_is():
    """Against the same 15 answers that it learns from: they add some (K - 1) / 30 to a regret."""
    data, group, _ = world(1500, 15)
    training = Training(width=32, epochs=15, batch_size=64, lr=0.01)
    fitted = deup.fit(data, deup.Config(training=training))[0]
    test = data.part("test")
    belief = fitted.predict(test.inputs)
    star = rue.realize(test.annotations, belief, "log").epistemic
    for g in range(4):
        own = group[data.test] == g
        assert belief.epistemic[own].mean() == pytest.approx(star[own].mean(), rel=0.25)


def test_single_labels_are_refused(features):
    one = rue.Annotations(np.eye(3)[features.targets().argmax(axis=1)])
    with pytest.raises(InputError, match="has no replicates"):
        deup.fit(dataclasses.replace(features, annotations=one))

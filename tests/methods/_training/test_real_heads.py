"""Heads for real-valued outcomes: their densities, what they learn, and both regimes."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy import stats

from made import data_set
from rue import Annotations, Gaussians, NormalInverseGamma, Ratings, aurec, decompose, realize
from rue.errors import InputError
from rue.methods import Training, ddu, dropout, ensemble, evidential
from rue.methods._training import objectives
from rue.methods._training.pools import make_pool

CPU = torch.device("cpu")
METHODS = {"ensemble": ensemble, "dropout": dropout, "evidential": evidential}


@pytest.fixture(scope="module")
def rated():
    """400 points to train on, 200 to test; 2 to 6 answers of N(100 + 30 x_0, (5 + 10 |x_1|)^2)."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 4)).astype(np.float32)
    mean, sd = 100 + 30 * x[:, 0], 5 + 10 * np.abs(x[:, 1])
    sizes = rng.integers(2, 7, 600)
    answers = [rng.normal(m, s, n) for m, s, n in zip(mean, sd, sizes, strict=True)]
    data = data_set(x, np.full((600, 2), 0.5), n_train=400)
    return (
        dataclasses.replace(
            data,
            annotations=None,
            ratings=Ratings(answers),
            annotated=np.arange(600),
            labels=None,
            class_names=(),
            values=np.zeros(0),
        ),
        mean,
        sd,
    )


def outputs_and_answers(k):
    rng = np.random.default_rng(0)
    outputs = torch.tensor(rng.normal(size=(3, 5, k)))
    answers = torch.tensor(rng.normal(size=(3, 5, 4)))
    answers[:, 1, 2:] = torch.nan
    answers[:, 3, 0] = torch.nan
    return outputs, answers


def test_the_gaussian_loss_is_a_log_density():
    outputs, answers = outputs_and_answers(2)
    found = objectives.gaussian_loss(outputs, answers)
    mean, sd = outputs[..., 0].numpy(), np.logaddexp(0, outputs[..., 1].numpy()) + 1e-3
    each = -stats.norm.logpdf(answers.numpy(), mean[..., None], sd[..., None])
    assert found.numpy() == pytest.approx(np.nanmean(each, axis=-1))
    mixed = objectives.gaussian_mixture_log_loss(outputs, answers[0])
    density = stats.norm.pdf(answers[0].numpy(), mean[..., None], sd[..., None]).mean(axis=0)
    assert mixed.numpy() == pytest.approx(np.nanmean(-np.log(density), axis=-1))


def test_the_evidential_loss_is_that_of_students_t():
    outputs, answers = outputs_and_answers(4)
    found = objectives.evidential_log_loss(outputs, answers)
    mu, *raw = np.moveaxis(outputs.numpy(), -1, 0)
    nu, alpha, beta = (np.logaddexp(0, r) + 1e-3 for r in raw)
    alpha = alpha + 1
    scale = np.sqrt(beta * (1 + nu) / (nu * alpha))
    t = stats.t(2 * alpha[..., None], mu[..., None], scale[..., None])
    each = -t.logpdf(answers.numpy())
    assert found.numpy() == pytest.approx(np.nanmean(each, axis=-1))
    wrong = np.abs(answers.numpy() - mu[..., None]) * (2 * nu + alpha)[..., None]
    penalised = objectives.real_evidential_loss(outputs, answers)
    assert penalised.numpy() == pytest.approx(found.numpy() + 0.01 * np.nanmean(wrong, axis=-1))


def test_missing_answers_leave_no_trace_in_the_gradient():
    outputs, answers = outputs_and_answers(4)
    outputs.requires_grad_()
    objectives.real_evidential_loss(outputs, answers).sum().backward()
    assert torch.isfinite(outputs.grad).all()


def test_targets_are_the_answers_in_their_own_unit(rated):
    data, *_ = rated
    pool = make_pool(data, CPU, kind="ratings")
    train = data.part("train").ratings.answers
    rows = pool.targets[: pool.n_train].numpy()
    assert rows.shape[1] == data.ratings.n_annotators.max()
    assert (~np.isnan(rows)).sum(axis=1).tolist() == train.lengths.tolist()
    found = rows[~np.isnan(rows)] * pool.answers.width + pool.answers.center
    assert np.sort(found) == pytest.approx(np.sort(train.values), abs=1e-4)
    assert np.nanmean(rows) == pytest.approx(0, abs=1e-5)
    assert np.nanstd(rows) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("regime", ["paper", "tuned"])
@pytest.mark.parametrize("name", METHODS)
def test_each_method_learns_mean_and_spread(rated, name, regime):
    data, mean, sd = rated
    epochs = 40 if regime == "paper" else 30
    training = Training(width=32, epochs=epochs, batch_size=64, lr=5e-3, regime=regime)
    (fitted,) = METHODS[name].fit(data, METHODS[name].Config(training=training))
    belief = fitted.predict(data.inputs[data.test])
    assert isinstance(belief, NormalInverseGamma if name == "evidential" else Gaussians)
    hat = decompose(belief, "squared")
    star = realize(data.part("test").ratings, belief, "squared")
    off = belief.mixture_mean() - mean[data.test]
    assert np.sqrt((off**2).mean()) < 12  # of a standard deviation of 34 over all answers
    assert np.corrcoef(np.sqrt(hat.aleatoric), sd[data.test])[0, 1] > 0.5
    assert (hat.epistemic > 0).all()
    assert np.isfinite(star.total).all()
    assert aurec(star.epistemic, hat.epistemic) < star.epistemic.mean()


def test_results_do_not_depend_on_the_unit(rated):
    data, *_ = rated
    answers = data.ratings.answers
    other = dataclasses.replace(
        data, ratings=Ratings.from_long(answers.repeat(np.arange(600)), 2 * answers.values - 7)
    )
    config = ensemble.Config(n_members=2, training=Training(width=16, epochs=3, batch_size=64))
    one, two = (ensemble.fit(d, config)[0].predict(data.inputs[:9]) for d in (data, other))
    assert two.mean == pytest.approx(2 * one.mean - 7, rel=1e-4)
    assert two.sd == pytest.approx(2 * one.sd, rel=1e-4)


def test_seeds_train_together_and_alone(rated):
    data, *_ = rated
    config = dropout.Config(training=Training(width=16, epochs=2, batch_size=64))
    both = dropout.fit(data, config, seeds=(1, 2))
    (alone,) = dropout.fit(data, config, seeds=(2,))
    assert (both[1].predict(data.inputs[:5]).mean == alone.predict(data.inputs[:5]).mean).all()


def test_data_sets_with_different_numbers_of_answers_train_together(rated):
    data, *_ = rated
    few = dataclasses.replace(data, ratings=Ratings([[1.0, 2.0]] * 600))
    config = ensemble.Config(n_members=2, training=Training(width=16, epochs=1, batch_size=64))
    pair = ensemble.fit([data, few], config, seeds=(1, 2))
    (alone,) = ensemble.fit(few, config, seeds=(2,))
    assert (pair[1].predict(data.inputs[:5]).sd == alone.predict(data.inputs[:5]).sd).all()


def test_what_cannot_be_learnt_is_refused(rated, features):
    data, *_ = rated
    with pytest.raises(InputError, match="must all have ratings, or none"):
        ensemble.fit([data, features], seeds=(1, 2))
    with pytest.raises(InputError, match=r"real-valued answers \(ratings\), not classes"):
        ddu.fit(data, ddu.Config(training=Training(width=8, epochs=1)))
    silent = dataclasses.replace(data, ratings=data.ratings[5:], annotated=np.arange(5, 600))
    with pytest.raises(InputError, match="training points without answers"):
        ensemble.fit(silent)


def test_counts_on_a_scale_become_ratings(features):
    real = features.as_ratings()
    assert real.as_ratings() is real
    assert real.n_classes == 0
    assert (real.ratings.n_annotators == features.annotations.n_annotators).all()
    expected = features.annotations.probs @ features.values
    belief = Gaussians(np.zeros((len(expected), 1)), np.ones((len(expected), 1)))
    star = realize(real.ratings, belief, "squared")
    assert np.sqrt(star.epistemic) == pytest.approx(expected, abs=1e-9)
    known = dataclasses.replace(
        features, annotations=Annotations.from_probs(features.annotations.probs)
    )
    with pytest.raises(InputError, match="no counted answers"):
        known.as_ratings()

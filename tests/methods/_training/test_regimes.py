"""Regimes: best epochs, settings trained side by side, and what chooses among them."""

import dataclasses

import numpy as np
import pytest
import torch

from made import data_set
from rue.data.splits import hold_out
from rue.errors import InputError
from rue.methods import (
    CIFAR,
    FINE_TUNING,
    METHODS,
    PROBE,
    SMALL_IMAGES,
    Training,
    dropout,
    ensemble,
    evidential,
)
from rue.methods._training import fitting
from rue.methods._training.checkpoints import PATIENCE
from rue.methods._training.objectives import evidential_loss
from rue.methods._training.pools import flip, make_pool
from rue.methods._training.settings import trials, tuning_axes

SHORT = Training(width=32, epochs=12, batch_size=32, lr=0.02, regime="tuned")
AXES = {"lr": (1.0, 5.0), "weight_decay": (1e-4, 1.0)}


@pytest.fixture(scope="module")
def noisy():
    """120 points to train on, 80 to validate, 50 to test: labels that a network soon overfits."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(250, 8)).astype(np.float32)
    logits = x @ rng.normal(size=(8, 3))
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    label = np.array([rng.choice(3, p=p) for p in probs])
    counts = np.eye(3)[label] + rng.multinomial(1, probs)
    made = data_set(x, probs, n_train=120, counts=counts)
    return dataclasses.replace(made, validation=np.arange(120, 200), test=np.arange(200, 250))


@pytest.fixture
def few_axes(monkeypatch):
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: AXES)


def log_loss(fitted, data, part="validation"):
    held = data.part(part)
    probs = fitted.predict(held.inputs).mean().clip(1e-12)
    return -(held.targets() * np.log(probs)).sum(axis=1).mean()


def parameters(fitted):
    return [p for network in fitted.model.networks for p in network.parameters()]


def assert_same_bits(a, b):
    for ours, theirs in zip(parameters(a), parameters(b), strict=True):
        assert torch.equal(ours, theirs)


def test_the_epoch_kept_has_the_lowest_validation_loss(noisy, few_axes, monkeypatch):
    """A twin for each number of epochs, trained under ``paper``, which keeps its last one."""
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1.0,)})
    fitted = ensemble.fit(noisy, ensemble.Config(n_members=1, training=SHORT), seeds=(4,))[0]
    losses, twins = [], []
    for epochs in range(1, 13):
        plain = dataclasses.replace(SHORT, regime="paper", epochs=epochs)
        twins.append(
            ensemble.fit(noisy, ensemble.Config(n_members=1, training=plain), seeds=(4,))[0]
        )
        losses.append(log_loss(twins[-1], noisy))
    (kept,) = fitted.model.epochs
    assert kept == np.argmin(losses) + 1
    assert 1 < kept < 12
    assert_same_bits(fitted, twins[kept - 1])


def test_the_lowest_loss_is_that_of_the_methods_own_objective(noisy, monkeypatch):
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1.0,)})
    training = dataclasses.replace(SHORT, lr=0.03)
    fitted = evidential.fit(noisy, evidential.Config(training=training))[0]
    held, losses = noisy.part("validation"), []
    for epochs in range(1, 13):
        plain = dataclasses.replace(training, regime="paper", epochs=epochs)
        alpha = evidential.fit(noisy, evidential.Config(training=plain))[0].predict(held.inputs)
        logits = torch.log(torch.expm1(torch.tensor(alpha.alpha).double() - 1))
        loss = evidential_loss(logits, torch.tensor(held.targets()))
        losses.append(loss.mean().item())
    best = np.argmin(losses[: fitted.model.epochs[0] + PATIENCE])
    assert fitted.model.epochs == (best + 1,)


NETWORKS = [name for name in METHODS if name != "forest"]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_seed_is_the_same_beside_others(name, noisy, few_axes):
    """Members stop at different epochs and leave the stack: nobody else notices."""
    config = METHODS[name].Config(training=SHORT)
    together = METHODS[name].fit(noisy, config, seeds=(0, 1, 7))
    assert len({epoch for one in together for epoch in one.model.epochs}) > 1
    alone = METHODS[name].fit(noisy, config, seeds=(7,))[0]
    assert_same_bits(together[2], alone)
    assert together[2].model.epochs == alone.model.epochs
    assert alone.model.training.regime == "tuned"


def test_the_setting_chosen_has_the_lowest_validation_log_loss(noisy, few_axes, monkeypatch):
    fitted = ensemble.fit(noisy, ensemble.Config(n_members=3, training=SHORT), seeds=(2,))[0]
    losses = {}
    for setting in trials(SHORT, AXES):
        monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1.0,)})
        one = ensemble.fit(noisy, ensemble.Config(n_members=3, training=setting), seeds=(2,))[0]
        losses[setting.lr, setting.weight_decay] = log_loss(one, noisy), one
    assert len(losses) == 4
    best = min(losses, key=lambda key: losses[key][0])
    assert (fitted.model.training.lr, fitted.model.training.weight_decay) == best
    assert_same_bits(fitted, losses[best][1])


def test_the_first_seed_may_choose_for_all(noisy, few_axes, monkeypatch):
    """The others are what they are when they train with that setting alone."""
    shared = dataclasses.replace(SHORT, tuned_on="first_seed")
    config = ensemble.Config(n_members=2, training=shared)
    first, second, third = ensemble.fit(noisy, config, seeds=(2, 3, 4))
    own = ensemble.fit(noisy, ensemble.Config(n_members=2, training=SHORT), seeds=(2,))[0]
    assert_same_bits(first, own)
    assert second.model.training == third.model.training == first.model.training
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1.0,)})
    alone = ensemble.Config(n_members=2, training=first.model.training)
    for seed, one in ((3, second), (4, third)):
        assert_same_bits(one, ensemble.fit(noisy, alone, seeds=(seed,))[0])


def test_three_seeds_choose_by_their_mean_loss(noisy, few_axes, monkeypatch):
    """Each of four seeds has the setting that is best over the first three, whose orders differ."""
    shared = dataclasses.replace(SHORT, tuned_on="three_seeds")
    seeds = (2, 3, 4, 5)
    fitted = ensemble.fit(noisy, ensemble.Config(n_members=2, training=shared), seeds=seeds)
    assert len({one.model.training for one in fitted}) == 1
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1.0,)})
    losses = {}
    for setting in trials(SHORT, AXES):
        alone = ensemble.Config(n_members=2, training=setting)
        ones = ensemble.fit(noisy, alone, seeds=seeds)
        losses[setting.lr, setting.weight_decay] = [log_loss(one, noisy) for one in ones]
        if setting == dataclasses.replace(fitted[0].model.training, tuned_on="three_seeds"):
            for one, other in zip(fitted, ones, strict=True):
                assert_same_bits(one, other)
    best = min(losses, key=lambda key: sum(losses[key][:3]))
    assert (fitted[0].model.training.lr, fitted[0].model.training.weight_decay) == best


def test_the_seed_that_chooses_must_be_named_as_it_is():
    names = "each_seed, three_seeds, first_seed"
    with pytest.raises(InputError, match=f"tuned_on must be one of {names}, got 'x'"):
        Training(tuned_on="x")


def test_a_member_stops_five_epochs_after_its_best(noisy, monkeypatch):
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1.0,)})
    seen = []
    original = fitting.train

    def counting(network, pool, members, objective, **options):
        options["on_step"] = lambda n, loss: seen.append(loss) if loss is not None else None
        return original(network, pool, members, objective, **options)

    monkeypatch.setattr(fitting, "train", counting)
    training = dataclasses.replace(SHORT, lr=0.02, epochs=50)
    fitted = ensemble.fit(noisy, ensemble.Config(n_members=1, training=training))[0]
    assert len(seen) == fitted.model.epochs[0] + PATIENCE < 50


def test_validation_alone_decides(noisy, few_axes):
    """Other test points change nothing; other validation answers change what is chosen."""
    config = ensemble.Config(n_members=2, training=SHORT)
    ours = ensemble.fit(noisy, config)[0]
    poisoned = noisy.inputs.copy()
    poisoned[noisy.test] = 1e6
    assert_same_bits(ours, ensemble.fit(dataclasses.replace(noisy, inputs=poisoned), config)[0])
    fewer = dataclasses.replace(noisy, validation=noisy.validation[:20])
    others = ensemble.fit(fewer, config, seeds=(0, 1, 2))
    assert {one.model.epochs for one in others} != {ours.model.epochs}


def test_a_setting_that_diverges_is_not_chosen(noisy, monkeypatch):
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1e30, 1.0, 1e25)})
    training = dataclasses.replace(SHORT, optimizer="sgd", lr=0.05)
    fitted = ensemble.fit(noisy, ensemble.Config(n_members=2, training=training))[0]
    assert fitted.model.training.lr == 0.05
    assert log_loss(fitted, noisy) < np.log(3)
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1e30,)})
    with pytest.raises(InputError, match="training diverged"):
        ensemble.fit(noisy, ensemble.Config(n_members=2, training=training))


@pytest.mark.parametrize("network", [PROBE, CIFAR, FINE_TUNING, SMALL_IMAGES])
def test_every_method_has_eight_trials(network):
    tuned = dataclasses.replace(network, regime="tuned")
    for thinned in (False, True):
        settings = trials(tuned, tuning_axes(tuned, dropout=thinned))
        assert len(set(settings)) == len(settings) == 8
        assert {s.regime for s in settings} == {"tuned"}
        # The paper's own setting is one of them.
        assert tuned in [dataclasses.replace(s, dropout=tuned.dropout) for s in settings]
    assert trials(network, tuning_axes(network)) == [network]


def test_a_tenth_is_held_out_where_nothing_validates(features):
    held = hold_out(features)
    assert len(held.validation) == 42
    assert sorted([*held.train, *held.validation]) == list(features.train)
    turned = dataclasses.replace(features, train=features.train[::-1])
    np.testing.assert_array_equal(hold_out(turned).validation, held.validation)
    # Of fewer points, those that were held out among more are held out first.
    half = hold_out(dataclasses.replace(features, train=features.train[:200]))
    assert len(half.validation) == 20
    inside = np.intersect1d(held.validation, features.train[:200])
    assert np.isin(inside, half.validation).all() or np.isin(half.validation, inside).all()
    own = dataclasses.replace(features, validation=features.test[:9])
    assert hold_out(own) is own


def test_paper_probes_do_not_look_at_validation(noisy):
    config = ensemble.Config(training=dataclasses.replace(SHORT, regime="paper"))
    poisoned = noisy.inputs.copy()
    poisoned[noisy.validation] = 1e6
    other = dataclasses.replace(noisy, inputs=poisoned)
    without = dataclasses.replace(noisy, validation=noisy.validation[:0])
    ours, *others = (ensemble.fit(one, config)[0] for one in (noisy, other, without))
    for theirs in others:
        assert_same_bits(ours, theirs)
    assert ours.model.epochs == (12,) * 5


@pytest.mark.parametrize("name", NETWORKS)
def test_only_mc_dropout_has_dropout_layers(name, noisy):
    """Another probability of dropout changes MC dropout's weights and nobody else's."""
    fitted = [
        METHODS[name].fit(noisy, METHODS[name].Config(training=training))[0]
        for p in (0.1, 0.4)
        for training in [Training(width=32, epochs=2, batch_size=64, dropout=p)]
    ]
    same = all(torch.equal(a, b) for a, b in zip(*map(parameters, fitted), strict=True))
    assert same == (name != "dropout")


def test_images_keep_the_best_epoch_and_mc_dropout_the_last(images):
    training = dataclasses.replace(SMALL_IMAGES, epochs=4, batch_size=32, lr=0.02)
    for seed in range(3):
        best = ensemble.fit(images, ensemble.Config(n_members=1, training=training), seeds=(seed,))
        if best[0].model.epochs[0] < 4:
            break
    (kept,) = best[0].model.epochs
    held = hold_out(images)
    assert len(held.validation) == 24
    losses = [
        log_loss(
            ensemble.fit(
                held,
                ensemble.Config(n_members=1, training=dataclasses.replace(training, epochs=epochs)),
                seeds=(seed,),
            )[0],
            held,
        )
        for epochs in range(1, 5)
    ]
    # Each of these keeps its own best, so the lowest of the first k is that of epoch k or before.
    assert losses[kept - 1] == min(losses)
    last = dropout.fit(images, dropout.Config(training=training))[0]
    assert last.model.epochs == (4,)
    # Trained without dropout, as the authors' code has it: its probability changes no weight.
    other = dataclasses.replace(training, dropout=0.4)
    assert_same_bits(last, dropout.fit(images, dropout.Config(training=other))[0])


def test_images_are_tuned_and_resumed_each_setting_by_itself(images, tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "tuning_axes", lambda *_, **__: {"lr": (1.0, 3.0)})
    training = dataclasses.replace(SMALL_IMAGES, epochs=2, batch_size=32, regime="tuned")
    config = ensemble.Config(n_members=1, training=training)
    whole = ensemble.fit(images, config, checkpoints=tmp_path)[0]
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == 2
    assert all(name.startswith("ensemble-0-0-") for name in files)
    assert_same_bits(whole, ensemble.fit(images, config, checkpoints=tmp_path)[0])
    thinned = dropout.fit(images, dropout.Config(training=training))[0]
    assert min(thinned.model.epochs) > 0


def test_channels_are_scaled_by_fixed_numbers_where_asked():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, size=(9, 4, 4, 3)).astype(np.uint8)
    data = data_set(pixels, np.full((9, 2), 0.5), n_train=9)
    cpu = torch.device("cpu")
    for statistics, mean, std in (
        ("cifar", [0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]),
        ("imagenet", [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ):
        pool = make_pool(data, cpu, statistics=statistics)
        x, _ = pool.points(slice(0, 9))
        expected = (pixels / 255 - mean) / std
        np.testing.assert_allclose(x.permute(0, 2, 3, 1), expected, rtol=1e-4, atol=1e-5)
    grey = dataclasses.replace(data, inputs=pixels[..., :1])
    with pytest.raises(InputError, match="of 3 channels, the images have 1: use statistics"):
        make_pool(grey, cpu, statistics="imagenet")


def test_flips_mirror_half_of_the_images():
    image = torch.arange(12).reshape(1, 2, 3, 2).to(torch.uint8)
    many = flip(image.expand(2000, -1, -1, -1), np.random.default_rng(0))
    mirrored = (many == image.flip(2)).flatten(1).all(1)
    assert ((many == image).flatten(1).all(1) | mirrored).all()
    assert mirrored.float().mean().item() == pytest.approx(0.5, abs=0.05)  # 4.5 standard errors

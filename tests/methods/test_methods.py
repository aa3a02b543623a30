"""What every method must do, whichever it is."""

import dataclasses
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

import rue
from rue.errors import InputError, ShapeError
from rue.io.predictions import read_predictions
from rue.methods import (
    CIFAR,
    FINE_TUNING,
    METHODS,
    PROBE,
    SMALL_IMAGES,
    Learner,
    Training,
)

KINDS = {
    "single": rue.Draws,
    "dropout": rue.Draws,
    "ensemble": rue.Draws,
    "evidential": rue.Dirichlet,
    "ddu": rue.Scored,
    "laplace": rue.Draws,
    "dirichlet_multinomial": rue.Dirichlet,
    "pairs": rue.Dirichlet,
    "snapshots": rue.Dirichlet,
    "strength": rue.Dirichlet,
    "confidence": rue.Scored,
    "knn": rue.Scored,
    "deup": rue.Scored,
    "forest": rue.Draws,
    "swag": rue.Draws,
    "sngp": rue.Draws,
}


def arrays(belief):
    names = [field.name for field in dataclasses.fields(belief)]
    return {name: np.asarray(getattr(belief, name)) for name in names}


def assert_close(a, b, **tolerance):
    for name, array in arrays(a).items():
        np.testing.assert_allclose(array, arrays(b)[name], **tolerance)


def parameters(fitted):
    """All weights of a method's networks; a forest has none."""
    networks = [] if fitted.model is None else fitted.model.networks
    return [p for network in networks for p in network.parameters()]


def fit(name, data, training, **options):
    return METHODS[name].fit(data, METHODS[name].Config(training=training), **options)


@pytest.fixture(scope="module", params=METHODS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(name, features, short):
    """A method that tests ask and do not change."""
    return fit(name, features, short)[0]


def test_every_method_has_its_own_settings_and_the_one_fit(name):
    method = METHODS[name]
    assert isinstance(method, Learner)
    assert method.name == name
    named = getattr(rue.methods, name)  # a module with the learner's parts, or the learner
    assert (named.Config, named.fit, named.predict) == (method.Config, method.fit, method.predict)
    assert dataclasses.fields(method.Config)[-1].name == "training"
    signature = inspect.signature(method.fit)
    assert list(signature.parameters) == ["data", "config", "seeds", "checkpoints", "progress"]


def test_settings_are_those_of_appendix_c():
    def settings(t):
        return t.network, t.epochs, t.optimizer, t.lr, t.weight_decay, t.augment, t.statistics

    assert settings(PROBE) == ("probe", 50, "adamw", 1e-3, 1e-4, "none", "train")
    assert (PROBE.width, PROBE.dropout, PROBE.batch_size) == (128, 0.1, 128)
    assert settings(CIFAR) == ("resnet18", 200, "sgd", 0.1, 5e-4, "crops", "cifar")
    fine = ("resnet18_imagenet", 100, "sgd", 3e-3, 1e-4, "flips", "imagenet")
    assert settings(FINE_TUNING) == fine
    assert FINE_TUNING.batch_size == 32
    assert {t.regime for t in (PROBE, CIFAR, FINE_TUNING, SMALL_IMAGES)} == {"paper"}
    configs = {name: METHODS[name].Config() for name in METHODS}
    assert (configs["dropout"].n_draws, configs["ensemble"].n_members) == (20, 5)
    assert (configs["evidential"].kl, configs["ddu"].coefficient) == (0, 3)


def test_only_bounded_networks_leak(name, fitted):
    if name != "forest":
        probe = fitted.model.networks[0]
        z = getattr(probe, "inner", probe).features(torch.randn(probe.n_members, 9, 6))
        assert (z.min() < 0) == (name in ("ddu", "sngp"))


def test_a_seed_does_not_depend_on_its_neighbours(name, features):
    """Seeds one by one, in another order, or beside others: on one thread the same bits."""
    training = Training(width=32, epochs=4, batch_size=64)
    test = features.part("test").inputs
    together = fit(name, features, training, seeds=(0, 1, 7))
    for place, seeds in ((0, (0,)), (2, (5, 7, 2, 0))):
        other = fit(name, features, training, seeds=seeds)[seeds.index((0, 1, 7)[place])]
        for ours, theirs in zip(parameters(together[place]), parameters(other), strict=True):
            assert torch.equal(ours, theirs)
        assert_close(together[place].predict(test), other.predict(test), rtol=0, atol=0)
    a, b = (together[i].predict(test) for i in (0, 1))
    assert np.abs(a.mean() - b.mean()).max() > 1e-3


def test_prediction_is_of_the_right_kind_and_the_same_at_every_call(name, features, short, fitted):
    test = features.part("test").inputs
    belief = fitted.predict(test)
    assert isinstance(belief, KINDS[name])
    assert (len(belief), belief.n_classes) == (200, 3)
    assert_close(belief, fitted.predict(test), rtol=0, atol=0)
    again = fit(name, features, short)[0]
    assert_close(belief, again.predict(test), rtol=0, atol=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.seed = None


def test_a_point_does_not_depend_on_the_others(features, fitted):
    test = features.part("test").inputs
    whole, flipped = fitted.predict(test), fitted.predict(test[::-1])
    for key, array in arrays(whole).items():
        np.testing.assert_allclose(array[::-1], arrays(flipped)[key], rtol=1e-4, atol=1e-5)


def test_no_test_point_is_looked_at(name, features, short, fitted):
    """Other test inputs and other answers to them leave the fitted model as it is."""
    poisoned = features.inputs.copy()
    poisoned[features.test] = 1e6
    counts = features.counts()
    counts[features.test] = [30, 0, 0]
    other = dataclasses.replace(features, inputs=poisoned, annotations=rue.Annotations(counts))
    test = features.part("test").inputs
    again = fit(name, other, short)[0]
    assert_close(fitted.predict(test), again.predict(test), rtol=0, atol=0)


def test_learning_beats_the_mean_answer(name, features):
    test = features.part("test")
    fitted = fit(name, features, Training(width=64, epochs=30, batch_size=32))[0]
    truth, mean = test.targets(), features.part("train").targets().mean(axis=0)
    log_loss = -(truth * np.log(fitted.predict(test.inputs).mean())).sum(axis=1).mean()
    constant = -(truth * np.log(mean)).sum(axis=1).mean()
    assert log_loss < 0.6 * constant


def test_one_data_set_for_each_seed(name, features, short):
    """Splits that turn with the seed: each seed learns its own, as if it were alone."""
    other = dataclasses.replace(features, train=features.train[13:])
    test = features.part("test").inputs
    pair = fit(name, (features, other), short, seeds=(0, 1))
    alone = fit(name, other, short, seeds=(1,))[0]
    assert_close(pair[1].predict(test), alone.predict(test), rtol=2e-3, atol=2e-4)
    with pytest.raises(ShapeError, match="each of 2 seeds, got 1"):
        fit(name, [features], short, seeds=(0, 1))


def test_predictions_are_saved_as_evaluate_reads_them(name, features, fitted, tmp_path):
    test = features.part("test")
    belief = fitted.predict(test.inputs)
    test.save_predictions(tmp_path / "deep" / f"{name}.npz", belief, method=name)
    read = read_predictions(tmp_path / "deep" / f"{name}.npz")
    assert read.method == name
    assert isinstance(read, KINDS[name])
    np.testing.assert_allclose(read.mean(), belief.mean(), atol=1e-12)
    assert list(read.ids) == list(test.ids)
    np.testing.assert_allclose(read.truth.probs, test.targets())
    row = rue.evaluate(test.annotations, belief, "log", gap=False)
    assert 0 <= row.aurec < 1


def test_bad_input_is_refused(features, images, short):
    ensemble = METHODS["ensemble"]
    fitted = fit("ensemble", features, short)[0]
    with pytest.raises(ShapeError, match=r"shape \(n_points, 6\), got \(2, 5\)"):
        fitted.predict(np.zeros((2, 5)))
    with pytest.raises(InputError, match="finite, got nan at row 1"):
        fitted.predict(np.array([[0.0] * 6, [np.nan] * 6]))
    with pytest.raises(InputError, match="finite, got inf at row 0"):
        fitted.predict(np.full((1, 6), 1e39))
    for seeds in ((1, 1), (), (0.5,), ("a",), (True,), 3):
        with pytest.raises(InputError, match="whole numbers without repetitions, got"):
            ensemble.fit(features, seeds=seeds)
    with pytest.raises(InputError, match="'small_cnn' does not take a matrix"):
        fit("ensemble", features, SMALL_IMAGES)
    choices = "small_cnn, resnet9, resnet18 or resnet18_imagenet .in a suite: small_images, resnet9"
    with pytest.raises(InputError, match=f"'probe' does not take images: set network to {choices}"):
        fit("ensemble", images, short)
    with pytest.raises(InputError, match="'probe' does not take images"):
        fit("ensemble", (features, images), short, seeds=(0, 1))
    with pytest.raises(InputError, match="leave a fold out need at least 2"):
        fit("ensemble", dataclasses.replace(features, train=features.train[:1]), short)
    with pytest.raises(InputError, match="no training points"):
        ensemble.fit(features.part("test"))
    texts = dataclasses.replace(
        features, task="text", inputs=np.array(["a"] * len(features), dtype=object)
    )
    with pytest.raises(InputError, match="featurize first"):
        ensemble.fit(texts)
    for config in (
        {"dropout": 1.0},
        {"epochs": 0},
        {"epochs": 1.5},
        {"batch_size": True},
        {"lr": 0.0},
        {"lr": float("nan")},
        {"weight_decay": -1.0},
        {"device": "tpu"},
        {"network": "vgg"},
        {"optimizer": "adam"},
        {"precision": "half"},
        {"regime": "best"},
        {"augment": True},
        {"statistics": "mine"},
    ):
        with pytest.raises(InputError, match=next(iter(config))):
            Training(**config)


def test_a_training_that_diverges_is_told(features):
    wild = Training(width=16, epochs=10, batch_size=64, optimizer="sgd", lr=1e6)
    with pytest.raises(InputError, match=r"diverged, .*: lr 1000000.0 is too high"):
        fit("ensemble", features, wild)


def test_seeds_may_be_an_array(features, short):
    ours, theirs = (fit("ddu", features, short, seeds=s) for s in (np.arange(2), (0, 1)))
    assert [type(fitted.model.seed) for fitted in ours] == [int, int]
    assert_close(ours[1].predict(features.inputs), theirs[1].predict(features.inputs), rtol=0)


def test_a_device_that_is_not_there_is_refused(features, short, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="cuda is not there"):
        fit("ddu", features, dataclasses.replace(short, device="cuda"))


def test_without_torch_the_error_names_the_install():
    code = (
        "import sys; sys.modules['torch'] = None; import rue; "
        "config = rue.methods.single.Config(); rue.methods.single.fit(None, config)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MissingExtraError" in done.stderr
    assert "pip install -e '.[torch]' in a clone, else pip install 'rue[torch]'" in done.stderr


def test_importing_methods_changes_no_thread_count():
    code = (
        "import sys, threadpoolctl, numpy; limits = lambda: sorted("
        "(pool['internal_api'], pool['num_threads']) for pool in threadpoolctl.threadpool_info()); "
        "before = limits(); import rue.methods, rue.bench.tasks; "
        "print(before == limits(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_a_belief_leaves_the_number_of_torchs_threads_as_it_was():
    code = (
        "import numpy as np, torch; torch.set_num_threads(1); torch.get_num_threads(); "
        "import rue, rue.methods; rue.Draws(np.full((1000, 2, 4), 0.25)); "
        "print(torch.get_num_threads())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"NUMBA_NUM_THREADS": "2"},
    )
    assert done.stdout.split() == ["1"]

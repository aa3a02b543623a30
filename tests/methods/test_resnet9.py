"""The network for a CPU: its size, its first layer, its schedule, both precisions, sharing."""

import dataclasses
import resource
from itertools import pairwise

import numpy as np
import pytest
import torch

from rue._kernels.threads import kept_memory
from rue.errors import InputError
from rue.methods import METHODS, RESNET9, Training, ensemble, single
from rue.methods._training.checkpoints import Checkpoint
from rue.methods._training.fitting import initial, make_member
from rue.methods._training.networks import find_precision, seeded
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.pools import make_pool
from rue.methods._training.resnet import ResNet9
from rue.methods._training.training import Member, StackOptimizer, train
from rue.methods.learner import Recipe

TINY = dataclasses.replace(RESNET9, epochs=2, batch_size=24, lr=0.02, augment="none", device="cpu")
WHOLE = dataclasses.replace(TINY, precision="float32")


class StoppedError(Exception):
    pass


def test_nine_layers_have_one_and_a_half_million_weights():
    """Eight kernels of 9 c_in c_out, two numbers of batch norm per channel, 256 x 10 + 10."""
    network = ResNet9((32, 32, 3), 10)
    channels = [3, 32, 64, 64, 64, 128, 256, 256, 256]
    kernels = sum(9 * a * b for a, b in pairwise(channels))
    n_weights = kernels + 2 * sum(channels[1:]) + 2570
    assert sum(p.numel() for p in network.parameters()) == n_weights
    assert 1.6e6 < n_weights < 1.7e6
    assert network.eval().features(torch.zeros(1, 5, 3, 32, 32)).shape == (1, 5, 256)
    assert len(network.hidden()) == 8
    with pytest.raises(InputError, match="at least 8 x 8 pixels, got 7 x 9"):
        ResNet9((7, 9, 3), 10)


def test_the_first_layer_whitens_patches():
    """Naively: cut every patch out, project; unit variances, no correlations, and negatives."""
    rng = np.random.default_rng(0)
    images = rng.normal(size=(9, 10, 10, 3)).cumsum(axis=1).cumsum(axis=2) * 10
    network = ResNet9((10, 10, 3), 4)
    network.whiten(torch.tensor(images.transpose(0, 3, 1, 2)))
    kernel = network.conv1.conv.weight.detach().double().numpy()
    patches = [
        image[top : top + 3, left : left + 3].transpose(2, 0, 1).ravel()
        for image in images
        for top in range(8)
        for left in range(8)
    ]
    answers = np.array(patches) @ kernel.reshape(32, 27).T
    np.testing.assert_allclose(np.cov(answers[:, :16].T), np.eye(16), atol=0.02)
    np.testing.assert_array_equal(kernel[:16], -kernel[16:])


def test_a_network_of_one_channel_has_nine_directions_and_random_filters(images):
    pool = make_pool(images, torch.device("cpu"))
    plan = Recipe(method="m")
    network = initial(pool, [make_member(plan, pool, 0, 0, TINY)], plan)
    kernel = network.conv1.conv.weight.detach()
    assert torch.equal(kernel[:9], -kernel[9:18])
    assert kernel[18:].abs().max() <= 1 / 3  # torch's own start: uniform up to 1 / sqrt(9)
    assert network.conv2.conv.weight.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "forest"])
def test_every_method_learns_in_float32(images, name):
    options = {"swag": {"n_draws": 2, "n_epochs": 2, "rank": 2}, "ensemble": {"n_members": 2}}
    options |= {key: {"n_members": 1} for key in ("dirichlet_multinomial", "pairs")}
    # SNGP's features are cosines, whose layer starts from nothing.
    training = dataclasses.replace(WHOLE, epochs=6, lr=0.1) if name == "sngp" else WHOLE
    config = METHODS[name].Config(training=training, **options.get(name, {}))
    fitted = METHODS[name].fit(images, config)[0]
    test = images.part("test")
    # Four classes: chance is 0.25. The last digits differ between processors.
    assert (fitted.predict(test.inputs).mean().argmax(axis=1) == test.labels).mean() > 0.7


def test_both_precisions_learn_the_same_up_to_noise(images):
    test = images.part("test")
    half = dataclasses.replace(TINY, precision="bfloat16")
    probs = [
        single.fit(images, single.Config(training=training))[0].predict(test.inputs).mean()
        for training in (WHOLE, half)
    ]
    for one in probs:
        assert (one.argmax(axis=1) == test.labels).mean() > 0.9
    assert 0 < np.abs(probs[0] - probs[1]).mean() < 0.1


def test_memory_is_kept_during_an_epoch_and_returned_after_it():
    def faults():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(8):
            np.ones(5 << 20)  # 40 MB, which the C library would return at once
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    usual = faults()
    with kept_memory():
        faults()
        assert faults() < usual / 20
    assert faults() > usual / 2


def test_auto_is_bfloat16_where_the_processor_has_it(monkeypatch):
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    small = dataclasses.replace(RESNET9, network="small_cnn")
    for has, precision in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda has=has: has)
        assert find_precision(RESNET9, cpu) == precision
        assert find_precision(WHOLE, cpu) == "float32"
        assert find_precision(small, cpu) == "float32"  # stored rows were computed in it
        assert find_precision(RESNET9, cuda) == "bfloat16"
        assert find_precision(Training(), cuda) == "float32"


def test_one_cycle_goes_up_and_down_once(images, monkeypatch):
    """240 images in batches of 48 for 4 epochs are 20 steps: up to step 5, down after it."""
    training = dataclasses.replace(WHOLE, epochs=4, batch_size=48)
    rates, step = [], StackOptimizer.step

    def watched(self, loss):
        (group,) = self.torch.param_groups
        assert (group["momentum"], group["nesterov"], group["weight_decay"]) == (0.9, True, 5e-4)
        rates.append(group["lr"])
        step(self, loss)

    monkeypatch.setattr(StackOptimizer, "step", watched)
    pool = make_pool(images, torch.device("cpu"))
    member = Member("m", 0, 0, np.arange(240), training)
    train(seeded(1, lambda: ResNet9((12, 12, 1), 4)), pool, [member], cross_entropy)
    up, down = [0.2, 0.4, 0.6, 0.8, 1.0], [k / 15 for k in range(15, 0, -1)]
    np.testing.assert_allclose(rates, 0.02 * np.array(up + down))
    assert max(training.rate_factor(k, 2, 0) for k in range(2)) == 1.0
    with pytest.raises(InputError, match="one_cycle is for the optimizer sgd"):
        dataclasses.replace(training, optimizer="adamw")


def test_a_cycle_that_broke_off_goes_on_bit_for_bit(images, tmp_path, monkeypatch):
    config = single.Config(training=dataclasses.replace(WHOLE, epochs=3))
    test = images.part("test").inputs
    whole = single.fit(images, config)[0].predict(test).probs
    write = Checkpoint.write

    def breaks(self, epoch, *rest):
        write(self, epoch, *rest)
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", breaks)
        for _ in range(3):
            with pytest.raises(StoppedError):
                single.fit(images, config, checkpoints=tmp_path)
    resumed = single.fit(images, config, checkpoints=tmp_path)[0].predict(test).probs
    np.testing.assert_array_equal(resumed, whole)


def test_methods_that_differ_in_their_predictions_share_networks(images, tmp_path, monkeypatch):
    """The five of an ensemble, one of them under single, dropout and laplace; others train."""
    test = images.part("test").inputs

    def fitted(name, **options):
        config = METHODS[name].Config(training=WHOLE, **options)
        return METHODS[name].fit(images, config, checkpoints=tmp_path, seeds=(3,))[0]

    members = fitted("ensemble", n_members=2).predict(test).probs
    written = []
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", lambda self, *_: written.append(self.path.name))
        np.testing.assert_array_equal(fitted("single").predict(test).probs[:, 0], members[:, 0])
        thinned, posterior = fitted("dropout"), fitted("laplace")
        assert written == []
        fitted("evidential")
        assert written == ["evidential-3-0.pt"] * 2
    first = fitted("single").model.networks[0].state_dict()
    for other in (thinned, posterior):
        state = other.model.networks[0].state_dict()
        assert all(torch.equal(first[key], state[key]) for key in first)


def test_a_tenth_is_held_out_whatever_the_method(images):
    for module in (single, ensemble):
        pools = module.fit(images, module.Config(training=WHOLE, temperature=True))[0]
        assert pools.temperature != 1.0
    assert len(images.validation) == 0

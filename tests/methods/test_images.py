"""The image regime: networks, weights from elsewhere, augmentation."""

import dataclasses
import shutil

import numpy as np
import pytest
import torch

from rue.data.images import LazyImages
from rue.data.splits import stream
from rue.errors import FileError, InputError, ShapeError
from rue.methods import (
    CIFAR,
    FINE_TUNING,
    METHODS,
    PROBE,
    SMALL_IMAGES,
    Training,
    ddu,
    ensemble,
    evidential,
)
from rue.methods._training.networks import SmallCNN, find_precision, norms, seeded
from rue.methods._training.objectives import cross_entropy
from rue.methods._training.pools import crop_and_flip, make_pool
from rue.methods._training.resnet import ResNet18, load_weights
from rue.methods._training.training import Member, _batches, train

TINY = dataclasses.replace(SMALL_IMAGES, epochs=3, batch_size=32)
GREY = dataclasses.replace(FINE_TUNING, statistics="train")  # for images of one channel


NAMES = [name for name in METHODS if name != "forest"]


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(name, images):
    return METHODS[name].fit(images, METHODS[name].Config(training=TINY))[0]


def test_every_method_learns_where_the_square_is(images, fitted):
    test = images.part("test")
    assert (fitted.predict(test.inputs).mean().argmax(axis=1) == test.labels).mean() > 0.9


def test_only_bounded_networks_leak(name, fitted):
    network = fitted.model.networks[0]
    z = getattr(network, "inner", network).features(torch.randn(network.n_members, 9, 1, 12, 12))
    assert (z.min() < 0) == (name in ("ddu", "sngp"))


def test_an_image_does_not_depend_on_the_others(images, fitted):
    together, alone = fitted.predict(images.inputs[:30]), fitted.predict(images.inputs[4:5])
    np.testing.assert_allclose(together.mean()[4], alone.mean()[0], atol=1e-5)


def test_members_of_an_ensemble_see_all_images(images):
    once = dataclasses.replace(TINY, epochs=1)
    fitted = ensemble.fit(images, ensemble.Config(n_members=2, training=once))[0]
    draws = fitted.predict(images.inputs[:5]).probs
    assert draws.shape == (5, 2, 4)
    assert np.abs(draws[:, 0] - draws[:, 1]).max() > 1e-3


def test_norms_of_all_hidden_layers_are_at_most_the_coefficient(images):
    once = dataclasses.replace(TINY, epochs=1)
    fitted = ddu.fit(images, ddu.Config(coefficient=0.5, training=once))[0]
    (network,) = fitted.model.networks
    assert len(network.hidden()) == 3
    for layer in (network.conv1, network.conv2, network.linear):
        kernel = layer.weight.detach().double().flatten(1).numpy()
        assert np.linalg.norm(kernel, 2) <= 0.5
    assert max(n.item() for n in norms(network.hidden())) == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize(("stem", "side"), [("cifar", 32), ("imagenet", 64)])
def test_resnet_is_torchvisions(stem, side):
    """Its 122 names and, for 1,000 classes and ImageNet's stem, its 11,689,512 parameters."""
    network = ResNet18(3, 1000, stem=stem)
    assert len(network.state_dict()) == 122
    assert "layer2.0.downsample.1.running_var" in network.state_dict()
    n_parameters = sum(p.numel() for p in network.parameters())
    assert n_parameters == (11_689_512 if stem == "imagenet" else 11_689_512 - 64 * 3 * (49 - 9))
    z = network.eval().features(torch.zeros(1, 2, 3, side, side))
    assert z.shape == (1, 2, 512)
    assert network(torch.zeros(1, 2, 3, side, side)).shape == (1, 2, 1000)
    assert len(network.hidden()) == 20


def test_weights_come_from_a_file_and_the_head_stays_new(tmp_path):
    trained, new = ResNet18(3, 1000, stem="imagenet"), ResNet18(3, 7, stem="imagenet")
    torch.save(trained.state_dict(), tmp_path / "w.pt")
    head = new.fc.weight.clone()
    load_weights(new, tmp_path / "w.pt")
    assert torch.equal(new.layer3[0].conv1.weight, trained.layer3[0].conv1.weight)
    assert torch.equal(new.fc.weight, head)
    with pytest.raises(FileError, match="conv1"):
        load_weights(ResNet18(3, 7, stem="cifar"), tmp_path / "w.pt")
    torch.save({"a": torch.zeros(1)}, tmp_path / "other.pt")
    with pytest.raises(FileError, match="does not fit"):
        load_weights(new, tmp_path / "other.pt")
    with pytest.raises(FileError, match="absent"):
        load_weights(new, tmp_path / "absent.pt")
    with pytest.raises(InputError, match="weights are of a ResNet-18"):
        Training(weights="w.pt")


def test_a_resnet_trains_from_weights(images, tmp_path):
    given = ResNet18(1, 9, stem="imagenet").state_dict()
    torch.save(given, tmp_path / "w.pt")
    training = dataclasses.replace(
        GREY, weights=str(tmp_path / "w.pt"), epochs=1, batch_size=48, lr=1e-6
    )
    few = dataclasses.replace(images, train=images.train[:48])
    config = evidential.Config(training=training)
    fitted = evidential.fit(few, config, checkpoints=tmp_path)[0]
    assert fitted.predict(images.inputs[:3]).alpha.shape == (3, 4)
    kernel = fitted.model.networks[0].layer3[0].conv1.weight
    torch.testing.assert_close(kernel, given["layer3.0.conv1.weight"], rtol=0, atol=1e-4)
    assert not torch.equal(kernel, given["layer3.0.conv1.weight"])
    torch.save(ResNet18(1, 9, stem="imagenet").state_dict(), tmp_path / "w.pt")
    with pytest.raises(FileError, match="another training"):
        evidential.fit(few, config, checkpoints=tmp_path)


def test_images_train_as_torchs_sgd_does(images):
    """The same network and numbers, torch's own SGD and cosine schedule; crops and flips.

    Rounding grows where an activation is near 0: 1e-3 is allowed, where other settings are off
    by more than 1e-2.
    """
    training = dataclasses.replace(
        CIFAR, network="small_cnn", epochs=3, batch_size=48, lr=0.02, weight_decay=0.1
    )
    pool = make_pool(images, torch.device("cpu"))
    ours, theirs = (seeded(1, lambda: SmallCNN((12, 12, 1), 4)) for _ in "ab")
    train(ours, pool, [Member("m", 0, 0, np.arange(240), training)], cross_entropy)
    optimizer = torch.optim.SGD(theirs.parameters(), lr=0.02, momentum=0.9, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)
    for epoch in range(3):
        rng = stream("m", 0, 0, "epoch", epoch)
        for rows in torch.tensor(rng.permutation(240)).split(48):
            x = pool.scaling(crop_and_flip(pool.inputs[rows], rng))
            loss = torch.nn.functional.cross_entropy(theirs(x[None])[0], pool.targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=1e-3, atol=1e-3)


def test_an_image_left_over_alone_joins_the_batch_before(images):
    """49 images in batches of 48: the last stage's map is 1 x 1, one value a channel."""
    training = dataclasses.replace(GREY, epochs=1, batch_size=48, lr=0.01)
    few = dataclasses.replace(images, train=images.train[:49], validation=images.test[:5])
    fitted = ensemble.fit(few, ensemble.Config(n_members=1, training=training))[0]
    assert np.isfinite(fitted.predict(images.inputs[:3]).probs).all()
    one = dataclasses.replace(images, train=images.train[:1], validation=images.test[:5])
    with pytest.raises(InputError, match="at least 2 training points, got 1"):
        ensemble.fit(one, ensemble.Config(n_members=1, training=training))
    one = dataclasses.replace(images, train=images.train[:1])
    with pytest.raises(InputError, match="at least 2 training points to hold one out, has 1"):
        ensemble.fit(one, ensemble.Config(n_members=1, training=training))
    with pytest.raises(InputError, match="batch_size must be at least 2"):
        dataclasses.replace(training, batch_size=1)


def test_batches_hold_every_image_once():
    for n, sizes in ((96, [48, 48]), (97, [48, 49]), (98, [48, 48, 2]), (2, [2])):
        training = dataclasses.replace(FINE_TUNING, batch_size=48)
        member = Member("m", 0, 0, np.arange(n), training)
        parts = list(_batches([member], [np.random.default_rng(0)]))
        assert [rows.shape[1] for rows, _ in parts] == sizes
        assert sorted(torch.cat([rows[0] for rows, _ in parts]).tolist()) == list(range(n))
        assert all(weight.sum().item() == pytest.approx(1) for _, weight in parts)


def test_mixed_precision_is_of_the_hidden_layers(images):
    """On the CPU, in training: convolutions give bfloat16, the head and weights stay float32."""
    seen = set()
    hook = torch.nn.modules.module.register_module_forward_hook(
        lambda module, _, out: (
            seen.add((type(module).__name__, out.dtype)) if module.training else None
        )
    )
    with hook:
        half = dataclasses.replace(TINY, precision="bfloat16", device="cpu")
        fitted = ensemble.fit(images, ensemble.Config(n_members=1, training=half))[0]
    assert ("Conv2d", torch.bfloat16) in seen
    assert ("Conv2d", torch.float32) not in seen
    assert ("SmallCNN", torch.float32) in seen
    (network,) = fitted.model.networks
    assert {p.dtype for p in network.parameters()} == {torch.float32}
    assert network.conv2.weight.is_contiguous(memory_format=torch.channels_last)
    test = images.part("test")
    probs = fitted.predict(test.inputs).mean()
    assert (probs.argmax(axis=1) == test.labels).mean() > 0.9
    whole = dataclasses.replace(half, precision="float32")
    other = ensemble.fit(images, ensemble.Config(n_members=1, training=whole))[0]
    assert 0 < np.abs(probs - other.predict(test.inputs).mean()).max() < 0.1
    where = [(CIFAR, "cuda"), (CIFAR, "cpu"), (CIFAR, "mps"), (PROBE, "cuda")]
    precisions = [find_precision(t, torch.device(kind)) for t, kind in where]
    assert precisions == ["bfloat16", "float32", "float32", "float32"]
    with pytest.raises(InputError, match="float32 for a probe"):
        Training(precision="bfloat16")


def test_augmentation_shifts_and_flips_whole_images():
    """Every outcome is one of the 9 x 9 crops of the padded image, mirrored or not."""
    rng = np.random.default_rng(0)
    image = rng.integers(1, 255, size=(1, 6, 6, 2)).astype(np.uint8)
    padded = np.pad(image[0], ((4, 4), (4, 4), (0, 0)))
    possible = {}
    for top in range(9):
        for left in range(9):
            crop = padded[top : top + 6, left : left + 6]
            possible[crop.tobytes()] = (top, left, False)
            possible[crop[:, ::-1].tobytes()] = (top, left, True)
    many = crop_and_flip(torch.tensor(image).expand(3000, -1, -1, -1), rng).numpy()
    seen = {possible[np.ascontiguousarray(one).tobytes()] for one in many}
    assert len(seen) == 162


def test_images_are_scaled_by_the_training_channels(images):
    pool = make_pool(images, torch.device("cpu"))
    train = images.part("train").inputs
    np.testing.assert_allclose(pool.scaling.mean, train.mean(), rtol=1e-6)
    np.testing.assert_allclose(pool.scaling.std, train.std(), rtol=1e-6)
    x, y = pool.batch(torch.tensor([[3, 1]]), None)
    assert x.shape == (1, 2, 1, 12, 12)
    np.testing.assert_allclose(
        x[0, 0, 0], (train[3, ..., 0] - train.mean()) / train.std(), rtol=1e-5
    )
    assert y.argmax(-1).tolist() == [images.labels[[3, 1]].tolist()]


def test_images_in_a_folder_are_read(images, tmp_path):
    from PIL import Image

    for i in range(8):
        size = (12, 12) if i < 7 else (9, 9)
        Image.fromarray(images.inputs[i, ..., 0]).resize(size).save(tmp_path / f"{i}.png")
    lazy = LazyImages(tmp_path, [f"{i}.png" for i in range(8)])
    few = dataclasses.replace(
        images.part("train"),
        inputs=LazyImages(tmp_path, [f"{i}.png" for i in range(7)] * 35)[np.arange(240)],
    )
    fitted = ensemble.fit(few, ensemble.Config(n_members=1, training=TINY))[0]
    assert len(fitted.predict(lazy[np.arange(7)])) == 7
    with pytest.raises(ShapeError, match="one size"):
        fitted.predict(lazy)
    with pytest.raises(ShapeError, match="got no images"):
        fitted.predict(lazy[np.arange(0)])
    shutil.rmtree(tmp_path)


def test_the_bar_shows_loss_and_rate(images, capsys):
    once = dataclasses.replace(TINY, epochs=1)
    ensemble.fit(images, ensemble.Config(n_members=1, training=once), progress=True)
    shown = capsys.readouterr().err
    assert "loss=" in shown
    assert "points/s" in shown


def test_the_small_network_is_small():
    network = SmallCNN((28, 28, 1), 10)
    assert sum(p.numel() for p in network.parameters()) < 450_000
    with pytest.raises(InputError, match="at least 4 x 4 pixels, got 28 x 3"):
        SmallCNN((28, 3, 1), 10)

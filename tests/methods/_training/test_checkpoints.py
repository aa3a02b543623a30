"""A training that broke off goes on bit for bit, and no other goes on from its file."""

import dataclasses
import shutil

import numpy as np
import pytest
import torch

from rue.errors import FileError
from rue.methods import SMALL_IMAGES, ddu, ensemble, evidential, swag
from rue.methods._training.checkpoints import Checkpoint

TINY = dataclasses.replace(SMALL_IMAGES, epochs=3, batch_size=32)


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_training_that_broke_off_goes_on_bit_for_bit(images, tmp_path, monkeypatch, optimizer):
    training = dataclasses.replace(TINY, optimizer=optimizer, lr=0.01, augment="crops")
    config = ddu.Config(training=training)
    whole = ddu.fit(images, config, checkpoints=tmp_path / "whole")[0]
    write = Checkpoint.write

    def breaks(self, epoch, *rest):
        write(self, epoch, *rest)
        if epoch == 2:
            raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", breaks)
        with pytest.raises(StoppedError):
            ddu.fit(images, config, checkpoints=tmp_path / "broken")
    resumed = ddu.fit(images, config, checkpoints=tmp_path / "broken")[0]
    ours, theirs = (f.model.networks[0].state_dict() for f in (whole, resumed))
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    test = images.part("test").inputs
    np.testing.assert_array_equal(whole.predict(test).epistemic, resumed.predict(test).epistemic)
    assert [path.name for path in (tmp_path / "broken").iterdir()] == ["ddu-0-0.pt"]


def test_a_tail_of_swag_that_broke_off_goes_on_bit_for_bit(images, tmp_path, monkeypatch):
    training = dataclasses.replace(TINY, epochs=1)
    config = swag.Config(n_draws=2, n_epochs=4, rank=2, training=training)
    test = images.part("test").inputs
    whole = swag.fit(images, config)[0].predict(test).probs
    write = Checkpoint.write

    def breaks(self, epoch, *rest):
        write(self, epoch, *rest)
        if "tail" in self.path.name and epoch == 3:
            raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", breaks)
        with pytest.raises(StoppedError):
            swag.fit(images, config, checkpoints=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["swag-0-0.pt", "swag-tail-0-0.pt"]
    epochs = []
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", lambda self, epoch, *_: epochs.append(epoch))
        resumed = swag.fit(images, config, checkpoints=tmp_path)[0].predict(test).probs
    assert epochs == [4]  # one epoch of the tail was left
    np.testing.assert_array_equal(resumed, whole)
    with pytest.raises(FileError, match="another training"):
        swag.fit(images, dataclasses.replace(config, rank=3), checkpoints=tmp_path)


def test_a_checkpoint_of_another_training_is_refused(images, tmp_path):
    config = ensemble.Config(n_members=1, training=dataclasses.replace(TINY, epochs=1))
    ensemble.fit(images, config, checkpoints=tmp_path)
    other = dataclasses.replace(config, training=dataclasses.replace(TINY, epochs=1, lr=0.5))
    with pytest.raises(FileError, match="another training"):
        ensemble.fit(images, other, checkpoints=tmp_path)
    fewer = dataclasses.replace(images, train=images.train[1:])
    with pytest.raises(FileError, match="another training"):
        ensemble.fit(fewer, config, checkpoints=tmp_path)
    wider = dataclasses.replace(images, inputs=images.inputs.reshape(300, 16, 9, 1))
    with pytest.raises(FileError, match="another training"):
        ensemble.fit(wider, config, checkpoints=tmp_path)
    shutil.copy(tmp_path / "ensemble-0-0.pt", tmp_path / "ensemble-1-0.pt")
    with pytest.raises(FileError, match="another training"):
        ensemble.fit(images, config, seeds=(1,), checkpoints=tmp_path)
    state = torch.load(tmp_path / "ensemble-0-0.pt")
    del state["network"]["fc.bias"]
    torch.save(state, tmp_path / "ensemble-0-0.pt")
    with pytest.raises(FileError, match="is not a checkpoint"):
        ensemble.fit(images, config, checkpoints=tmp_path)
    (tmp_path / "ensemble-0-0.pt").write_bytes(b"no checkpoint")
    with pytest.raises(FileError, match="is not a checkpoint"):
        ensemble.fit(images, config, checkpoints=tmp_path)


def test_a_checkpoint_is_of_one_objective(images, tmp_path):
    once = dataclasses.replace(TINY, epochs=1)
    evidential.fit(images, evidential.Config(training=once), checkpoints=tmp_path)
    with pytest.raises(FileError, match="another training"):
        evidential.fit(images, evidential.Config(kl=0.1, training=once), checkpoints=tmp_path)
    ddu.fit(images, ddu.Config(training=once), checkpoints=tmp_path)
    with pytest.raises(FileError, match="another training"):
        ddu.fit(images, ddu.Config(coefficient=2.0, training=once), checkpoints=tmp_path)


def test_a_folder_that_goes_during_training_is_not_made_again(images, tmp_path, monkeypatch):
    folder, write = tmp_path / "run" / "checkpoints", Checkpoint.write
    folder.parent.mkdir()

    def move_first(*arguments):
        if folder.exists():
            (tmp_path / "run").rename(tmp_path / "moved")
        write(*arguments)

    monkeypatch.setattr(Checkpoint, "write", move_first)
    config = ensemble.Config(n_members=1, training=TINY)
    with pytest.raises(FileError, match=r"cannot be written: No such file"):
        ensemble.fit(images, config, checkpoints=folder)
    assert not (tmp_path / "run").exists()


def test_a_folder_that_went_before_training_is_not_made_again(images, tmp_path):
    config = ensemble.Config(n_members=1, training=TINY)
    with pytest.raises(FileError, match=r"run/checkpoints: cannot be created for checkpoints: No"):
        ensemble.fit(images, config, checkpoints=tmp_path / "run" / "checkpoints")
    assert not (tmp_path / "run").exists()

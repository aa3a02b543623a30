"""Probes trained as one stack against a plain loop over networks; prediction."""

import dataclasses

import numpy as np
import torch
from torch import nn

from rue import Annotations
from rue.data import DataSet
from rue.methods import PROBE, dropout, ensemble
from speed.timing import Rows, least, least_of_both

N_POINTS, N_FEATURES, N_CLASSES = 6_336, 256, 9  # as sentiment-movies has them
N_SEEDS, N_EPOCHS = 5, 2


def rows() -> Rows:
    yield from training()
    yield from prediction()


def training() -> Rows:
    """Five ensembles of five, the same epochs, batches, optimiser and left-out folds."""
    data = made()
    config = ensemble.Config(training=dataclasses.replace(PROBE, epochs=N_EPOCHS, device="cpu"))
    seeds = range(N_SEEDS)

    def ours():
        ensemble.fit(data, config, seeds=seeds)

    what = f"25 probes, {N_EPOCHS} epochs of {N_POINTS:,} x {N_FEATURES}"
    for peer, loader in (("nn.Modules, DataLoader", True), ("nn.Modules, indexed tensors", False)):
        a, b = least_of_both(ours, lambda loader=loader: plain(data, loader), repeats=3)
        yield what, a, peer, b, "<= 1/6" if loader else ""


def prediction() -> Rows:
    data = made()
    once = dataclasses.replace(PROBE, epochs=1, device="cpu")
    x = np.random.default_rng(1).normal(size=(100_000, N_FEATURES)).astype(np.float32)
    fitted = ensemble.fit(data, ensemble.Config(training=once))[0]
    yield "ensemble, 5 draws of 100,000 points", least(lambda: fitted.predict(x), 3), "", 0.0, ""
    thinned = dropout.fit(data, dropout.Config(training=once))[0]

    def passes():
        """Twenty whole passes, masks drawn for every point."""
        net = network().train()
        with torch.no_grad():
            return torch.stack([torch.softmax(net(torch.tensor(x)), 1) for _ in range(20)], dim=1)

    a, b = least_of_both(lambda: thinned.predict(x), passes, repeats=3)
    yield "MC dropout, 20 draws of 100,000 points", a, "20 passes of an nn.Module", b, ""


def plain(data: DataSet, loader: bool) -> None:
    """What one writes without rue: a network, an optimiser and a loop, 25 times."""
    x = torch.tensor(data.inputs[data.train])
    y = torch.tensor(data.part("train").targets(), dtype=torch.float32)
    for _ in range(N_SEEDS):
        for fold in range(5):
            kept = torch.arange(len(x)) % 5 != fold
            own_x, own_y = x[kept], y[kept]
            batches = torch.utils.data.DataLoader(
                torch.utils.data.TensorDataset(own_x, own_y),
                batch_size=PROBE.batch_size,
                shuffle=True,
            )
            net = network()
            optimizer = torch.optim.AdamW(
                net.parameters(), lr=PROBE.lr, weight_decay=PROBE.weight_decay
            )
            loss_of = nn.CrossEntropyLoss()
            for _ in range(N_EPOCHS):
                order = torch.randperm(len(own_x)).split(PROBE.batch_size)
                indexed = ((own_x[rows], own_y[rows]) for rows in order)
                for batch_x, batch_y in batches if loader else indexed:
                    optimizer.zero_grad()
                    loss_of(net(batch_x), batch_y).backward()
                    optimizer.step()


def network() -> nn.Module:
    return nn.Sequential(
        nn.Linear(N_FEATURES, PROBE.width),
        nn.ReLU(),
        nn.Dropout(PROBE.dropout),
        nn.Linear(PROBE.width, N_CLASSES),
    )


def made() -> DataSet:
    rng = np.random.default_rng(0)
    return DataSet(
        name="made",
        task="features",
        inputs=rng.normal(size=(N_POINTS, N_FEATURES)).astype(np.float32),
        ids=np.arange(N_POINTS).astype(np.str_),
        class_names=tuple(map(str, range(N_CLASSES))),
        values=np.arange(float(N_CLASSES)),
        train=np.arange(N_POINTS),
        validation=np.zeros(0, np.int64),
        test=np.zeros(0, np.int64),
        annotations=Annotations.from_probs(rng.dirichlet(np.ones(N_CLASSES), N_POINTS)),
        annotated=np.arange(N_POINTS),
        licence="",
        citation="",
    )

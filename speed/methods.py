"""Probes trained as one stack against a plain loop over networks; prediction."""

import dataclasses

import numpy as np
import torch
from torch import nn

from rue import Annotations
from rue.data import DataSet
from rue.methods import METHODS, PROBE, dropout, ensemble
from rue.methods._training.networks import use_torch_threads
from speed.timing import Rows, least, least_of_both

N_POINTS, N_FEATURES, N_CLASSES = 6_336, 256, 9  # as sentiment-movies has them
N_SEEDS, N_EPOCHS = 5, 2
N_NETWORKS = {  # how many seeds are fitted, and the networks of each
    "dirichlet_multinomial": (1, 5),
    "pairs": (1, 5),
    "snapshots": (1, 5),
    "deup": (1, 7),
    "forest": (1, 100),
    "swag": (5, 1),
    "sngp": (5, 1),
}


def rows() -> Rows:
    yield from training()
    yield from further_methods()
    yield from regimes()
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


def further_methods() -> Rows:
    """Each further method's fit of five or more networks, per network, against an ensemble of five.

    Ten epochs each (SWAG: and four of its tail, 20 of 50 in proportion). What is done once a fit,
    the trees of the forest and the posterior of SNGP, is compared with all 50 epochs.
    """
    use_torch_threads(1)  # BLAS and torch would fight for the cores
    data = made(counts=True)
    options = {"swag": {"n_epochs": 4}}
    for name, (n_seeds, n_networks) in N_NETWORKS.items():
        module = METHODS[name]
        epochs = 50 if name in ("forest", "sngp") else 10
        training = dataclasses.replace(PROBE, epochs=epochs, device="cpu")
        config = module.Config(training=training, **options.get(name, {}))
        peer = ensemble.Config(training=training)

        def ours(module=module, config=config, n_seeds=n_seeds):
            module.fit(data, config, seeds=range(n_seeds))

        a, b = least_of_both(ours, lambda peer=peer: ensemble.fit(data, peer), repeats=2)
        what = f"{name}, per {'tree' if name == 'forest' else 'network'}"
        yield (
            what,
            a / n_seeds / n_networks,
            f"ensemble, {epochs} epochs, per network",
            b / 5,
            "<= 3",
        )


def regimes() -> Rows:
    """Eight settings with early stopping against the paper's one, all 50 epochs of both."""
    data = dataclasses.replace(
        made(), train=np.arange(5_000), validation=np.arange(5_000, N_POINTS)
    )
    paper, tuned = (
        ensemble.Config(training=dataclasses.replace(PROBE, regime=regime, device="cpu"))
        for regime in ("paper", "tuned")
    )
    a, b = least_of_both(
        lambda: ensemble.fit(data, tuned), lambda: ensemble.fit(data, paper), repeats=1
    )
    yield "ensemble, tuned: eight settings", a, "paper, eight times", 8 * b, "<= 1/2"


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


def made(*, counts: bool = False) -> DataSet:
    """Points that train; with counts, of 20 answers each."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(N_CLASSES), N_POINTS)
    said = Annotations(rng.multinomial(20, probs)) if counts else Annotations.from_probs(probs)
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
        annotations=said,
        annotated=np.arange(N_POINTS),
        licence="",
        citation="",
    )

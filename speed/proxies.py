"""Active learning as one stack against run by run."""

import dataclasses

import rue.data
from rue.methods import PROBE, dropout
from rue.proxies.active_learning import run
from speed.timing import Rows, least_of_both

ACQUISITIONS = ("epistemic", "total", "random", "oracle")
SEEDS = range(3)


def rows() -> Rows:
    yield from learning()


def learning() -> Rows:
    """Two rounds of MC dropout on random-rbf, four acquisitions and three seeds."""
    data = rue.data.load("random-rbf", n_points=3_000)
    config = dropout.Config(training=dataclasses.replace(PROBE, epochs=10, device="cpu"))
    sizes = {"n_initial": 500, "n_batch": 250, "n_rounds": 2, "config": config}

    def together():
        run(data, "dropout", SEEDS, acquisitions=ACQUISITIONS, **sizes)

    def apart():
        for acquisition in ACQUISITIONS:
            for seed in SEEDS:
                run(data, "dropout", (seed,), acquisitions=(acquisition,), **sizes)

    a, b = least_of_both(together, apart, repeats=3)
    yield "active learning, 12 runs of 2 rounds", a, "the same, run by run", b, ""

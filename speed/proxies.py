"""OOD metrics against scikit-learn; active learning as one stack against run by run."""

import dataclasses

import numpy as np

import rue.data
from rue.methods import PROBE, dropout
from rue.proxies.active_learning import run
from rue.proxies.ood import evaluate_ood
from speed.timing import Rows, least_of_both

ACQUISITIONS = ("epistemic", "total", "random", "oracle")
SEEDS = range(3)


def rows() -> Rows:
    yield from detection()
    yield from learning()


def detection() -> Rows:
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    rng = np.random.default_rng(0)
    inside, out = rng.normal(size=100_000), rng.normal(1, 1, size=100_000)
    truth, score = np.repeat([0, 1], 100_000), np.concatenate([inside, out])

    def peer():
        fpr, tpr, _ = roc_curve(truth, score)
        roc_auc_score(truth, score), average_precision_score(truth, score)
        return fpr[np.argmax(tpr >= 0.95)]

    a, b = least_of_both(lambda: evaluate_ood(inside, {"out": out}), peer, repeats=3)
    yield "AUROC, AUPR, FPR95 of 2 x 100,000 scores", a, "scikit-learn", b, ""


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

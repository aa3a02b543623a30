"""The same numbers as torch-uncertainty and the authors' code compute them.

The authors' way is written in plain numpy: areas by the trapezoid over N + 1 points with ties in
row order, and IGD+ between all pairs of 20,000 sampled points of each surface.
torch-uncertainty is measured where it is installed.
"""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np

from rue import aurc, pareto_gap
from rue.metrics.measures import areas
from rue.pareto.surfaces import published_achievable, published_optimal
from speed.pareto import world
from speed.timing import Rows, least, least_of_both

N_SAMPLED, EVERY = 20_000, 40


def rows() -> Rows:
    yield from authors_areas()
    yield from authors_gap()
    yield from torch_uncertainty()


def authors_areas() -> Rows:
    for n_points in (10_000, 1_000_000):
        star, hat = world(n_points)

        def ours(star=star, hat=hat):
            return areas(star.epistemic, hat.epistemic).normalized

        def peer(star=star, hat=hat):
            regret = star.epistemic
            area, oracle = _trapezoid(regret, hat.epistemic), _trapezoid(regret, regret)
            return (area - oracle) / (regret.mean() / 2 - oracle)

        assert abs(ours() - peer()) < 1e-6
        a, b = least_of_both(ours, peer)
        what = f"n-AuReC, N = {n_points:,}"
        yield what, a, "the authors' trapezoid over N + 1 points", b, "<= 1"


def _trapezoid(regret: np.ndarray, score: np.ndarray) -> float:
    order = np.argsort(score, kind="stable")
    height = np.append(0.0, np.cumsum(regret[order])) / len(regret)
    return float(np.trapezoid(height, np.linspace(0.0, 1.0, len(height))))


def authors_gap() -> Rows:
    star, hat = world(10_000)
    rng = np.random.default_rng(0)

    def surfaces() -> list[np.ndarray]:
        return [
            points.reshape(-1, 3)[rng.choice(points.size // 3, N_SAMPLED, replace=False)]
            for points in (published_optimal(star), published_achievable(star, hat))
        ]

    optimal, reached = surfaces()

    def distances() -> None:
        for point in optimal[::EVERY]:
            worse = np.maximum((point - reached) * [1.0, -1.0, -1.0], 0.0)
            np.sqrt((worse**2).sum(axis=1)).min()

    ours = least(lambda: pareto_gap(star, hat), 3)
    seconds = least(surfaces, 1) + least(distances, 2) * EVERY
    peer = f"the authors' 20,000 points of each surface, distances scaled from 1/{EVERY}"
    yield "pareto_gap, N = 10,000 (all points of the surfaces)", ours, peer, seconds, "<= 1"


def torch_uncertainty() -> Rows:
    metrics = _metrics()
    if metrics is None:
        return
    import torch

    rng = np.random.default_rng(0)
    for n_points in (10_000, 1_000_000):
        probs = rng.dirichlet(np.ones(10), n_points)
        labels = rng.integers(0, 10, n_points)
        wrong, score = (probs.argmax(axis=1) != labels).astype(np.float64), -probs.max(axis=1)
        tensors = torch.from_numpy(probs), torch.from_numpy(labels)

        def peer(tensors=tensors):
            metric = metrics.AUGRC()
            metric.update(*tensors)
            return metric.compute()

        def ours(probs=probs, labels=labels):
            wrong = (probs.argmax(axis=1) != labels).astype(np.float64)
            return aurc(wrong, -probs.max(axis=1))

        assert abs(float(peer()) - aurc(wrong, score)) < 1e-2
        a, b = least_of_both(ours, peer)
        what = f"AuRC under 0/1 loss of probabilities, N = {n_points:,} x 10"
        yield what, a, "torch-uncertainty's AUGRC", b, "<= 1"


def _metrics() -> ModuleType | None:
    """Return the file of torch-uncertainty that has the metrics; its package needs much more."""
    package = importlib.util.find_spec("torch_uncertainty")
    if package is None or package.origin is None:
        return None
    file = Path(package.origin).parent / "metrics/classification/risk_coverage.py"
    spec = importlib.util.spec_from_file_location("risk_coverage", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

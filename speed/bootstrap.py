"""Bootstrap replicates of the areas: sorted once, against sorting each sample anew."""

from functools import partial

import numpy as np

from rue import Run, pareto_gap
from rue.components import Components
from rue.inference.bootstrap import N_GAP_REPLICATES, _key, _room, _sorted
from rue.inference.comparison import compare
from rue.inference.intervals import intervals
from rue.metrics.clusters import NO_CLUSTERS
from speed.pareto import world
from speed.timing import Rows, least, least_of_both


def rows() -> Rows:
    yield from areas_of_replicates()
    yield from gaps_of_replicates()


def gaps_of_replicates() -> Rows:
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 1_500, (10, 1_500))
    for fronts, (star, hat) in (("", world(1_500)), (", wide fronts", wide_world(1_500))):

        def peer(star=star, hat=hat):
            for rows in drawn:
                pareto_gap(star[rows], hat[rows])

        run = Run(star, hat)
        a, b = least_of_both(partial(intervals, run), peer, repeats=3)
        what = f"all columns with intervals and gap, N = 1,500{fronts}"
        b *= N_GAP_REPLICATES / 10
        yield what, a, "the gap of 200 samples (scaled from 10)", b, "<= 0.05"
    star, hat = world(10_000)
    noise = rng.lognormal(0, 0.3, (30, 10_000))
    runs = [
        Run(star, Components(hat.total * z, hat.aleatoric * z, hat.epistemic * z), method=f"m{i}")
        for i, z in enumerate(noise)
    ]
    seconds = least(lambda: compare(runs), 1)
    yield "compare 30 methods x 10,000 points with the gap", seconds, "limit", 60.0, "<= 1"


def wide_world(n_points: int) -> tuple[Components, Components]:
    """Points of little risk or little regret, and estimates that find each: wide fronts."""
    rng = np.random.default_rng(0)
    aleatoric = rng.random(n_points)
    epistemic = np.clip(1 - aleatoric + rng.normal(0, 0.3, n_points), 0, None)
    x, y = aleatoric + rng.normal(0, 0.2, n_points), epistemic + rng.normal(0, 0.2, n_points)
    return Components(aleatoric + epistemic, aleatoric, epistemic), Components(x + y, x, y)


def areas_of_replicates() -> Rows:
    from rue._kernels.bootstrap import N_COLUMNS, measure_all
    from rue._kernels.sorting import areas

    rng = np.random.default_rng(0)
    none = np.empty(0)
    for n in (1_000, 10_000, 100_000):
        total, regret, score, estimated = rng.gamma(0.5, size=(4, n))
        star = Components(total + regret, total, regret)
        hat = Components(estimated + score, estimated, score)
        sorted_ = _sorted(star, hat)
        n_replicates = 20 if n == 100_000 else 100
        out = np.empty((-(-n_replicates // 8), N_COLUMNS, 8))
        unused, room, points = (
            np.empty((0, 0), np.uint64),
            _room(n, False, False),
            np.empty(0, np.uint32),
        )

        def ours(sorted_=sorted_, room=room, points=points, unused=unused, out=out):
            measure_all(_key(0), 0, NO_CLUSTERS, *sorted_, False, points, room, unused, out)

        def peer(star=star, hat=hat, n=n, n_replicates=n_replicates):
            # AuReC and AuRC of one ranking, the oracle, and AuRC by the total: three sorts.
            for _ in range(n_replicates):
                drawn = rng.integers(0, n, n)
                v, t = star.epistemic[drawn], star.total[drawn]
                s, u = hat.epistemic[drawn], hat.total[drawn]
                order = np.argsort(s)
                areas(v, s, none, order, False)
                areas(t, s, none, order, False)
                areas(v, v, none, np.argsort(v), False)
                areas(t, u, none, np.argsort(u), False)

        a, b = least_of_both(ours, peer, repeats=5)
        what = f"{n_replicates} bootstrap replicates of four areas, N = {n:,}"
        yield what, a, "re-sorting every sample", b, "<= 0.05"

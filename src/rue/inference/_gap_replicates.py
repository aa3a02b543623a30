"""Bootstrap replicates of the Pareto-gap.

A replicate is the number of times that each point was drawn. Directions and lambdas are those of
the sample, so that rankings are sorted only once. To be fast, surfaces are evaluated at no more
than 125 coverages, with straight lines in between, and with fewer directions and lambdas than the
gap itself. The error that this causes is nearly equal in all replicates, so the function returns
the change of this coarse gap, not its value.
"""

from typing import Any

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Components
from rue.inference.clusters import NO_CLUSTERS
from rue.pareto.gap import SAME_SCORE, arc_middles, plane_of

__all__ = ["gap_replicates"]

LEVELS, DIRECTIONS, LAMBDAS = 125, 180, 6

# The directions are at quantiles of the critical angles of so many pairs of points.
PAIRS = 1 << 14


def gap_replicates(
    star: Components,
    hat: Components,
    key: np.uint64,
    n_replicates: int,
    *,
    clusters: IntArray = NO_CLUSTERS,
    progress: bool = False,
) -> FloatArray:
    """Return the change of the Pareto-gap in each of the first ``n_replicates`` samples."""
    from tqdm import tqdm

    from rue._kernels.gap_replicates import gap, gaps
    from rue._kernels.threads import each

    rankings, n_levels = _rankings(star, hat), min(LEVELS, len(star))
    sums = np.empty((2, len(rankings[4]), n_levels + 1))
    whole = gap(np.ones(len(star), np.uint8), rankings, sums)
    distances = np.empty(n_replicates)
    cuts = np.linspace(0, n_replicates, min(25, n_replicates) + 1).astype(np.int64)
    bar = tqdm(
        total=n_replicates,
        desc="Pareto-gap",
        delay=2,
        disable=None if progress else True,
        leave=False,
    )

    def run(i: int) -> None:
        gaps(key, cuts[i], clusters, rankings, n_levels, distances[cuts[i] : cuts[i + 1]])
        bar.update(int(cuts[i + 1] - cuts[i]))

    with bar:
        each(run, range(len(cuts) - 1))
    return np.asarray(distances - whole)


def _rankings(star: Components, hat: Components) -> tuple[Any, ...]:
    """Return the rankings of both surfaces, sorted once, as the kernel takes them."""
    from rue._kernels.sorting import argsort

    plane = plane_of(star, hat)
    block = np.empty(len(star), np.int64)
    sizes = np.diff(plane.starts, append=len(star))
    block[plane.rows] = np.repeat(np.arange(len(sizes)), sizes)
    x, y = plane.x[plane.starts], plane.y[plane.starts]
    angles = arc_middles(plane, DIRECTIONS // 2, PAIRS)
    orders = [argsort(x * np.cos(angle) + y * np.sin(angle)).astype(np.uint32) for angle in angles]
    rows = np.lexsort((star.total, star.aleatoric, star.epistemic))
    total, epistemic = star.total[rows], star.epistemic[rows]
    slack = SAME_SCORE * max(np.abs(star.aleatoric).max(), np.abs(star.epistemic).max())
    star_orders = [
        rows[_ranked((1 - lam) * total + (2 * lam - 1) * epistemic, slack)].astype(np.uint32)
        for lam in np.linspace(0.5, 1.0, LAMBDAS)
    ]
    return (
        *(block, len(sizes), star.total, star.epistemic),
        *(np.stack(orders), np.stack(star_orders)),
    )


def _ranked(score: FloatArray, slack: float) -> IntArray:
    """Return the order by score; scores within ``slack`` count as equal and keep their order."""
    from rue._kernels.sorting import argsort

    order = argsort(score)
    runs = np.cumsum(np.append(False, np.diff(score[order]) > slack))
    return np.asarray(order[np.lexsort((order, runs))])

"""Bootstrap replicates of the Pareto-gap.

A replicate is the number of times that each point was drawn. Directions and lambdas are those of
the sample, so that rankings are sorted only once. To be fast, surfaces are evaluated at no more
than 500 coverages, with straight lines in between, and with fewer directions and lambdas than the
gap itself. The error that this causes is nearly equal in all replicates, so the function returns
the change of this coarse gap, not its value.
"""

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray
from rue.components import Components
from rue.pareto._rankings import _arc_middles, plane_of
from rue.pareto.surfaces import SAME_SCORE

__all__ = ["gap_replicates"]

LEVELS, DIRECTIONS, LAMBDAS = 500, 180, 11


def gap_replicates(
    star: Components,
    hat: Components,
    key: np.uint64,
    n_replicates: int,
    *,
    progress: bool = False,
) -> FloatArray:
    """Return the change of the Pareto-gap in each of the first ``n_replicates`` samples."""
    from tqdm import tqdm

    from rue._kernels.bootstrap import draw
    from rue._kernels.threads import each

    coarse = _Coarse(star, hat)
    n_points = len(star)
    whole = coarse.gap(np.ones(n_points, np.uint8))
    moved = np.empty(n_replicates)
    bar = tqdm(
        total=n_replicates,
        desc="Pareto-gap",
        delay=2,
        disable=None if progress else True,
        leave=False,
    )

    def run(b: int) -> None:
        weight = np.empty(n_points, np.uint8)
        draw(key, b, weight)
        moved[b] = coarse.gap(weight) - whole
        bar.update()

    with bar:
        each(run, range(n_replicates))
    return moved


class _Coarse:
    """The rankings of both surfaces, sorted once."""

    def __init__(self, star: Components, hat: Components) -> None:
        n_points = len(star)
        self.levels = min(LEVELS, n_points)
        plane = plane_of(star, hat)
        self.rows, self.starts = plane.rows, plane.starts
        self.risk = star.total[plane.rows]
        self.regret = star.epistemic[plane.rows]
        x, y = plane.x[plane.starts], plane.y[plane.starts]
        self.angles = _arc_middles(plane, DIRECTIONS // 2)
        self.orders = np.stack(
            [np.argsort(x * np.cos(a) + y * np.sin(a)).astype(np.int32) for a in self.angles]
        )
        self.star_rows = np.lexsort((star.total, star.aleatoric, star.epistemic))
        total, epistemic = star.total[self.star_rows], star.epistemic[self.star_rows]
        self.star_risk, self.star_regret = total, epistemic
        slack = SAME_SCORE * max(np.abs(star.aleatoric).max(), np.abs(star.epistemic).max())
        lams = np.linspace(0.5, 1.0, LAMBDAS)
        self.star_orders = np.stack(
            [_ranked((1 - lam) * total + (2 * lam - 1) * epistemic, slack) for lam in lams]
        )

    def gap(self, weight: NDArray[np.uint8]) -> float:
        from rue._kernels.bootstrap import prefix_sums
        from rue._kernels.pareto import insert_rankings, least_deficits, nest

        mass = float(weight.sum())
        levels = self.levels
        # The achievable surface, by blocks of equal estimates.
        w = weight[self.rows].astype(np.float64)
        count = np.add.reduceat(w, self.starts)
        risk = np.add.reduceat(w * self.risk, self.starts) / mass
        regret = np.add.reduceat(w * self.regret, self.starts) / mass
        risk_unit, regret_unit = (float(np.abs(v).sum()) or 1.0 for v in (risk, regret))
        sums = np.empty((2, len(self.orders), levels + 1))
        for i, order in enumerate(self.orders):
            prefix_sums(count, order, risk / risk_unit, regret / regret_unit, levels, *sums[:, i])
        fronts, sizes = np.empty((levels + 1, 32, 3)), np.zeros(levels + 1, np.int64)
        fronts = insert_rankings(fronts, sizes, 0, sums[0], sums[1], self.angles)
        flat = np.concatenate([fronts[j, : sizes[j]] for j in range(levels + 1)])
        ends = np.concatenate([[0], np.cumsum(sizes)])
        nested = nest(ends, flat[:, 0] * risk_unit, flat[:, 1] * regret_unit)
        # The optimal surface, point by point.
        w = weight[self.star_rows].astype(np.float64)
        risk, regret = w * self.star_risk / mass, w * self.star_regret / mass
        reference = np.empty((len(self.star_orders), levels + 1, 3))
        coverage = np.arange(levels + 1) / levels
        reference[:, :, 0] = coverage
        for i, order in enumerate(self.star_orders):
            sums = np.empty((2, levels + 1))
            prefix_sums(w, order, risk, regret, levels, sums[0], sums[1])
            reference[i, :, 1:] = sums.T
        distance = np.empty(reference.shape[0] * (levels + 1))
        least_deficits(reference.reshape(-1, 3), coverage, *nested, distance)
        return float(distance.mean())


def _ranked(score: FloatArray, slack: float) -> NDArray[np.int32]:
    """Return the order by score; scores within ``slack`` count as equal and keep their order."""
    order = np.argsort(score, kind="stable")
    runs = np.cumsum(np.append(False, np.diff(score[order]) > slack))
    return np.asarray(order[np.lexsort((order, runs))], np.int32)

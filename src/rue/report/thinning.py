"""Thin curves and surfaces for the page."""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Run
from rue.metrics.curves import Curve, regret_coverage_curve, risk_coverage_curve
from rue.pareto.surfaces import Surface, achievable_surface, optimal_surface, surface_gap

CORNERS = 200
LEVELS = 41
ACROSS = 25


@dataclass(frozen=True, eq=False)
class Slices:
    """A surface at some coverages; the points of each level are sorted by regret.

    ``ends[i]`` is the number of ``points`` (coverage, risk, regret) in the levels 0..i.
    """

    points: FloatArray
    ends: IntArray


@dataclass(frozen=True, eq=False)
class SlicesOfRun:
    """The optimal and the achievable surface of a run, so that nobody takes them for another's."""

    run: Run
    optimal: Slices
    achievable: Slices


def thinned(curve: Curve, corners: int = CORNERS) -> FloatArray:
    """Return the first and the last corner in each strip of coverage, shape (n, 2)."""
    strip = np.minimum(curve.coverage * corners, corners - 1).astype(np.int64)
    changes = strip[1:] != strip[:-1]
    keep = np.append(True, changes) | np.append(changes, True)
    return np.column_stack([curve.coverage[keep], curve.value[keep]])


def curves_of(run: Run, correct: FloatArray | None = None) -> dict[str, FloatArray]:
    """Return the thinned coverage curves of the page, and those of oracle rankings."""
    wrong = None if correct is None else 1.0 - correct
    ranks = {"epistemic": run.hat.epistemic, "total": run.hat.total}
    curves = {}
    for name, rank in ranks.items():
        curves[f"regret_{name}"] = regret_coverage_curve(run.star.epistemic, rank)
        curves[f"risk_{name}"] = risk_coverage_curve(run.star.total, rank)
        if wrong is not None:
            curves[f"wrong_{name}"] = risk_coverage_curve(wrong, rank)
    curves["regret_oracle"] = regret_coverage_curve(run.star.epistemic, run.star.epistemic)
    curves["risk_oracle"] = risk_coverage_curve(run.star.total, run.star.total)
    if wrong is not None:
        curves["wrong_oracle"] = risk_coverage_curve(wrong, wrong)
    return {name: thinned(curve) for name, curve in curves.items()}


def slices_of(run: Run) -> tuple[Slices, Slices]:
    """Return the optimal and the achievable surface at 41 coverages."""
    return _slices(optimal_surface(run.star)), _slices(achievable_surface(run.star, run.hat))


def gap_and_slices(run: Run) -> tuple[float, SlicesOfRun]:
    """Return the Pareto-gap, and both surfaces, which it needs too, at 41 coverages."""
    optimal, achievable = optimal_surface(run.star), achievable_surface(run.star, run.hat)
    slices = SlicesOfRun(run, _slices(optimal), _slices(achievable))
    return surface_gap(optimal, achievable), slices


def _slices(surface: Surface) -> Slices:
    steps = np.sort(surface.coverage)
    steps = steps[np.append(True, np.diff(steps) > 0)]
    nearest = [steps[np.abs(steps - c).argmin()] for c in np.linspace(0.0, 1.0, LEVELS)]
    points = surface.points[np.isin(surface.coverage, nearest)]
    levels = []
    for coverage in nearest:
        level = np.unique(points[points[:, 0] == coverage][:, [2, 1]], axis=0)
        picked = np.unique(np.rint(np.linspace(0, len(level) - 1, ACROSS)).astype(np.int64))
        risk, regret = level[picked, 1], level[picked, 0]
        levels.append(np.column_stack([np.full(len(picked), coverage), risk, regret]))
    return Slices(np.concatenate(levels), np.cumsum([len(level) for level in levels]))

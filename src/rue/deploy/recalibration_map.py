"""A recalibration to deploy: the fitted map, what it is made for, and what it attains.

The map is fitted to all calibration points. What it attains is measured without a point's own
regret: the mean by cross-fitting, the gap on halves of the points.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue.components import Components
from rue.deploy._json_files import read_json, write_json
from rue.deploy.kind import Kind
from rue.errors import InputError
from rue.inference.clusters import label_codes
from rue.metrics.measures import regret_calibration
from rue.metrics.recalibration import (
    Recalibration,
    fit_recalibration,
    gap_after_recalibration,
    recalibrate,
)

__all__ = ["RecalibrationMap", "fit_recalibration_map"]

FORMAT = "rue recalibration 1"
_COUNTS = {"n_points": 2, "folds": 2, "seed": 0}
_FURTHER = {"n_clusters": 2}
"""What is left out where there is none."""
_NUMBERS = ("mean_regret", "mean_estimate", "mean_recalibrated", "gap_before", "gap_after")


@dataclass(frozen=True, eq=False)
class RecalibrationMap:
    """A map from epistemic uncertainty to regret, with its origin.

    Attributes
    ----------
    fitted : Recalibration
        The map.
    kind : Kind
        The predictions that it is made for.
    n_points, folds, seed : int
        The number of calibration points, and the folds of the cross-fitting with their seed.
    mean_regret, mean_estimate : float
        Means over the calibration points.
    mean_recalibrated : float
        The mean of the cross-fitted estimates.
    gap_before : float or None
        The gap of :func:`rue.regret_calibration` of the estimates; None for a score without a unit.
    gap_after : float
        An estimate of the gap on as many new points, by
        :func:`rue.metrics.recalibration.gap_after_recalibration`.
    n_clusters : int or None
        The number of clusters, if each was kept whole in folds and halves.
    """

    fitted: Recalibration
    kind: Kind
    n_points: int
    folds: int
    seed: int
    mean_regret: float
    mean_estimate: float
    mean_recalibrated: float
    gap_before: float | None
    gap_after: float
    n_clusters: int | None = None

    def apply(self, hat: Components) -> Components:
        """Return estimated components with the recalibrated epistemic part.

        Parameters
        ----------
        hat : Components
            Estimated components of n_points points, under the loss that the map is made for.

        Returns
        -------
        Components
            The aleatoric part is the same; the total is the sum.

        Raises
        ------
        InputError
            If a number is not finite, or so large that the sum of all is not.
        """
        _require_finite_sums(hat.epistemic)
        epistemic = self.fitted.apply(hat.epistemic)
        return Components(hat.aleatoric + epistemic, hat.aleatoric, epistemic)

    def outside(self, epistemic: FloatArray) -> int:
        """Return how many estimates are outside the range of the calibration points'."""
        knots = self.fitted.epistemic
        return int(((epistemic < knots[0]) | (epistemic > knots[-1])).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the map, as JSON represents it."""
        further = {name: value for name in _FURTHER if (value := getattr(self, name)) is not None}
        return {
            "format": FORMAT,
            "made_for": self.kind.to_dict(),
            "epistemic": self.fitted.epistemic.tolist(),
            "regret": self.fitted.regret.tolist(),
            "calibration": {name: getattr(self, name) for name in (*_COUNTS, *_NUMBERS)} | further,
        }

    @staticmethod
    def from_dict(known: Mapping[str, Any]) -> "RecalibrationMap":
        """Return the map that :meth:`to_dict` gave; raise InputError at an invalid field."""
        if known.get("format") != FORMAT:
            raise InputError(f"format must be {FORMAT!r}, got {known.get('format')!r}")
        calibration = {name: known["calibration"][name] for name in (*_COUNTS, *_NUMBERS)}
        calibration |= {name: known["calibration"].get(name) for name in _FURTHER}
        for name, least in (_COUNTS | _FURTHER).items():
            value = calibration[name]
            if name in _FURTHER and value is None:
                continue
            if type(value) is not int or value < least:
                raise InputError(f"{name} must be a whole number from {least}, got {value!r}")
        if calibration["folds"] > calibration["n_points"]:
            raise InputError(
                f"folds must be at most the {calibration['n_points']} points, "
                f"got {calibration['folds']}"
            )
        for name in _NUMBERS:
            value = calibration[name]
            if name == "gap_before" and value is None:
                continue
            if type(value) not in (int, float) or not np.isfinite(value):
                raise InputError(f"{name} must be a finite number, got {value!r}")
        fitted = Recalibration(*(_knots(name, known[name]) for name in ("epistemic", "regret")))
        if len(fitted.epistemic) != len(fitted.regret):
            raise InputError(
                f"epistemic and regret must have as many numbers, got {len(fitted.epistemic)} "
                f"and {len(fitted.regret)}"
            )
        for name, rises in (
            ("epistemic", np.diff(fitted.epistemic) > 0),
            ("regret", np.diff(fitted.regret) >= 0),
        ):
            if not rises.all():
                raise InputError(f"{name} must rise, got less at knot {int(np.argmin(rises)) + 1}")
        return RecalibrationMap(fitted, Kind.from_dict(known["made_for"]), **calibration)

    def save(self, path: str | Path) -> None:
        """Write the map as JSON, completely or not at all; raise FileError if that fails."""
        write_json(path, self.to_dict())

    @staticmethod
    def load(path: str | Path) -> "RecalibrationMap":
        """Read a map that :meth:`save` wrote; raise FileError if the file is not a valid map."""
        return read_json(path, "a recalibration", RecalibrationMap.from_dict)


def fit_recalibration_map(
    star: Components,
    hat: Components,
    *,
    kind: Kind | None = None,
    folds: int = 5,
    seed: int = 0,
    cluster: ArrayLike | None = None,
) -> RecalibrationMap:
    """Fit a recalibration to calibration points, and measure it without a point's own regret.

    Parameters
    ----------
    star, hat : Components
        Realised and estimated components of the points.
    kind : Kind, optional
        What the points are, so that the map refuses others.
    folds, seed, cluster
        Of the cross-fitting, as in :func:`rue.recalibrate`; seed and clusters also of the halves.

    Returns
    -------
    RecalibrationMap
        The map, with what it attains.

    Raises
    ------
    InputError
        If there are fewer points or clusters than folds, or another option is invalid.

    Examples
    --------
    >>> from rue.deploy import fit_recalibration_map
    >>> from rue import Components
    >>> regret = np.random.default_rng(0).gamma(1.0, size=1000)
    >>> star = Components(regret + 1, np.ones(1000), regret)
    >>> hat = Components(9 * regret + 1, np.ones(1000), 9 * regret)
    >>> fitted = fit_recalibration_map(star, hat)
    >>> round(fitted.gap_before, 1), round(fitted.gap_after, 1)
    (8.2, 0.0)
    """
    labels = None if cluster is None else label_codes(cluster, len(star))
    rows = np.lexsort((star.epistemic, hat.epistemic))  # so that not even rounding differs
    regret, estimate = star.epistemic[rows], hat.epistemic[rows]
    codes = None if labels is None else labels[rows]
    _require_finite_sums(regret, estimate)
    after = recalibrate(regret, estimate, folds=folds, seed=seed, cluster=codes)
    return RecalibrationMap(
        fit_recalibration(regret, estimate),
        kind or Kind(),
        n_points=len(regret),
        folds=int(folds),
        seed=int(seed),
        mean_regret=float(regret.mean()),
        mean_estimate=float(estimate.mean()),
        mean_recalibrated=float(after.mean()),
        gap_before=None if hat.outside_score else regret_calibration(regret, estimate).gap,
        gap_after=gap_after_recalibration(regret, estimate, seed=seed, cluster=codes),
        n_clusters=None if codes is None else int(codes.max()) + 1,
    )


def _require_finite_sums(*columns: FloatArray) -> None:
    for column in columns:
        largest = float(np.abs(column).max())
        if largest > np.finfo(np.float64).max / (2 * len(column)):
            raise InputError(f"estimates and regret must have finite sums, got {largest:g}")


def _knots(name: str, values: Any) -> FloatArray:
    if not isinstance(values, list) or not values:
        raise InputError(f"{name} must be a list of numbers, got {values!r}"[:200])
    wrong = next((v for v in values if type(v) not in (int, float) or not np.isfinite(v)), None)
    if wrong is not None:
        raise InputError(f"{name} must be a list of finite numbers, got {wrong!r}")
    return np.array(values, np.float64)

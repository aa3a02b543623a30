"""A recalibration to deploy: the fitted map, what it is made for, and what it attains.

The map is fitted to all calibration points. What it attains is measured without a point's own
regret: the mean by cross-fitting, the gap on halves of the points.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray
from rue._schema import Count, at_least, build, plain, read_content
from rue._text import JsonObject, short_repr
from rue.components import Components
from rue.deploy.kind import Kind
from rue.errors import InputError
from rue.io.atomic import write_json
from rue.metrics.clusters import label_codes
from rue.metrics.measures import regret_calibration
from rue.metrics.recalibration import (
    Recalibration,
    fit_recalibration,
    gap_after_recalibration,
    recalibrate,
)

FORMAT: Literal["rue recalibration 1"] = "rue recalibration 1"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Calibration:
    """How a map was fitted, as it is stored."""

    n_points: Annotated[int, at_least(2)]
    folds: Annotated[int, at_least(2)]
    seed: Count
    mean_regret: float
    mean_estimate: float
    mean_recalibrated: float
    gap_before: float | None
    gap_after: float
    n_clusters: Annotated[int, at_least(2)] | None = None

    def __post_init__(self) -> None:
        if self.folds > self.n_points:
            raise InputError(f"folds must be at most {self.n_points} (points), got {self.folds}")


@dataclass(frozen=True, eq=False)
class _Stored:
    """The content of a map's JSON file."""

    format: Literal["rue recalibration 1"]
    made_for: Kind
    epistemic: FloatArray
    regret: FloatArray
    calibration: _Calibration

    def __post_init__(self) -> None:
        if len(self.epistemic) != len(self.regret) or not len(self.regret):
            raise InputError(
                "regret must have as many numbers as epistemic, at least one, got "
                f"{len(self.regret)} for {len(self.epistemic)}"
            )
        rises = {"epistemic": np.diff(self.epistemic) > 0, "regret": np.diff(self.regret) >= 0}
        for name, steps in rises.items():
            if not steps.all():
                raise InputError(f"{name} must rise, got less at knot {int(np.argmin(steps)) + 1}")


@dataclass(frozen=True, eq=False)
class RecalibrationMap(_Calibration):
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

    __repr__ = short_repr

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

    def to_dict(self) -> JsonObject:
        """Return everything in the map, as JSON represents it."""
        own = {field.name: getattr(self, field.name) for field in fields(_Calibration)}
        knots = self.fitted.epistemic, self.fitted.regret
        content: JsonObject = plain(_Stored(FORMAT, self.kind, *knots, _Calibration(**own)))
        return content

    @staticmethod
    def from_dict(known: Mapping[str, object]) -> "RecalibrationMap":
        """Return the map that :meth:`to_dict` gave; raise InputError at an invalid field."""
        stored = build(_Stored, known)
        fitted = Recalibration(stored.epistemic, stored.regret)
        return RecalibrationMap(fitted, stored.made_for, **asdict(stored.calibration))

    def save(self, path: str | Path) -> None:
        """Write the map as JSON, completely or not at all; raise FileError if that fails."""
        write_json(Path(path), self.to_dict())

    @staticmethod
    def load(path: str | Path) -> "RecalibrationMap":
        """Read a map that :meth:`save` wrote; raise FileError if the file is not a valid map."""
        return read_content(path, "a recalibration", RecalibrationMap.from_dict)


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

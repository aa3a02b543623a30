"""The Pareto-gap: the distance of a method's selectors from the optimal ones (section 4.2)."""

import numpy as np

from rue._arrays import FloatArray
from rue.beliefs import Convention, require_convention
from rue.components import Components
from rue.errors import InputError
from rue.pareto.published_surfaces import published_achievable, published_optimal
from rue.pareto.surfaces import Directions, Surface, achievable_fronts, optimal_surface

__all__ = ["igd_plus", "pareto_gap", "published_gap", "surface_gap"]


def pareto_gap(
    star: Components,
    hat: Components,
    *,
    normalize: bool = False,
    directions: Directions = "auto",
    lambdas: int = 51,
    convention: Convention = "definition",
) -> float:
    r"""Return the Pareto-gap, IGD+ from the optimal surface S* to the achievable surface S.

    It is the mean over the points of S*, with coverage :math:`c^*`, risk :math:`r^*` and regret
    :math:`e^*`, of the least distance :math:`d_+` to a point (c, r, e) of S, which counts only the
    coordinates that are worse (Ishibuchi et al. 2015):

    .. math:: d_+^2 = \max(0, c^* - c)^2 + \max(0, r - r^*)^2 + \max(0, e - e^*)^2.

    Parameters
    ----------
    star, hat : Components
        The realised and the estimated components of the same points.
    normalize : bool
        Whether to divide risk and regret by their values at full coverage, so that the gap does
        not depend on the unit of the loss. The mean of each component must be positive, or the
        component 0 everywhere.
    directions : {"auto", "exact"} or int
        The directions of S; see :func:`rue.achievable_surface`.
    lambdas : int
        The number of lambdas of S*; see :func:`rue.optimal_surface`.
    convention : {"definition", "published"}
        ``"published"`` takes the surfaces of the authors' code
        (:mod:`rue.pareto.published_surfaces`): 91 raw angles, equal scores in row order. It
        cannot be combined with ``directions`` or ``normalize``.

    Returns
    -------
    float
        The gap, at least 0; it is 0 if ``hat`` equals ``star`` and the directions are exact. S
        contains the selector that accepts nothing, so for non-negative components the gap is at
        most the mean coverage of S*, about 1/2.

    Raises
    ------
    InputError
        If ``star`` and ``hat`` have different numbers of points, or an option is invalid.

    Examples
    --------
    Constant estimates give a random ranking, so half of the points contain half of the avoidable
    error; the best half of the points contains none.

    >>> star = Components(total=[0.5, 0.5], aleatoric=[0.0, 0.5], epistemic=[0.5, 0.0])
    >>> pareto_gap(star, Components(total=[2, 2], aleatoric=[1, 1], epistemic=[1, 1]))
    0.0416667
    >>> pareto_gap(star, star)
    0.0
    """
    if convention != "definition":
        require_convention(convention)
        if directions != "auto" or normalize:
            raise InputError(
                'convention="published" has its own directions and units: '
                "omit directions and normalize"
            )
        return published_gap(
            published_optimal(star, lambdas=lambdas), published_achievable(star, hat)
        )
    optimal = optimal_surface(star, lambdas=lambdas).points
    _, fronts = achievable_fronts(star, hat, directions)
    coverage, risk, regret = fronts.accepted / len(star), fronts.risk, fronts.regret
    if normalize:
        risk_unit, regret_unit = _unit("total", star.total), _unit("epistemic", star.epistemic)
        optimal = optimal / [1.0, risk_unit, regret_unit]
        risk, regret = risk / risk_unit, regret / regret_unit
    return igd_plus(optimal, coverage, risk, regret)


def igd_plus(
    reference: FloatArray, coverage: FloatArray, risk: FloatArray, regret: FloatArray
) -> float:
    """Return IGD+, the mean over reference points of the least d+ to any of the points.

    It is fast if the points share few values of the coverage, and if for each value few points
    are not dominated.

    Parameters
    ----------
    reference : array of shape (n_reference, 3)
        Coverage, risk and regret of the reference points.
    coverage, risk, regret : array of shape (n,)
        The points, sorted by coverage, then by risk.

    Returns
    -------
    float
        The mean distance.

    Examples
    --------
    >>> reference = np.array([[0.5, 0.1, 0.0]])
    >>> igd_plus(reference, np.array([0.5]), np.array([0.4]), np.array([0.0]))
    0.3
    """
    from rue._kernels.pareto import least_deficits, nest
    from rue._kernels.threads import each

    levels = np.flatnonzero(np.diff(coverage, prepend=-np.inf))
    fronts = nest(np.append(levels, len(coverage)), coverage[levels], risk, regret)
    distance = np.empty(len(reference))
    cuts = np.linspace(0, len(reference), min(64, len(reference)) + 1).astype(np.int64)

    def measure(i: int) -> None:
        part = slice(cuts[i], cuts[i + 1])
        least_deficits(reference[part], *fronts, distance[part])

    each(measure, range(len(cuts) - 1))
    return float(distance.mean())


def surface_gap(optimal: Surface, achievable: Surface) -> float:
    """Return the Pareto-gap of two surfaces that are known already."""
    return igd_plus(optimal.points, *np.ascontiguousarray(achievable.points.T))


def published_gap(optimal: FloatArray, achievable: FloatArray) -> float:
    """Return IGD+ from an optimal to an achievable surface, each of shape (..., 3)."""
    points = achievable.reshape(-1, 3)
    points = points[np.lexsort((points[:, 2], points[:, 1], points[:, 0]))]
    return igd_plus(np.ascontiguousarray(optimal.reshape(-1, 3)), *np.ascontiguousarray(points.T))


def _unit(name: str, component: FloatArray) -> float:
    """Return the divisor of a component: its mean, or 1 if it is 0 everywhere."""
    mean = float(component.mean())
    if mean <= 0.0 and component.any():
        raise InputError(f"normalize=True needs a positive mean of star.{name}, got {mean}")
    return mean or 1.0

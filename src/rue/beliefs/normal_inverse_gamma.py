"""NormalInverseGamma: one normal-inverse-gamma distribution per point, evidential regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import LARGEST, FloatArray, as_vector, kept, require_between
from rue.beliefs.real import RealBelief
from rue.losses._student import student_distance, student_quantile, student_scale, student_spread
from rue.losses.base import Expectation
from rue.losses.outcomes import RealNumbers
from rue.losses.real import Ragged, RealLoss


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class NormalInverseGamma(RealBelief):
    r"""A normal-inverse-gamma distribution of a normal's mean and variance: evidential regression.

    The variance :math:`\sigma^2` is inverse-gamma with parameters :math:`\alpha` and :math:`\beta`;
    given the variance, the mean is :math:`N(\mu, \sigma^2 / \nu)`. The mixture is Student's t with
    :math:`2 \alpha` degrees of freedom around :math:`\mu`.

    Parameters
    ----------
    mu, nu, alpha, beta : array_like of shape (n_points,)
        The four parameters. ``nu`` and ``beta`` are above 0 and ``alpha`` above 0.5; squared
        loss needs ``alpha`` above 1, or the variance is infinite.
    ids : array_like of shape (n_points,), optional
        The names of the points, different from each other: text or whole numbers.
    method : str
        The name of the method.
    actions : array_like of shape (n_points,) or (n_points, n_values), optional
        The actions of a deployed predictor; see :func:`rue.realize`.

    Raises
    ------
    InputError
        If a number is not finite or outside of these limits.
    ShapeError
        If the four do not have the same shape (n_points,).

    Notes
    -----
    The four numbers of an evidential network are not identified by its likelihood, which depends
    on nu and beta through beta (1 + nu)/nu alone: what the network calls epistemic is left to its
    regulariser and its training (Meinert et al. 2023).

    Examples
    --------
    >>> import rue
    >>> belief = rue.NormalInverseGamma(mu=[0.0], nu=[2.0], alpha=[3.0], beta=[4.0])
    >>> rue.decompose(belief, "squared")  # doctest: +ELLIPSIS
    Components(total=array([3.]), aleatoric=array([2.]), epistemic=array([1.]), ...)
    """

    mu: FloatArray
    nu: FloatArray
    alpha: FloatArray
    beta: FloatArray

    _ROWS = ("mu", "nu", "alpha", "beta")

    def __init__(
        self,
        mu: ArrayLike,
        nu: ArrayLike,
        alpha: ArrayLike,
        beta: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        method: str = "",
        actions: ArrayLike | None = None,
    ) -> None:
        first = as_vector("mu", mu)
        arrays = {"mu": first}
        for name, data in (("nu", nu), ("alpha", alpha), ("beta", beta)):
            arrays[name] = as_vector(name, data, len(first))
        require_between("mu", first, -LARGEST, LARGEST)
        require_between("nu", arrays["nu"], 1e-100, 1e100, above=0.0)
        require_between("alpha", arrays["alpha"], 0.5, 1e100, above=0.5)
        require_between("beta", arrays["beta"], 1e-200, 1e200, above=0.0)
        parameters = {"mu": mu, "nu": nu, "alpha": alpha, "beta": beta}
        arrays = {name: kept(array, parameters[name]) for name, array in arrays.items()}
        self._name(RealNumbers(), ids, method, actions, **arrays)

    @property
    def description(self) -> str:
        """What the belief holds for each point, for a reader."""
        return "a normal-inverse-gamma distribution per point"

    def expectation(self, loss: RealLoss) -> Expectation:
        """Return closed forms."""
        return loss.expect_normal_inverse_gamma(self.nu, self.alpha, self.beta)

    def mixture_mean(self) -> FloatArray:
        """Return mu."""
        return self.mu

    def mixture_quantile(self, q: float) -> FloatArray:
        """Return the quantile of Student's t."""
        if q == 0.5:
            return self.mu
        return np.asarray(self.mu + self._scale() * student_quantile(q, self.alpha))

    def mixture_spread(self) -> FloatArray:
        """Return E|X - X'|/2 of Student's t."""
        return np.asarray(self._scale() * student_spread(self.alpha))

    def mixture_distances(self, answers: Ragged) -> FloatArray:
        """Return E|X - y| of Student's t."""
        scale = answers.repeat(self._scale())
        t = (answers.values - answers.repeat(self.mu)) / scale
        return np.asarray(scale * student_distance(t, answers.repeat(self.alpha)))

    def _scale(self) -> FloatArray:
        return student_scale(self.nu, self.alpha, self.beta)

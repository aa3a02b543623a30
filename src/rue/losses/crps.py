"""Continuous ranked probability score: the action is a distribution of real numbers."""

from typing import TYPE_CHECKING, final

from rue.losses._ranked import RankedProbability

if TYPE_CHECKING:
    from rue.losses.real import RealLoss


@final
class CRPS(RankedProbability):
    r"""Continuous ranked probability score of real-valued outcomes.

    For X and X' drawn from the action F, the loss is

    .. math:: \int (F(x) - 1[y \le x])^2\, dx = E|X - y| - \tfrac12 E|X - X'|.

    Its Bayes risk is :math:`\tfrac12 E|Y - Y'|` and its regret the integral of the squared
    difference of the two cumulative distributions. Of classes on a scale of ``values`` it is the
    ranked probability score (:class:`~rue.RPS`).

    Examples
    --------
    >>> import rue
    >>> rue.decompose(rue.Gaussians([[0.0, 0.0]], [[1.0, 1.0]]), rue.CRPS()).epistemic
    array([0.])
    """

    name = "crps"

    def real(self) -> "RealLoss":
        """Return the loss for real-valued outcomes."""
        from rue.losses.real import RealCRPS

        self.require_no_values()
        return RealCRPS()

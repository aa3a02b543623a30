"""Ranked probability score: the action is a distribution, compared by cumulative sums."""

from typing import final

from rue.losses._ranked import RankedProbability


@final
class RPS(RankedProbability):
    r"""Ranked probability score on the scale of ``values``.

    The loss is :math:`\sum_j w_j (A_j - 1[y \le j])^2` with :math:`w_j = v_{j+1} - v_j` and A the
    cumulative distribution of the action. It is the continuous ranked probability score (CRPS) for
    classes on a scale. Unlike the Brier score, it penalises probability more if it is farther from
    the answer. For two classes with distance 1 it is half the Brier score.

    Parameters
    ----------
    values : array_like of shape (n_classes,), optional
        The increasing numbers that the classes stand for, by default 0..K-1.

    Examples
    --------
    >>> from rue import RPS
    >>> import numpy as np
    >>> RPS().risk(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]]))
    array([2.])
    """

    name = "rps"
    only_for_classes = "its twin for real numbers is crps"

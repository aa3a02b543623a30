"""What a number is measured against: regret without the bias of finitely many answers."""

import numpy as np

from rue._arrays import FloatArray
from rue.components import Run
from rue.losses.real import round_to_digits

__all__ = ["UNBIASED_LOSSES", "ratio_to_random", "unbiased_regret"]

UNBIASED_LOSSES = ("squared", "brier", "rps", "crps")
"""The losses whose regret has an unbiased estimate from two answers per point."""


def unbiased_regret(run: Run) -> FloatArray | None:
    """Return the unbiased regret of each point; None if the loss or the answers have none."""
    star = run.star
    if run.loss_name not in UNBIASED_LOSSES:
        return None
    if star.aleatoric_high is None or star.n_annotators is None:
        return None  # a point has one answer, or the components are not the plug-in ones
    exact = np.isinf(star.n_annotators)
    m = np.where(exact, 2.0, star.n_annotators)
    regret = round_to_digits(star.total - star.aleatoric * (m / (m - 1)), star.total)
    return np.where(exact, star.epistemic, regret)


def ratio_to_random(area: FloatArray, mean: FloatArray) -> FloatArray:
    """Return areas in units of that of a random ranking; NaN where the mean is not above 0."""
    ratio = np.full(len(area), np.nan)
    np.divide(area, mean / 2, out=ratio, where=mean > 0)
    return ratio

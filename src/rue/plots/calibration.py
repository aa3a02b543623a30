"""Reliability diagrams: realised regret against estimated epistemic uncertainty."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from rue.components import Run
from rue.errors import InputError
from rue.inference.reliability_bands import calibration_bands
from rue.plots.style import GREY, PALETTE, axes_of, look

__all__ = ["plot_regret_calibration"]


def plot_regret_calibration(
    runs: Sequence[Run],
    *,
    bins: int = 10,
    level: float = 0.95,
    n_replicates: int = 500,
    seed: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean realised regret against the mean estimated epistemic uncertainty of bins.

    The estimates of a method on the diagonal mean what they say; above it, they are too small.
    Bands are bootstrap intervals of each bin.

    Parameters
    ----------
    runs : sequence of Run
        The methods, one line each.
    bins : int
        The largest number of bins, as in :func:`rue.regret_calibration`.
    level : float
        The confidence level of the bands.
    n_replicates : int
        The number of bootstrap samples.
    seed : int
        Seed of the samples.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    InputError
        If the epistemic score of a run has no unit.

    Examples
    --------
    >>> from rue.plots import plot_regret_calibration
    >>> import numpy as np
    >>> from rue import Components, Run
    >>> regret = np.random.default_rng(0).gamma(1.0, size=200)
    >>> star = Components(regret + 1, np.ones(200), regret)
    >>> plot_regret_calibration([Run(star, star, method="oracle")]).get_ylabel()
    'mean realised regret'
    """
    for run in runs:
        if run.hat.outside_score:
            raise InputError(
                f"runs must have epistemic uncertainty in the unit of the loss, but the score of "
                f"{run.method or 'a run'} comes from another source; recalibrate it first "
                "(rue.fit_recalibration)"
            )
    with look():
        axes = axes_of(ax, (4.2, 3.6))
        ends = []
        for i, run in enumerate(runs):
            bands = calibration_bands(
                run.star.epistemic,
                run.hat.epistemic,
                bins=bins,
                level=level,
                n_replicates=n_replicates,
                seed=seed,
            )
            colour, curve = PALETTE[i % len(PALETTE)], bands.curve
            axes.fill_between(curve.estimated, bands.low, bands.high, color=colour, alpha=0.2, lw=0)
            label = f"{run.method}, gap {curve.gap:.3g}"
            axes.plot(curve.estimated, curve.realised, "o-", color=colour, ms=3, label=label)
            ends += [curve.estimated.min(), curve.estimated.max()]
        axes.plot([min(ends), max(ends)], [min(ends), max(ends)], "--", color=GREY, lw=1)
        axes.set_xlabel("mean estimated epistemic uncertainty")
        axes.set_ylabel("mean realised regret")
        axes.legend()
    return axes

"""Reliability diagrams: what is observed against what a method predicts, in bins."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from rue.components import Run
from rue.errors import InputError
from rue.inference.reliability_bands import CalibrationBands, calibration_bands
from rue.metrics.second_order import Pair, few_answers
from rue.plots.style import GREY, PALETTE, axes_of, line_styles, look, loss_title, put_bars_on_grid


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
    options: Any = {"bins": bins, "level": level, "n_replicates": n_replicates, "seed": seed}
    bands = [calibration_bands(r.star.epistemic, r.hat.epistemic, **options) for r in runs]
    labels = [f"{run.method}, gap {b.curve.gap:.3g}" for run, b in zip(runs, bands, strict=True)]
    losses = {run.loss_name for run in runs}
    unit = _unit(losses.pop()) if len(losses) == 1 else ""
    titles = f"mean estimated epistemic uncertainty{unit}", f"mean realised regret{unit}"
    return _diagram(bands, [run.method for run in runs], labels, titles, ax)


def plot_agreement(
    runs: Sequence[Run],
    *,
    bins: int = 10,
    level: float = 0.95,
    n_replicates: int = 500,
    seed: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often two annotators agree against how often a method predicts it, in bins.

    A method on the diagonal predicts the agreement of annotators; above it, annotators agree more
    often than it predicts, because its distributions are too flat. Bands are bootstrap intervals
    of each bin.

    Parameters
    ----------
    runs : sequence of Run
        The methods, one line each, made by :meth:`rue.Run.from_belief` from beliefs about classes.
    bins, level, n_replicates, seed, ax
        As in :func:`plot_regret_calibration`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    InputError
        If a run lacks its belief about classes, or a point has one answer.

    Examples
    --------
    >>> from rue.plots import plot_agreement
    >>> import numpy as np, rue
    >>> rng = np.random.default_rng(0)
    >>> truth = rue.Annotations(rng.multinomial(5, rng.dirichlet(np.ones(3), 200)))
    >>> belief = rue.Dirichlet(rng.gamma(2.0, size=(200, 3)))
    >>> plot_agreement([rue.Run.from_belief(truth, belief, method="a")]).get_xlabel()
    'predicted probability that two annotators agree'
    """
    options: Any = {"bins": bins, "level": level, "n_replicates": n_replicates, "seed": seed}
    bands, labels = [], []
    for run in runs:
        predicted, observed = run.once(Pair("agreement_hat")), run.once(Pair("agreement_star"))
        if predicted is None or observed is None:
            why = few_answers(run) or "it has no belief about classes with answers"
            raise InputError(f"the agreement of {run.method or 'a run'} cannot be drawn: {why}")
        bands.append(calibration_bands(observed, predicted, **options))
        labels.append(f"{run.method}, {predicted.mean():.3f} against {observed.mean():.3f}")
    titles = "predicted probability that two annotators agree", "observed share of pairs that agree"
    return _diagram(bands, [run.method for run in runs], labels, titles, ax)


def _unit(loss: str) -> str:
    """Return the unit of a loss in brackets; empty if there is none."""
    return {"": "", "log": " (nats)"}.get(loss, f" ({loss_title(loss)} loss)")


def _diagram(
    bands: Sequence[CalibrationBands],
    methods: Sequence[str],
    labels: Sequence[str],
    titles: tuple[str, str],
    ax: Axes | None,
) -> Axes:
    """Draw one line with its band for each method, and the diagonal."""
    with look():
        axes = axes_of(ax, (4.2, 4.2))
        ends = []
        styles = line_styles(methods)
        for method, band, label in zip(methods, bands, labels, strict=True):
            style, curve = styles[method], band.curve
            shade = style["color"]
            axes.fill_between(curve.estimated, band.low, band.high, color=shade, alpha=0.2, lw=0)
            axes.plot(curve.estimated, curve.realised, **style, ms=3.5, lw=1.2, label=label)
            ends += [*curve.estimated, *curve.realised, *band.high]
        end = 1.02 * max(ends) or 1.0
        axes.plot([0, end], [0, end], "--", color=GREY, lw=1)
        text = axes.text(0.97 * end, 0.97 * end, "equal", color=GREY, fontsize=8, rotation=45)
        text.set(rotation_mode="anchor", ha="right", va="bottom")
        axes.set(xlim=(0, end), ylim=(0, end), aspect="equal", xlabel=titles[0], ylabel=titles[1])
        axes.legend()
    return axes


def plot_regret_parts(rows: Sequence[Mapping[str, Any]], *, ax: Axes | None = None) -> Axes:
    """Draw the mean regret of each row as a bar of approximation and estimation.

    A diamond is the regret that the method predicts, its mean epistemic uncertainty. Where the
    mean estimation is negative, its bar goes down from the top of the approximation.

    Parameters
    ----------
    rows : sequence of mapping
        Rows with ``name``, ``approximation`` and ``estimation``, and ``predicted_regret`` if it
        has the unit of the loss.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    InputError
        If there is no row.

    Examples
    --------
    >>> from rue.plots import plot_regret_parts
    >>> axes = plot_regret_parts([{"name": "a", "approximation": 0.1, "estimation": 0.2}])
    >>> [text.get_text() for text in axes.get_xticklabels()]
    ['a']
    """
    if not rows:
        raise InputError("rows must have at least one row, got none")
    with look():
        axes = axes_of(ax, (0.5 * len(rows) + 2.0, 3.0))
        places = np.arange(len(rows))
        first, more = ([row[key] for row in rows] for key in ("approximation", "estimation"))
        axes.bar(places, first, color=GREY, width=0.65, label="approximation")
        axes.bar(places, more, bottom=first, color=PALETTE[0], width=0.65, label="estimation")
        predicted = np.array([row.get("predicted_regret") for row in rows], float)  # None: NaN
        axes.plot(places, predicted, "D", color=PALETTE[1], markersize=5, label="predicted")
        axes.set_xticks(places, [row["name"] for row in rows])
        put_bars_on_grid(axes, "y")
        axes.set_ylim(bottom=0)
    return axes

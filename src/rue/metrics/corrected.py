"""Columns corrected for finitely many annotators, by halving them.

Excess AuReC, n-AuReC, the realised rank correlation and the Pareto-gap are not linear in the
regret, so the bracket of AuReC does not carry over to them. Their plug-in bias is about c/m for m
answers a point, so with half of the answers it is about 2c/m, and

    2 value(m) - value(m/2)

is free of it to first order. value(m/2) is the mean over both halves of several random splits,
each half weighted by its share of the answers: (k/m) c/k + (1 - k/m) c/(m - k) = 2c/m for any k.
n-AuReC is a ratio of two areas, whose biases are about c/m; that of the ratio is not. So its
numerator (the excess) and its denominator (random - oracle) are corrected before dividing.
"""

import numpy as np

from rue._arrays import FloatArray
from rue.components import Components
from rue.errors import InputError, ShapeError
from rue.metrics.agreement import spearman
from rue.metrics.curve_areas import areas
from rue.pareto.gap import pareto_gap
from rue.truth.answer_losses import Answers
from rue.truth.rating_answers import RatingAnswers

__all__ = ["CORRECTED", "corrected_columns"]

CORRECTED = ("excess_aurec", "n_aurec", "spearman_star", "pareto_gap")
"""The columns that have a ``*_corrected`` twin."""

N_SPLITS = 16


def corrected_columns(
    answers: Answers | RatingAnswers,
    hat: Components,
    *,
    gap: bool = True,
    n_splits: int = N_SPLITS,
    seed: int = 0,
) -> dict[str, float]:
    """Return the columns that the bracket does not cover, corrected for finitely many annotators.

    Parameters
    ----------
    answers
        What each answer about each of n_points points costs
        (:func:`rue.truth.answer_losses.answers`).
    hat
        The estimated components of the same points.
    gap
        Whether to correct the Pareto-gap too, which takes longer than all the rest.
    n_splits
        How many random splits of the annotators into halves.
    seed
        Of the splits.

    Returns
    -------
    dict
        ``excess_aurec_corrected``, ``n_aurec_corrected``, ``spearman_star_corrected`` and
        ``pareto_gap_corrected``; NaN for all if a point has one answer, and for a column that is
        undefined, also if the corrected denominator of n-AuReC is not positive.

    Raises
    ------
    ShapeError
        If ``answers`` and ``hat`` have different numbers of points.

    Examples
    --------
    >>> from rue import Annotations, Draws, decompose
    >>> from rue.truth.answer_losses import answers
    >>> rng = np.random.default_rng(0)
    >>> truth = Annotations(rng.multinomial(10, rng.dirichlet([1, 1], 200)))
    >>> belief = Draws(rng.dirichlet([1, 1], (200, 5)))
    >>> found = corrected_columns(answers(truth, belief), decompose(belief), gap=False)
    >>> list(found)[:2]
    ['excess_aurec_corrected', 'n_aurec_corrected']
    """
    if len(answers) != len(hat):
        raise ShapeError(
            f"answers and hat must have the same points, got {len(answers)} and {len(hat)}"
        )
    if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer) or n_splits < 1:
        raise InputError(f"n_splits must be a whole number of at least 1, got {n_splits!r}")
    if answers.n_answers.min() < 2:
        return {f"{name}_corrected": float("nan") for name in CORRECTED}
    whole = _values(Components(*answers.realized()), hat, gap)
    rng = np.random.default_rng(seed)
    halves, shares = [], []
    for _ in range(n_splits):
        for half in answers.halves(rng):
            halves.append(_values(Components(*half.realized()), hat, gap))
            shares.append(half.n_answers.sum())
    fewer = np.average(halves, axis=0, weights=shares)  # NaN if a half leaves a column undefined
    excess, span, rank, surface = 2 * whole - fewer
    found = (excess, excess / span if span > 0 else float("nan"), rank, surface)
    return {f"{name}_corrected": float(value) for name, value in zip(CORRECTED, found, strict=True)}


def _values(star: Components, hat: Components, gap: bool) -> FloatArray:
    """Return the excess and the span of AuReC, Spearman star and the Pareto-gap."""
    found = areas(star.epistemic, hat.epistemic)
    return np.array(
        [
            found.excess,
            found.random - found.oracle,
            spearman(star.aleatoric, star.epistemic),
            pareto_gap(star, hat) if gap else float("nan"),
        ]
    )

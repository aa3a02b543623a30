"""Columns corrected for finitely many annotators, by halving them.

Excess AuReC, n-AuReC, the realised rank correlation and the Pareto-gap are not linear in the
regret, so the bracket of AuReC does not carry over to them. Their plug-in bias is about c/m for m
answers a point, so with half of the answers it is about 2c/m, and

    2 value(m) - value(m/2)

is free of it to first order. value(m/2) is the mean over both halves of several random splits,
each half weighted by its share of all answers. Where all points are halved in the same proportion
k/m this is exact for any k: (k/m) c/k + (1 - k/m) c/(m - k) = 2c/m. Where their numbers of answers
differ, so do the proportions (2 of 5, 4 of 10), and it is an approximation.
n-AuReC is a ratio of two areas, whose biases are about c/m; that of the ratio is not. So its
numerator (the excess) and its denominator (random - oracle) are corrected before dividing.

Points are sorted by their own values before their answers are halved, so the results do not depend
on the order of the points. They do depend, within the noise of the splits, on that of the classes.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from rue._arrays import FloatArray, IntArray
from rue.components import Components, Run
from rue.errors import InputError, ShapeError
from rue.losses import Loss
from rue.metrics.measures import exact_areas, spearman
from rue.metrics.statistics import Sample
from rue.pareto.gap import pareto_gap
from rue.truth.answer_losses import Answers, answers

CORRECTED = ("excess_aurec", "n_aurec", "n_aurec_total", "spearman_star", "pareto_gap")
"""The columns that have a ``*_corrected`` twin."""

N_SPLITS = 16
LEAST_ANSWERS, MOST_POINTS = 4, 100_000
"""n-AuReC is corrected by default with so many answers about every point, and so many points."""


def corrected_columns(
    answers: Answers,
    hat: Components,
    *,
    gap: bool = True,
    n_splits: int = N_SPLITS,
    seed: int = 0,
) -> dict[str, float]:
    """Return the columns without a bracket, corrected for finitely many annotators."""
    return _correct(answers, hat, gap=gap, n_splits=n_splits, seed=seed)[0]


@dataclass(frozen=True)
class Corrected:
    """The column of a sample, corrected for finitely many annotators."""

    column: str

    def __call__(self, sample: Sample) -> float:
        """Return the number of a sample."""
        key = f"{self.column}_corrected"
        columns = _requested_columns if key in sample.request else _default_columns
        return float(sample.once(columns)[key])


def gap_of(sample: Sample) -> float:
    """Return the Pareto-gap as asked: known already, computed, or NaN."""
    if not isinstance(sample.gap, bool):
        return sample.gap
    run = sample.run
    return pareto_gap(run.star, run.hat, convention=run.convention) if sample.gap else math.nan


def run_answers(run: Run) -> Answers | None:
    """Return what each answer costs, as the run has it or from its belief; None if unknown."""
    truth, belief = run.annotations, run.belief
    if run.answers is not None or truth is None or not truth.has_answers or belief is None:
        return run.answers
    if not isinstance(run.loss, Loss):
        return None  # only its name is known
    return answers(truth, belief, run.loss, actions=belief.placed_actions(run.loss))


def _default_columns(sample: Sample) -> dict[str, float]:
    """Return n-AuReC corrected, where points have enough answers and are not too many."""
    run, columns = sample.run, {f"{name}_corrected": math.nan for name in CORRECTED}
    m = run.star.n_annotators
    if sample.references is False or run.convention == "published" or m is None:
        return columns
    if m.min() < LEAST_ANSWERS or np.isinf(m).any() or len(run) > MOST_POINTS:
        return columns
    costs = run.once(run_answers)
    if costs is None:
        return columns
    columns, notes = _correct(costs, run.hat, gap=False, rank=False)
    sample.notes += [note for note in notes if note[0].startswith("n_aurec")]
    _note_few(sample)
    return columns


def _note_few(sample: Sample) -> None:
    """Note that the ranking by total is corrected roughly where a point has few answers."""
    m = sample.run.star.n_annotators
    if m is not None and m.min() < 8:
        rough = f"is rough: half of {m.min():.0f} answers are few, so it may be corrected too much"
        sample.notes.append(("n_aurec_total_corrected", rough))


def _requested_columns(sample: Sample) -> dict[str, float]:
    """Return the corrected columns of a sample, and note in it what is empty or unreliable."""
    run = sample.run
    costs = run.once(run_answers)
    if costs is not None:
        columns, notes = _correct(
            costs, run.hat, gap=sample.gap is not False and sample.once(gap_of)
        )
        sample.notes += notes
        _note_few(sample)
        return columns
    n_annotators = run.star.n_annotators
    exact = n_annotators is not None and bool(np.isinf(n_annotators).all())
    why = (
        "p* is known exactly, so there is nothing to correct"
        if exact
        else "the answers are not known, so they cannot be halved"
    )
    sample.notes.append(("", f"{why}: the corrected columns are empty"))
    return {f"{name}_corrected": math.nan for name in CORRECTED}


def _correct(
    answers: Answers,
    hat: Components,
    *,
    gap: bool | float = True,
    rank: bool = True,
    n_splits: int = N_SPLITS,
    seed: int = 0,
) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """Return the corrected columns, and for each that is empty or unreliable its key and why."""
    if len(answers) != len(hat):
        raise ShapeError(
            f"answers and hat must have the same points, got {len(answers)} and {len(hat)}"
        )
    if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer) or n_splits < 1:
        raise InputError(f"n_splits must be a whole number of at least 1, got {n_splits!r}")
    if answers.n_answers.min() < 2:
        why = "some point has one answer, so they cannot be halved: the corrected columns are empty"
        return {f"{name}_corrected": math.nan for name in CORRECTED}, [("", why)]
    rows = np.lexsort((*answers.keys(), hat.aleatoric, hat.epistemic, hat.total))
    answers, hat = answers[rows], hat[rows]  # so that the order of the points does not matter
    orders = np.argsort(hat.epistemic, kind="stable"), np.argsort(hat.total, kind="stable")
    whole = _values(answers.realized(), hat, orders, rank, gap)
    gap = gap is not False
    rng = np.random.default_rng(seed)
    splits = np.empty((n_splits, len(whole)))
    for split in splits:
        halves = answers.halves(rng)
        values = [_values(half.realized(), hat, orders, rank, gap) for half in halves]
        split[:] = np.average(values, axis=0, weights=[half.n_answers.sum() for half in halves])
    fewer = splits.mean(axis=0)  # NaN if a half leaves a column undefined
    excess, span, by_total, correlation, surface = 2 * whole - fewer
    ratios = np.array([excess, by_total]) / (span if span > 0 else math.nan)
    corrected = (excess, *ratios, correlation, surface)
    error = float(splits[:, 1].std(ddof=1)) / n_splits**0.5 if n_splits > 1 else 0.0
    notes = _span_notes(float(span), float(whole[1]), error)
    where = {
        "spearman_star": (whole[3], correlation, rank),
        "pareto_gap": (whole[4], surface, gap),
    }
    for name, (plain, better, wanted) in where.items():
        if np.isnan(better) and wanted:
            few = " (a half of 2 or 3 answers may have one)" if answers.n_answers.min() < 4 else ""
            part = "all answers" if np.isnan(plain) else f"half of the answers{few}"
            why = f"is empty: with {part} the column is undefined"
            notes.append((f"{name}_corrected", why))
    names = (f"{name}_corrected" for name in CORRECTED)
    return dict(zip(names, map(float, corrected), strict=True)), notes


def _span_notes(span: float, plain: float, error: float) -> list[tuple[str, str]]:
    """Return what is to be said of the denominator of the corrected n-AuReC."""
    between = "the difference of the random and the oracle ranking's AuReC"
    if not span > 0:
        why = f"is empty: {between}, corrected, is {span:.3g} and not above 0"
    elif span < plain / 2 or span < 2 * error:
        why = (
            f"is unreliable: it divides by {between}, which is {span:.3g} corrected, "
            f"{100 * span / plain:.0f} % of the plain one"
        )
    else:
        return []
    return [("n_aurec_corrected", why)]


def _values(
    star: Components,
    hat: Components,
    orders: tuple[IntArray, IntArray],
    rank: bool,
    gap: bool | float,
) -> FloatArray:
    """Return the excess, span and excess by total of AuReC, Spearman star and the Pareto-gap.

    ``gap`` is whether to compute the gap, or the gap.
    """
    from rue._kernels import sorting

    by_epistemic = exact_areas(star.epistemic, hat.epistemic, orders[0])
    by_total, _ = sorting.areas(star.epistemic, hat.total, np.empty(0), orders[1], False)
    return np.array(
        [
            by_epistemic.excess,
            by_epistemic.random - by_epistemic.oracle,
            replace(by_epistemic, area=float(by_total)).excess,
            spearman(star.aleatoric, star.epistemic) if rank else math.nan,
            pareto_gap(star, hat) if gap is True else math.nan if gap is False else gap,
        ]
    )

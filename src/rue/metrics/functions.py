"""Columns that are neither means nor areas: functions of a sample."""

import math

from rue.metrics.measures import aurc, regret_calibration
from rue.metrics.statistics import Hat, Sample, Star
from rue.pareto.gap import pareto_gap

__all__ = [
    "bracket_high",
    "bracket_low",
    "calibration_of",
    "fewest_annotators",
    "gap_of",
    "mean_annotators",
    "most_annotators",
]


def bracket_low(sample: Sample) -> float:
    """Return the lower end of the bracket of AuReC: AuReC itself if p* is known."""
    star, hat = sample.run.star, sample.run.hat
    if star.aleatoric_high is None:
        return math.nan
    width = aurc(star.aleatoric_high - star.aleatoric, hat.epistemic, rule=sample.rule)
    return sample.area(Star("epistemic"), Hat("epistemic")) - width


def bracket_high(sample: Sample) -> float:
    """Return the upper end of the bracket of AuReC, the plug-in; NaN if annotators are unknown."""
    star = sample.run.star
    single = star.n_annotators is not None and star.n_annotators.min() < 2
    if star.aleatoric_high is None and not single:
        return math.nan
    return sample.area(Star("epistemic"), Hat("epistemic"))


def gap_of(sample: Sample) -> float:
    """Return the Pareto-gap as asked: known already, computed, or NaN."""
    if not isinstance(sample.gap, bool):
        return sample.gap
    run = sample.run
    return pareto_gap(run.star, run.hat, convention=run.convention) if sample.gap else math.nan


def calibration_of(sample: Sample) -> float:
    """Return the gap of regret calibration; NaN for a score without the unit of the loss."""
    star, hat = sample.run.star, sample.run.hat
    return math.nan if hat.outside_score else regret_calibration(star.epistemic, hat.epistemic).gap


def fewest_annotators(sample: Sample) -> float:
    """Return the least number of annotators of a point; NaN if it is unknown."""
    n_annotators = sample.run.star.n_annotators
    return math.nan if n_annotators is None else float(n_annotators.min())


def mean_annotators(sample: Sample) -> float:
    """Return the mean number of annotators of a point; NaN if it is unknown."""
    n_annotators = sample.run.star.n_annotators
    return math.nan if n_annotators is None else float(n_annotators.mean())


def most_annotators(sample: Sample) -> float:
    """Return the largest number of annotators of a point; NaN if it is unknown."""
    n_annotators = sample.run.star.n_annotators
    return math.nan if n_annotators is None else float(n_annotators.max())

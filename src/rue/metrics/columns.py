"""The result columns: the name, format, direction, explanation and computation of each number.

Evaluation, intervals, comparisons, plans, tables, the report, the rankings, the published tables
and the command line all read :data:`COLUMNS`. To add a column, add an entry there.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from rue._arrays import FloatArray
from rue.components import Run
from rue.losses.real import round_to_digits
from rue.metrics.corrected import Corrected, gap_of
from rue.metrics.floor import NAMES, Reference
from rue.metrics.limits import CURVES, AtCoverage, AtLimit
from rue.metrics.measures import aurc, regret_calibration
from rue.metrics.person import Parity, TeamCoverage, TeamRisk
from rue.metrics.second_order import Pair, few_answers
from rue.metrics.statistics import (
    Area,
    Combination,
    Correlation,
    Excess,
    Function,
    Hat,
    Mean,
    Normalized,
    Sample,
    Star,
    Statistic,
)


@dataclass(frozen=True, kw_only=True)
class Column:
    """One result column.

    Attributes
    ----------
    key : str
        The attribute of :class:`rue.Evaluation` and the key in JSON and CSV.
    title, latex : str
        The heading in tables, and in LaTeX if it differs.
    digits : int
        The number of decimals.
    better : {"low", "high", "zero", ""}
        Which values are better: low ones, high ones, those near 0, or none.
    kind : {"regret", "proxy", "other", "fact"}
        ``regret`` for the paper's criteria, ``proxy`` for the tasks by which epistemic
        uncertainty is commonly evaluated, ``other`` for further criteria, ``fact`` for numbers
        that do not evaluate an uncertainty.
    unit : str
        ``loss`` if the number has the unit of the loss, else what is counted; empty for a number
        without a unit.
    statistic : Statistic or None
        How the number is computed from a run, with its bootstrap replicates
        (:mod:`rue.metrics.statistics`); None if an evaluation does not have it.
    in_table : bool
        Whether tables show the column if a row has it.
    on_request : bool
        Whether a row has the number only if it was asked for; tables show the column then.
    compared : bool
        Whether methods are compared by it, though no end of it is better; columns of which low or
        high values are better always are.
    simulated : bool
        Whether it is a mean over simulated answers, exact only up to its Monte-Carlo error.
    meaning : str
        A short description.
    explanation : str
        Whole sentences for the report; empty if the report does not show the column.
    reason : callable, optional
        Why a run has no such number, for a note; empty if there is nothing to say.
    """

    key: str
    title: str
    digits: int
    statistic: Statistic | None = None
    better: Literal["low", "high", "zero", ""] = ""
    kind: Literal["regret", "proxy", "other", "fact"] = "fact"
    unit: str = ""
    in_table: bool = False
    on_request: bool = False
    compared: bool = False
    simulated: bool = False
    meaning: str
    explanation: str = ""
    latex: str = ""
    reason: Callable[[Run], str] | None = None

    def cost(self, values: FloatArray) -> FloatArray:
        """Return numbers of which the lowest is the best, with the shape of ``values``."""
        return {"high": -values, "zero": np.abs(values)}.get(self.better, values)

    @property
    def interval(self) -> Literal["bca", "percentile", ""]:
        """The default bootstrap interval: BCa if influences have a formula, percentile, or none."""
        return "" if self.statistic is None else self.statistic.interval


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


def calibration_of(sample: Sample) -> float:
    """Return the gap of regret calibration; NaN for a score without the unit of the loss."""
    star, hat = sample.run.star, sample.run.hat
    return math.nan if hat.outside_score else regret_calibration(star.epistemic, hat.epistemic).gap


def annotators(summary: Callable[[FloatArray], Any]) -> Function:
    """Return a statistic of the numbers of annotators of the points; NaN if they are unknown."""

    def number(sample: Sample) -> float:
        n_annotators = sample.run.star.n_annotators
        return math.nan if n_annotators is None else float(summary(n_annotators))

    return Function(number)


ANSWER_COLUMNS = (
    Column(
        key="pair_log_loss",
        title="pair log loss",
        digits=4,
        statistic=Mean(Pair("pair_log_loss")),
        better="low",
        kind="other",
        unit="nats",
        meaning="log loss of two answers about one point",
        explanation="Log loss of the predicted probability of two answers about the same point. "
        "It is least for a belief whose spread is right, which no score of single answers is: "
        "compare second-order predictions by this column. It does not depend on the loss.",
        reason=few_answers,
    ),
    Column(
        key="pair_gain",
        title="pair gain",
        digits=4,
        statistic=Mean(Pair("pair_gain")),
        unit="nats",
        compared=True,
        meaning="what the spread adds over independent answers",
        explanation="Twice the log loss of the mean prediction minus the pair log loss: what the "
        "spread of the belief adds over independent answers. Compare it only between beliefs with "
        "the same mean.",
        reason=few_answers,
    ),
    Column(
        key="agreement_hat",
        title="agreement hat",
        digits=3,
        statistic=Mean(Pair("agreement_hat")),
        compared=True,
        meaning="predicted probability that two annotators agree",
        explanation="Predicted probability that two annotators give the same answer. Compare it "
        "with the observed one.",
    ),
    Column(
        key="agreement_star",
        title="agreement star",
        digits=3,
        statistic=Mean(Pair("agreement_star")),
        meaning="observed probability that two annotators agree",
        explanation="Observed probability that two annotators give the same answer.",
        reason=few_answers,
    ),
    Column(
        key="person_risk",
        title="person",
        digits=4,
        statistic=Mean(Star("person")),
        unit="loss",
        meaning="risk of a person who is asked instead of the model",
        explanation="Mean loss of a person who is asked instead of the model, judged by another "
        "annotator. Under log, Brier, rps, crps and pinball loss it is that of a panel of all "
        "other annotators of the point.",
        reason=few_answers,
    ),
    Column(
        key="person_parity",
        title="parity",
        digits=3,
        statistic=Parity(),
        better="high",
        kind="other",
        meaning="coverage up to which the model costs no more than a person",
        explanation="The largest coverage at which the accepted points cost no more than a person "
        "on the same points, when ranking by total uncertainty. 1: the model is as good as a "
        "person everywhere; 0: nowhere.",
        reason=few_answers,
    ),
    Column(
        key="team_risk",
        title="team",
        digits=4,
        statistic=TeamRisk(),
        better="low",
        kind="other",
        unit="loss",
        meaning="least risk of the model with a person who gets the deferred points",
        explanation="Least mean loss of model and person together, when points of high total "
        "uncertainty are deferred to the person, at the best coverage. The fee of a deferral is "
        "part of it, if there is one.",
        reason=few_answers,
    ),
    Column(
        key="team_coverage",
        title="team coverage",
        digits=3,
        statistic=TeamCoverage(),
        meaning="coverage at which the team's risk is least",
        explanation="The share of points that the model keeps when the team costs least.",
        reason=few_answers,
    ),
)


_BY_EPISTEMIC = Area(unbiased_regret, Hat("epistemic"))
_BY_TOTAL = Area(unbiased_regret, Hat("total"))
_MEAN = Mean(unbiased_regret)

REFERENCE_COLUMNS = (
    Column(
        key="spearman_epistemic",
        title="r_s epistemic",
        latex=r"$r_s(\hat E, E^*)$",
        digits=3,
        statistic=Correlation(Hat("epistemic"), Star("epistemic")),
        better="high",
        kind="other",
        meaning="rank correlation of the estimated epistemic part and the regret",
        explanation="Rank correlation of the estimated epistemic uncertainty and the realised "
        "regret of the points.",
    ),
    Column(
        key="spearman_aleatoric",
        title="r_s aleatoric",
        latex=r"$r_s(\hat A, A^*)$",
        digits=3,
        statistic=Correlation(Hat("aleatoric"), Star("aleatoric")),
        better="high",
        kind="other",
        meaning="rank correlation of the estimated and the realised aleatoric part",
        explanation="Rank correlation of the estimated aleatoric uncertainty and the realised "
        "Bayes risk of the points.",
    ),
    Column(
        key="aurec_unbiased",
        title="AuReC unb.",
        digits=4,
        statistic=_BY_EPISTEMIC,
        better="low",
        kind="other",
        unit="loss",
        meaning="AuReC, unbiased from two answers per point",
        explanation="AuReC without the bias of finitely many annotators. Squared, Brier, rps and "
        "crps loss have it, from two answers per point on.",
    ),
    Column(
        key="regret_unbiased",
        title="regret unb.",
        digits=4,
        statistic=_MEAN,
        better="low",
        unit="loss",
        meaning="regret, unbiased from two answers per point",
        explanation="Mean regret without the bias of finitely many annotators. Squared, Brier, "
        "rps and crps loss have it, from two answers per point on.",
    ),
    Column(
        key="r_aurec",
        title="r-AuReC",
        latex="$r$-AuReC",
        digits=3,
        statistic=Combination(ratio_to_random, (_BY_EPISTEMIC, _MEAN)),
        better="low",
        kind="other",
        meaning="unbiased AuReC over that of a random ranking",
        explanation="Unbiased AuReC divided by that of a random ranking: 1 is random, lower is "
        "better. It needs no perfect ranking, so two answers per point are enough.",
    ),
    Column(
        key="r_aurec_total",
        title="r-AuReC total",
        latex="$r$-AuReC total",
        digits=3,
        statistic=Combination(ratio_to_random, (_BY_TOTAL, _MEAN)),
        better="low",
        kind="other",
        meaning="r-AuReC, ranking by the estimated total",
        explanation="r-AuReC when ranking by total uncertainty. Beside r-AuReC it shows, without "
        "the bias of few annotators, whether the epistemic part finds regret better.",
    ),
    Column(
        key="n_aurec_total_corrected",
        title="n-AuReC total corr.",
        latex="$n$-AuReC total corr.",
        digits=3,
        statistic=Function(Corrected("n_aurec_total")),
        meaning="n-AuReC by total, corrected for finitely many annotators",
        explanation="n-AuReC when ranking by total uncertainty, corrected for finitely many "
        "annotators as n-AuReC corr. is.",
    ),
    Column(
        key="n_aurec_floor",
        title="n-AuReC floor",
        latex="$n$-AuReC floor",
        digits=3,
        statistic=Function(Reference("floor")),
        simulated=True,
        meaning="the least n-AuReC that a ranking could show with these answers",
        explanation="The best n-AuReC that any ranking could show with as many answers as there "
        "are: that of a ranking which knows the distribution of the answers, but not their noise. "
        "It is simulated. Compare it with n-AuReC, not with corrected values. Under log loss it "
        "can be too low (by up to 0.07 on CIFAR-10H) if answers occur that the model takes "
        "for almost impossible; a note says so.",
    ),
    Column(
        key="n_aurec_true_regret",
        title="n-AuReC true regret",
        latex="$n$-AuReC true regret",
        digits=3,
        statistic=Function(Reference("true_regret")),
        simulated=True,
        meaning="n-AuReC of a ranking by the true regret",
        explanation="n-AuReC that a ranking by the true regret would show with as many answers "
        "as there are. It is simulated, and at least as high as the floor.",
    ),
    Column(
        key="n_aurec_expected",
        title="n-AuReC expected",
        latex="$n$-AuReC expected",
        digits=3,
        statistic=Function(Reference("expected")),
        simulated=True,
        meaning="the n-AuReC that the belief expects of itself",
        explanation="n-AuReC if the belief were right: answers are simulated from it. It is empty "
        "if the belief predicts much more or less regret than the answers show.",
    ),
    *(
        Column(
            key=f"n_aurec_{name}_error",
            title=f"{name.replace('_', ' ')} error",
            digits=4,
            statistic=Function(Reference(name, "error")),
            simulated=True,
            meaning=f"Monte-Carlo error of n-AuReC {name.replace('_', ' ')}",
        )
        for name in NAMES
    ),
)


PROXY_COLUMNS = (
    Column(
        key="near_ood",
        title="near-OOD",
        latex="Near-OOD",
        digits=3,
        better="high",
        kind="proxy",
        in_table=True,
        meaning="AUROC against similar data",
        explanation="Proxy: how well epistemic uncertainty separates these data from "
        "similar data (AUROC).",
    ),
    Column(
        key="far_ood",
        title="far-OOD",
        latex="Far-OOD",
        digits=3,
        better="high",
        kind="proxy",
        in_table=True,
        meaning="AUROC against other data",
        explanation="Proxy: how well epistemic uncertainty separates these data from very "
        "different data (AUROC).",
    ),
    Column(
        key="auac",
        title="AuAC answers",
        digits=3,
        better="high",
        kind="proxy",
        in_table=True,
        meaning="area under the accuracy-coverage curve, against the answers",
        explanation="Proxy: area under the accuracy-coverage curve when ranking by the "
        "total uncertainty. A prediction counts as right with the share of annotators who "
        "gave it.",
    ),
    Column(
        key="auac_labels",
        title="AuAC labels",
        digits=3,
        better="high",
        kind="proxy",
        in_table=True,
        meaning="area under the accuracy-coverage curve, against the labels",
        explanation="Proxy: the same area with accuracy against the labels of the data "
        "set, as in table 4 of the paper.",
    ),
    Column(
        key="nauc_epistemic",
        title="NAUC epi",
        latex="NAUC, EU",
        digits=3,
        better="high",
        kind="proxy",
        in_table=True,
        meaning="active learning by epistemic uncertainty",
        explanation="Proxy: accuracy over rounds of active learning that query by "
        "epistemic uncertainty.",
    ),
    Column(
        key="nauc_total",
        title="NAUC total",
        latex="NAUC, TU",
        digits=3,
        better="high",
        kind="proxy",
        in_table=True,
        meaning="active learning by total uncertainty",
        explanation="Proxy: accuracy over rounds of active learning that query by total "
        "uncertainty.",
    ),
)
LIMIT_COLUMNS = (
    *(
        Column(
            key=f"{curve}_at_coverage",
            title=f"{curve} at cov.",
            digits=4,
            statistic=AtCoverage(curve),
            better="low",
            unit="loss",
            on_request=True,
            meaning=f"{curve} at a coverage",
            explanation=f"Mean {curve} of the accepted points, divided by the number of all "
            "points, at the coverage that was asked for, when the points with the highest "
            "epistemic uncertainty are rejected first.",
        )
        for curve in CURVES
    ),
    *(
        Column(
            key=f"coverage_at_{curve}",
            title=f"cov. at {curve}",
            digits=3,
            statistic=AtLimit(curve),
            better="high",
            on_request=True,
            meaning=f"largest coverage within a {curve}",
            explanation=f"The largest coverage at which the {curve} of the accepted points, "
            "divided by the number of all points, is within the limit that was asked for, when "
            "the points with the highest epistemic uncertainty are rejected first.",
        )
        for curve in CURVES
    ),
)


REGRET, RISK = Star("epistemic"), Star("total")

_COLUMNS = (
    Column(
        key="best",
        title="best",
        latex="Best",
        digits=0,
        better="high",
        unit="data sets",
        in_table=True,
        meaning="number of data sets on which it is best",
    ),
    Column(
        key="aurec",
        title="AuReC",
        digits=4,
        statistic=Area(REGRET, Hat("epistemic")),
        better="low",
        kind="regret",
        unit="loss",
        in_table=True,
        meaning="area under the regret-coverage curve",
        explanation="Area under the regret-coverage curve when the points with the highest "
        "epistemic uncertainty are rejected first. It depends on the predictions and on "
        "their ranking.",
    ),
    Column(
        key="aurec_low",
        title="AuReC low",
        digits=4,
        statistic=Function(bracket_low),
        unit="loss",
        meaning="lower end of the bracket of the true AuReC",
    ),
    Column(
        key="aurec_high",
        title="AuReC high",
        digits=4,
        statistic=Function(bracket_high),
        unit="loss",
        meaning="upper end of this bracket",
    ),
    Column(
        key="excess_aurec",
        title="ex-AuReC",
        digits=4,
        statistic=Excess(REGRET, Hat("epistemic")),
        better="low",
        kind="regret",
        unit="loss",
        in_table=True,
        meaning="AuReC minus that of a perfect ranking",
        explanation="AuReC minus that of a perfect ranking of the same predictions: what "
        "better uncertainty alone could save.",
    ),
    Column(
        key="n_aurec",
        title="n-AuReC",
        latex="$n$-AuReC",
        digits=3,
        statistic=Normalized(REGRET, Hat("epistemic")),
        better="low",
        kind="regret",
        in_table=True,
        meaning="0 is a perfect ranking, 1 a random one",
        explanation="How well epistemic uncertainty finds avoidable error: 0 is a perfect "
        "ranking, 1 is as good as a random ranking, above 1 is worse. It does not reward "
        "better predictions, so rankings can be compared between methods.",
    ),
    Column(
        key="aurc",
        title="AuRC",
        digits=4,
        statistic=Area(RISK, Hat("epistemic")),
        better="low",
        kind="other",
        unit="loss",
        in_table=True,
        meaning="area under the risk-coverage curve",
        explanation="Area under the risk-coverage curve: like AuReC, but for the whole "
        "loss and not only the avoidable part. Ranked by epistemic uncertainty.",
    ),
    Column(
        key="aurc_total",
        title="AuRC total",
        digits=4,
        statistic=Area(RISK, Hat("total")),
        better="low",
        kind="other",
        unit="loss",
        meaning="AuRC, ranking by the estimated total",
        explanation="Area under the risk-coverage curve when ranking by the total "
        "uncertainty, as selective prediction does.",
    ),
    Column(
        key="pareto_gap",
        title="P-gap",
        digits=4,
        statistic=Function(gap_of, resampled=True),
        better="low",
        kind="regret",
        in_table=True,
        meaning="distance to the optimal accept/reject rules",
        explanation="Pareto-gap: the distance of the best accept/reject rules on the two "
        "estimated components from the optimal ones. 0 is as good as knowing the truth.",
    ),
    Column(
        key="spearman_hat",
        title="r_s hat",
        latex=r"$r_s(\hat A, \hat E)$",
        digits=3,
        statistic=Correlation(Hat("aleatoric"), Hat("epistemic")),
        # As a criterion, a correlation of either sign counts as entanglement.
        better="zero",
        kind="other",
        in_table=True,
        meaning="rank correlation, estimated components",
        explanation="Rank correlation of the estimated aleatoric and epistemic components. "
        "Neither high nor low is good in itself: compare it with the realised one.",
    ),
    Column(
        key="spearman_star",
        title="r_s star",
        latex=r"$r_s(A^*, E^*)$",
        digits=3,
        statistic=Correlation(Star("aleatoric"), REGRET),
        in_table=True,
        meaning="rank correlation, realised components",
        explanation="Rank correlation of the realised aleatoric and epistemic components.",
    ),
    Column(
        key="regret_calibration",
        title="calibration",
        digits=4,
        statistic=Function(calibration_of, resampled=True),
        better="low",
        kind="other",
        unit="loss",
        meaning="mean gap between estimated and realised regret",
        explanation="Mean gap between the estimated epistemic uncertainty and the realised "
        "regret. Empty if the score does not have the unit of the loss.",
    ),
    Column(
        key="risk",
        title="risk",
        digits=4,
        statistic=Mean(RISK),
        better="low",
        unit="loss",
        meaning="mean loss at full coverage",
        explanation="Mean loss when every point is accepted.",
    ),
    Column(
        key="regret",
        title="regret",
        digits=4,
        statistic=Mean(REGRET),
        better="low",
        unit="loss",
        meaning="the part of it that was avoidable",
        explanation="The part of that loss that a model which knows the distribution of "
        "the answers would have avoided.",
    ),
    Column(
        key="aurec_total",
        title="AuReC total",
        digits=4,
        statistic=Area(REGRET, Hat("total")),
        better="low",
        kind="other",
        unit="loss",
        meaning="AuReC, ranking by the estimated total",
        explanation="AuReC when the points of highest total uncertainty are rejected first.",
    ),
    Column(
        key="n_aurec_total",
        title="n-AuReC total",
        latex="$n$-AuReC total",
        digits=3,
        statistic=Normalized(REGRET, Hat("total")),
        better="low",
        kind="other",
        meaning="n-AuReC, ranking by the estimated total",
        explanation="n-AuReC when ranking by total uncertainty. Beside n-AuReC it "
        "shows whether the epistemic part finds regret better.",
    ),
    Column(
        key="aurec_aleatoric",
        title="AuReC aleatoric",
        digits=4,
        statistic=Area(REGRET, Hat("aleatoric")),
        better="low",
        kind="other",
        unit="loss",
        meaning="AuReC, ranking by the estimated aleatoric",
        explanation="AuReC when the points of highest aleatoric uncertainty are rejected first.",
    ),
    Column(
        key="n_aurec_aleatoric",
        title="n-AuReC aleatoric",
        latex="$n$-AuReC aleatoric",
        digits=3,
        statistic=Normalized(REGRET, Hat("aleatoric")),
        better="low",
        kind="other",
        meaning="n-AuReC, ranking by the estimated aleatoric",
        explanation="n-AuReC when ranking by aleatoric uncertainty. Beside n-AuReC it "
        "shows whether the epistemic part finds regret better.",
    ),
    Column(
        key="excess_aurec_corrected",
        title="ex-AuReC corr.",
        digits=4,
        statistic=Function(Corrected("excess_aurec")),
        unit="loss",
        on_request=True,
        meaning="excess AuReC, corrected for finitely many annotators",
        explanation="Excess AuReC corrected for finitely many annotators: "
        "extrapolated from all of them and from half of them.",
    ),
    Column(
        key="n_aurec_corrected",
        title="n-AuReC corr.",
        latex="$n$-AuReC corr.",
        digits=3,
        statistic=Function(Corrected("n_aurec")),
        meaning="n-AuReC, corrected for finitely many annotators",
        explanation="n-AuReC corrected for finitely many annotators: "
        "extrapolated from all of them and from half of them.",
    ),
    Column(
        key="pareto_gap_corrected",
        title="P-gap corr.",
        digits=4,
        statistic=Function(Corrected("pareto_gap")),
        on_request=True,
        meaning="the Pareto-gap, corrected for finitely many annotators",
        explanation="Pareto-gap corrected for finitely many annotators: "
        "extrapolated from all of them and from half of them.",
    ),
    Column(
        key="spearman_star_corrected",
        title="r_s star corr.",
        latex="$r_s(A^*, E^*)$ corr.",
        digits=3,
        statistic=Function(Corrected("spearman_star")),
        on_request=True,
        meaning="rank correlation star, corrected for finitely many annotators",
        explanation="Rank correlation of the realised components corrected for finitely "
        "many annotators: extrapolated from all of them and from half of them.",
    ),
    *REFERENCE_COLUMNS,
    Column(
        key="annotators_min",
        title="annotators min",
        digits=0,
        statistic=annotators(np.min),
        unit="answers",
        meaning="fewest answers per point",
    ),
    Column(
        key="annotators_mean",
        title="annotators mean",
        digits=1,
        statistic=annotators(np.mean),
        unit="answers",
        meaning="mean number of answers per point",
    ),
    Column(
        key="annotators_max",
        title="annotators max",
        digits=0,
        statistic=annotators(np.max),
        unit="answers",
        meaning="most answers per point",
    ),
    *ANSWER_COLUMNS,
    *LIMIT_COLUMNS,
    *PROXY_COLUMNS,
)

COLUMNS: Mapping[str, Column] = MappingProxyType({column.key: column for column in _COLUMNS})
"""All result columns by key, in the order of the rows."""

EVALUATED = tuple(key for key, column in COLUMNS.items() if column.statistic is not None)
"""The columns of an evaluation."""

SOURCES = tuple(
    dict.fromkeys(
        source
        for column in COLUMNS.values()
        if column.statistic is not None
        for source in column.statistic.sources
        if not isinstance(source, Star | Hat)
    )
)
"""What columns read of each point beyond the components."""

SHORT = {
    "n_aurec": "n-AuReC",
    "n_aurec_floor": "floor",
    "n_aurec_expected": "expected",
    "n_aurec_total": "by total",
    "aurec": "AuReC",
    "aurc": "AuRC",
    "pareto_gap": "P-gap",
    "spearman_hat": "r_s",
}
"""The short answer: n-AuReC with what it is measured against, and the main other columns."""
BY_COMPONENT = (
    *("n_aurec", "n_aurec_total", "n_aurec_aleatoric"),
    *("aurec", "aurec_total", "aurec_aleatoric"),
)
"""The columns that say which component finds regret best: epistemic, total or aleatoric."""
CORRECTED_TITLES = {
    "n_aurec_corrected": "n-AuReC",
    "n_aurec_total_corrected": "by total",
    "excess_aurec_corrected": "ex-AuReC",
    "pareto_gap_corrected": "P-gap",
    "spearman_star_corrected": "r_s star",
}
PERSON = ("person_risk", "person_parity", "team_risk", "team_coverage")
BLOCKS: Mapping[str, Mapping[str, str]] = {
    "regret when ranking by epistemic, total and aleatoric": {
        key: COLUMNS[key].title for key in BY_COMPONENT
    },
    "what n-AuReC is measured against": {
        "n_aurec": "n-AuReC",
        "n_aurec_floor": "floor",
        "n_aurec_true_regret": "true regret",
        "n_aurec_expected": "expected",
    },
    "corrected for finitely many annotators": CORRECTED_TITLES,
    "unbiased from two answers per point": {
        "aurec_unbiased": "AuReC",
        "regret_unbiased": "regret",
        "r_aurec": "r-AuReC",
        "r_aurec_total": "r by total",
    },
    "pairs of answers": {
        "pair_log_loss": "pair log loss",
        "pair_gain": "pair gain",
        "agreement_hat": "agreement hat",
        "agreement_star": "agreement star",
    },
    "with a person who is asked about deferred points": {
        "risk": "risk",
        **{key: COLUMNS[key].title for key in PERSON},
    },
    "rank correlation of estimated and realised components": {
        "spearman_epistemic": "epistemic",
        "spearman_aleatoric": "aleatoric",
    },
}
"""The blocks of a benchmark's tables, below the main columns. Floor, true regret and expectation
are on the plug-in scale, so no block has them beside corrected values."""


def columns_where(**wanted: str | bool) -> tuple[str, ...]:
    """Return the keys of the columns whose fields have the given values, in order."""
    return tuple(
        key
        for key, column in COLUMNS.items()
        if all(getattr(column, field) == value for field, value in wanted.items())
    )


def title(key: str) -> str:
    """Return the heading of a column, for example AuReC for aurec; unknown keys are unchanged."""
    return COLUMNS[key].title if key in COLUMNS else key

"""The result columns: the name, format, direction, explanation and computation of each number.

Evaluation, intervals, comparisons, plans, tables, the report, the rankings, the published tables
and the command line all read :data:`COLUMNS`. To add a column, add an entry there.
"""

from collections.abc import Mapping
from types import MappingProxyType

from rue.metrics.answer_columns import ANSWER_COLUMNS
from rue.metrics.column import Column
from rue.metrics.corrected import Corrected
from rue.metrics.functions import (
    bracket_high,
    bracket_low,
    calibration_of,
    fewest_annotators,
    gap_of,
    mean_annotators,
    most_annotators,
)
from rue.metrics.limits import LIMIT_COLUMNS
from rue.metrics.proxy_columns import PROXY_COLUMNS
from rue.metrics.reference_columns import REFERENCE_COLUMNS
from rue.metrics.statistics import Area, Correlation, Excess, Function, Hat, Mean, Normalized, Star

__all__ = ["COLUMNS", "EVALUATED", "SOURCES", "Column", "columns_where", "title"]

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
        statistic=Function(fewest_annotators),
        unit="answers",
        meaning="fewest answers per point",
    ),
    Column(
        key="annotators_mean",
        title="annotators mean",
        digits=1,
        statistic=Function(mean_annotators),
        unit="answers",
        meaning="mean number of answers per point",
    ),
    Column(
        key="annotators_max",
        title="annotators max",
        digits=0,
        statistic=Function(most_annotators),
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


def columns_where(**wanted: str | bool) -> tuple[str, ...]:
    """Return the keys of the columns whose fields have the given values, in order.

    Parameters
    ----------
    **wanted : str or bool
        Values of fields of :class:`Column`.

    Returns
    -------
    tuple of str
        The keys.

    Examples
    --------
    >>> columns_where(kind="regret")
    ('aurec', 'excess_aurec', 'n_aurec', 'pareto_gap')
    """
    return tuple(
        key
        for key, column in COLUMNS.items()
        if all(getattr(column, field) == value for field, value in wanted.items())
    )


def title(key: str) -> str:
    """Return the heading of a column, for example AuReC for aurec; unknown keys are unchanged."""
    return COLUMNS[key].title if key in COLUMNS else key

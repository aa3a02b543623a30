"""The result columns: the name, format, direction and explanation of each number.

Tables, intervals, comparisons, the report, the rankings, the published tables and the command
line all read :data:`COLUMNS`. To add a column, add an entry there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from rue._arrays import FloatArray

__all__ = ["COLUMNS", "Column", "columns_where", "title"]


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
    interval : {"bca", "percentile", ""}
        The default bootstrap interval: ``bca`` for areas, whose influences have a closed form,
        ``percentile``, or none.
    in_table : bool
        Whether tables show the column if a row has it.
    on_request : bool
        Whether a row has the number only if it was asked for; tables show the column then.
    meaning : str
        A short description.
    explanation : str
        Whole sentences for the report; empty if the report does not show the column.
    """

    key: str
    title: str
    digits: int
    better: Literal["low", "high", "zero", ""] = ""
    kind: Literal["regret", "proxy", "other", "fact"] = "fact"
    unit: str = ""
    interval: Literal["bca", "percentile", ""] = ""
    in_table: bool = False
    on_request: bool = False
    meaning: str
    explanation: str = ""
    latex: str = ""

    def cost(self, values: FloatArray) -> FloatArray:
        """Return numbers of which the lowest is the best, with the shape of ``values``."""
        return {"high": -values, "zero": np.abs(values)}.get(self.better, values)


COLUMNS: Mapping[str, Column] = MappingProxyType(
    {
        column.key: column
        for column in (
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
                better="low",
                kind="regret",
                unit="loss",
                interval="bca",
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
                unit="loss",
                meaning="lower end of the bracket of the true AuReC",
            ),
            Column(
                key="aurec_high",
                title="AuReC high",
                digits=4,
                unit="loss",
                meaning="upper end of this bracket",
            ),
            Column(
                key="excess_aurec",
                title="ex-AuReC",
                digits=4,
                better="low",
                kind="regret",
                unit="loss",
                interval="bca",
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
                better="low",
                kind="regret",
                interval="bca",
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
                better="low",
                kind="other",
                unit="loss",
                interval="bca",
                in_table=True,
                meaning="area under the risk-coverage curve",
                explanation="Area under the risk-coverage curve: like AuReC, but for the whole "
                "loss and not only the avoidable part. Ranked by epistemic uncertainty.",
            ),
            Column(
                key="aurc_total",
                title="AuRC total",
                digits=4,
                better="low",
                kind="other",
                unit="loss",
                interval="bca",
                meaning="AuRC, ranking by the estimated total",
                explanation="Area under the risk-coverage curve when ranking by the total "
                "uncertainty, as selective prediction does.",
            ),
            Column(
                key="pareto_gap",
                title="P-gap",
                digits=4,
                better="low",
                kind="regret",
                interval="percentile",
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
                # As a criterion, a correlation of either sign counts as entanglement.
                better="zero",
                kind="other",
                interval="percentile",
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
                interval="percentile",
                in_table=True,
                meaning="rank correlation, realised components",
                explanation="Rank correlation of the realised aleatoric and epistemic components.",
            ),
            Column(
                key="regret_calibration",
                title="calibration",
                digits=4,
                better="low",
                kind="other",
                unit="loss",
                interval="percentile",
                meaning="mean gap between estimated and realised regret",
                explanation="Mean gap between the estimated epistemic uncertainty and the realised "
                "regret. Empty if the score does not have the unit of the loss.",
            ),
            Column(
                key="risk",
                title="risk",
                digits=4,
                better="low",
                unit="loss",
                interval="bca",
                meaning="mean loss at full coverage",
                explanation="Mean loss when every point is accepted.",
            ),
            Column(
                key="regret",
                title="regret",
                digits=4,
                better="low",
                unit="loss",
                interval="bca",
                meaning="the part of it that was avoidable",
                explanation="The part of that loss that a model which knows the distribution of "
                "the answers would have avoided.",
            ),
            Column(
                key="aurec_total",
                title="AuReC total",
                digits=4,
                better="low",
                kind="other",
                unit="loss",
                interval="bca",
                meaning="AuReC, ranking by the estimated total",
                explanation="AuReC when the points of highest total uncertainty are "
                "rejected first.",
            ),
            Column(
                key="n_aurec_total",
                title="n-AuReC total",
                digits=3,
                better="low",
                kind="other",
                interval="bca",
                meaning="n-AuReC, ranking by the estimated total",
                explanation="n-AuReC when ranking by total uncertainty. Beside n-AuReC it "
                "shows whether the epistemic part finds regret better.",
            ),
            Column(
                key="aurec_aleatoric",
                title="AuReC aleatoric",
                digits=4,
                better="low",
                kind="other",
                unit="loss",
                interval="bca",
                meaning="AuReC, ranking by the estimated aleatoric",
                explanation="AuReC when the points of highest aleatoric uncertainty are "
                "rejected first.",
            ),
            Column(
                key="n_aurec_aleatoric",
                title="n-AuReC aleatoric",
                digits=3,
                better="low",
                kind="other",
                interval="bca",
                meaning="n-AuReC, ranking by the estimated aleatoric",
                explanation="n-AuReC when ranking by aleatoric uncertainty. Beside n-AuReC it "
                "shows whether the epistemic part finds regret better.",
            ),
            Column(
                key="excess_aurec_corrected",
                title="ex-AuReC corr.",
                digits=4,
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
                on_request=True,
                meaning="n-AuReC, corrected for finitely many annotators",
                explanation="n-AuReC corrected for finitely many annotators: "
                "extrapolated from all of them and from half of them.",
            ),
            Column(
                key="pareto_gap_corrected",
                title="P-gap corr.",
                digits=4,
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
                on_request=True,
                meaning="rank correlation star, corrected for finitely many annotators",
                explanation="Rank correlation of the realised components corrected for finitely "
                "many annotators: extrapolated from all of them and from half of them.",
            ),
            Column(
                key="annotators_min",
                title="annotators min",
                digits=0,
                unit="answers",
                meaning="fewest answers per point",
            ),
            Column(
                key="annotators_mean",
                title="annotators mean",
                digits=1,
                unit="answers",
                meaning="mean number of answers per point",
            ),
            Column(
                key="annotators_max",
                title="annotators max",
                digits=0,
                unit="answers",
                meaning="most answers per point",
            ),
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
    }
)
"""All result columns by key, in the order of the rows."""


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

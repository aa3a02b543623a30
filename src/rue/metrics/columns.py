"""The result columns: how each number is called, printed, ranked and explained.

Tables, intervals, comparisons, the report, the rankings, the published tables and the command line
all read :data:`COLUMNS`. A further column is one more entry of it.
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
    """One number of a row.

    Attributes
    ----------
    key
        The attribute of :class:`rue.Evaluation` and the key in JSON and CSV.
    title, latex
        The heading in tables, and in LaTeX where it differs.
    digits
        How many are printed after the point.
    better
        Which values are better: ``low``, ``high``, ``zero`` for those near 0, or nothing.
    kind
        ``regret`` for the paper's criteria, ``proxy`` for what stands in for epistemic
        uncertainty, ``other`` for further criteria; ``fact`` for what does not judge an
        uncertainty.
    unit
        ``loss`` where the number has the unit of the loss, else what is counted, or nothing for a
        number without a unit.
    interval
        Its usual bootstrap interval: ``bca`` for areas, whose influences have a closed form,
        ``percentile``, or nothing where there is none.
    in_table
        Whether tables show it where a row has it.
    meaning
        A few words, beside the number.
    explanation
        Whole sentences, for the report; empty where the report does not show the column.
    """

    key: str
    title: str
    digits: int
    better: Literal["low", "high", "zero", ""] = ""
    kind: Literal["regret", "proxy", "other", "fact"] = "fact"
    unit: str = ""
    interval: Literal["bca", "percentile", ""] = ""
    in_table: bool = False
    meaning: str
    explanation: str = ""
    latex: str = ""

    def cost(self, values: FloatArray) -> FloatArray:
        """Return numbers of which the lowest is best, in the shape of ``values``."""
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
                meaning="on how many data sets it is best",
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
                explanation="Area under the regret-coverage curve when the points of highest "
                "epistemic uncertainty are rejected first. Counts the predictions and their "
                "ranking together.",
            ),
            Column(
                key="aurec_low",
                title="AuReC low",
                digits=4,
                unit="loss",
                meaning="the true AuReC is between this, on average,",
            ),
            Column(
                key="aurec_high",
                title="AuReC high",
                digits=4,
                unit="loss",
                meaning="and this: the answers are finitely many",
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
                meaning="AuReC above that of a perfect rank",
                explanation="AuReC above that of a perfect ranking of the same predictions: what "
                "better uncertainty alone would save.",
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
                "ranking, 1 is as good as a random ranking, above 1 is worse than that. Methods "
                "that predict better do not gain from it, so rankings can be compared.",
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
                explanation="Area under the risk-coverage curve: as AuReC, for all of the loss and "
                "not only the part that could have been avoided. Ranked by epistemic uncertainty.",
            ),
            Column(
                key="aurc_total",
                title="AuRC total",
                digits=4,
                better="low",
                kind="other",
                unit="loss",
                interval="bca",
                meaning="the same, ranking by the estimated total",
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
                explanation="Pareto-gap: how far the best rules on the two estimated components "
                "stay from the best accept/reject rules there are. 0 is as good as knowing the "
                "truth.",
            ),
            Column(
                key="spearman_hat",
                title="r_s hat",
                latex=r"$r_s(\hat A, \hat E)$",
                digits=3,
                # Those who judge by it call components that go together, either way, entangled.
                better="zero",
                kind="other",
                interval="percentile",
                in_table=True,
                meaning="of the estimated components",
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
                meaning="of the realised components",
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
                meaning="mean gap of estimate and regret",
                explanation="Mean gap between the estimated epistemic uncertainty and the realised "
                "regret. Empty where the score does not have the loss's unit.",
            ),
            Column(
                key="risk",
                title="risk",
                digits=4,
                better="low",
                unit="loss",
                interval="bca",
                meaning="mean loss when everything is accepted",
                explanation="Mean loss when every point is accepted.",
            ),
            Column(
                key="regret",
                title="regret",
                digits=4,
                better="low",
                unit="loss",
                interval="bca",
                meaning="the part of it that could have been avoided",
                explanation="The part of that loss which a model that knows what people answer "
                "would have avoided.",
            ),
            Column(
                key="annotators_min",
                title="people min",
                digits=0,
                unit="answers",
                meaning="fewest answers a point",
            ),
            Column(
                key="annotators_mean",
                title="people mean",
                digits=1,
                unit="answers",
                meaning="mean answers a point",
            ),
            Column(
                key="annotators_max",
                title="people max",
                digits=0,
                unit="answers",
                meaning="most answers a point",
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
                explanation="Proxy: how well epistemic uncertainty tells these data from similar "
                "ones (AUROC).",
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
                explanation="Proxy: how well epistemic uncertainty tells these data from quite "
                "other ones (AUROC).",
            ),
            Column(
                key="auac",
                title="AuAC",
                digits=3,
                better="high",
                kind="proxy",
                in_table=True,
                meaning="area under the accuracy-coverage curve",
                explanation="Proxy: area under the accuracy-coverage curve when ranking by the "
                "total uncertainty.",
            ),
            Column(
                key="nauc_epistemic",
                title="NAUC epi",
                latex="NAUC, EU",
                digits=3,
                better="high",
                kind="proxy",
                in_table=True,
                meaning="queried by the epistemic part",
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
                meaning="queried by the total",
                explanation="Proxy: accuracy over rounds of active learning that query by total "
                "uncertainty.",
            ),
        )
    }
)
"""Every result column by its key, in the order in which rows have them."""


def columns_where(**wanted: str | bool) -> tuple[str, ...]:
    """Return the keys of the columns whose fields have these values, in order.

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
    """Return the heading of a column, AuReC for aurec; a key that is no column as it is."""
    return COLUMNS[key].title if key in COLUMNS else key

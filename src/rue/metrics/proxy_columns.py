"""The columns of the proxy tasks, which :mod:`rue.proxies` and the benchmark compute."""

from rue.metrics.column import Column

__all__ = ["PROXY_COLUMNS"]

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

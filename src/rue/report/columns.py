"""The leaderboard's columns, in plain words."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["COLUMNS", "Column"]


@dataclass(frozen=True)
class Column:
    """A number of a row: how it is called, printed and read."""

    key: str
    title: str
    digits: int
    meaning: str
    better: Literal["low", "high", ""] = "low"


COLUMNS = (
    Column(
        "n_aurec",
        "n-AuReC",
        3,
        "How well epistemic uncertainty finds avoidable error: 0 is a perfect ranking, 1 is as "
        "good as drawing lots, above 1 is worse than that. Methods that predict better do not "
        "gain from it, so rankings can be compared.",
    ),
    Column(
        "aurec",
        "AuReC",
        4,
        "Area under the regret-coverage curve when the points of highest epistemic uncertainty "
        "are rejected first. Counts the predictions and their ranking together.",
    ),
    Column(
        "excess_aurec",
        "ex-AuReC",
        4,
        "AuReC above that of a perfect ranking of the same predictions: what better uncertainty "
        "alone would save.",
    ),
    Column(
        "aurc",
        "AuRC",
        4,
        "Area under the risk-coverage curve: as AuReC, for all of the loss and not only the part "
        "that could have been avoided. Ranked by epistemic uncertainty.",
    ),
    Column(
        "aurc_total",
        "AuRC total",
        4,
        "Area under the risk-coverage curve when ranking by the total uncertainty, as selective "
        "prediction does.",
    ),
    Column(
        "pareto_gap",
        "P-gap",
        4,
        "Pareto-gap: how far the best rules on the two estimated components stay from the best "
        "accept/reject rules there are. 0 is as good as knowing the truth.",
    ),
    Column(
        "regret_calibration",
        "calibration",
        4,
        "Mean gap between the estimated epistemic uncertainty and the regret that came about. "
        "Empty where the score does not have the loss's unit.",
    ),
    Column(
        "risk",
        "risk",
        4,
        "Mean loss when every point is accepted.",
    ),
    Column(
        "regret",
        "regret",
        4,
        "The part of that loss which a model that knows what people answer would have avoided.",
    ),
    Column(
        "spearman_hat",
        "r_s est.",
        3,
        "Rank correlation of the estimated aleatoric and epistemic components. Neither high nor "
        "low is good in itself: compare it with the realised one.",
        "",
    ),
    Column(
        "spearman_star",
        "r_s real.",
        3,
        "Rank correlation of the realised aleatoric and epistemic components.",
        "",
    ),
    Column(
        "near_ood",
        "near-OOD",
        3,
        "Proxy: how well epistemic uncertainty tells these data from similar ones (AUROC).",
        "high",
    ),
    Column(
        "far_ood",
        "far-OOD",
        3,
        "Proxy: how well epistemic uncertainty tells these data from quite other ones (AUROC).",
        "high",
    ),
    Column(
        "auac",
        "AuAC",
        3,
        "Proxy: area under the accuracy-coverage curve when ranking by the total uncertainty.",
        "high",
    ),
    Column(
        "nauc_epistemic",
        "NAUC epi",
        3,
        "Proxy: accuracy over rounds of active learning that query by epistemic uncertainty.",
        "high",
    ),
    Column(
        "nauc_total",
        "NAUC total",
        3,
        "Proxy: accuracy over rounds of active learning that query by total uncertainty.",
        "high",
    ),
)

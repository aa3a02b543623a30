"""Which columns a table shows: the short answer, and the blocks of a benchmark's tables.

Floor, true regret and expectation of n-AuReC are on the plug-in scale, so no block has them beside
values that are corrected for finitely many annotators.
"""

import re
from collections.abc import Collection, Mapping

from rue.metrics.columns import COLUMNS

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
"""The blocks of a benchmark's tables, below the main columns."""


def note_about(note: str, shown: Collection[str]) -> str:
    """Return a note without the columns that are not shown; empty if it is about no others."""
    titles = {column.title: key for key, column in COLUMNS.items()}
    head = re.match(r"(.+?) (?:is|are) (.*)", note)
    names = head[1].split(", ") if head else []
    if head and all(name in titles for name in names):
        names = [name for name in names if titles[name] in shown]
        return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {head[2]}" if names else ""
    about = max((title for title in titles if note.startswith(f"{title} ")), key=len, default="")
    return note if not about or titles[about] in shown else ""

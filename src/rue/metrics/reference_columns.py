"""The columns that say what a number is measured against."""

from rue.metrics.column import Column
from rue.metrics.corrected import Corrected
from rue.metrics.floor import NAMES, Reference
from rue.metrics.references import ratio_to_random, unbiased_regret
from rue.metrics.statistics import Area, Combination, Correlation, Function, Hat, Mean, Star

__all__ = ["REFERENCE_COLUMNS"]

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
        "It is simulated. Compare it with n-AuReC, not with corrected values.",
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

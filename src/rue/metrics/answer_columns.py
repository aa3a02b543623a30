"""Columns of several answers about a point: pairs of them, and a person who is asked."""

from rue.metrics.column import Column
from rue.metrics.person import Parity, TeamCoverage, TeamRisk
from rue.metrics.second_order import Pair, few_answers
from rue.metrics.statistics import Mean, Star

__all__ = ["ANSWER_COLUMNS"]

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

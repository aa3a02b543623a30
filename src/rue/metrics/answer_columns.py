"""Columns of pairs of answers: whether the spread of a belief agrees with the annotators."""

from rue.metrics.column import Column
from rue.metrics.second_order import Pair, few_answers
from rue.metrics.statistics import Mean

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
)

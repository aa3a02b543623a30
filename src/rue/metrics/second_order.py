"""Second-order scores: whether the spread of a belief agrees with pairs of answers.

Two answers about one input show the law of p, which single answers cannot (Bengs et al. 2023).
With the answers' counts c, m of them, O = (c c^T - diag c) / (m (m - 1)) is an unbiased estimate of
p* p*^T, and a belief predicts J = E[p p^T].
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rue._arrays import FloatArray, round_to_scale
from rue.beliefs import Belief
from rue.components import Run
from rue.truth.alignment import align
from rue.truth.annotations import require_belief
from rue.truth.base import Truth


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores of pairs of answers, each of shape (n_points,)."""

    pair_log_loss: FloatArray
    pair_gain: FloatArray
    agreement_hat: FloatArray
    agreement_star: FloatArray


def pair_scores(truth: Truth, belief: Belief) -> PairScores:
    """Score a belief by pairs of answers about the same point."""
    truth, belief = align(truth, require_belief(belief))
    assert truth.votes is not None  # as a belief about classes fits no other truth
    counts = np.ascontiguousarray(truth.votes, dtype=np.float64)
    out = belief.pair_sums(counts, truth.counts is not None)
    gain = 2.0 * out[:, 1] - out[:, 0]
    return PairScores(*(round_to_scale(x, 1.0) for x in (out[:, 0], gain, out[:, 2], out[:, 3])))


@dataclass(frozen=True)
class Pair:
    """One of the pair scores of a run; None if it lacks the belief or pairs of answers."""

    score: Literal["pair_log_loss", "pair_gain", "agreement_hat", "agreement_star"]

    def __call__(self, run: Run) -> FloatArray | None:
        """Return the score of each point, shape (n_points,)."""
        scores = run.once(_scores_of)
        if scores is None or (self.score != "agreement_hat" and few_answers(run)):
            return None
        return getattr(scores, self.score)  # type: ignore[no-any-return]


def few_answers(run: Run) -> str:
    """Return why a run lacks pairs of answers; empty if every point has one, or none is known."""
    n_annotators = run.star.n_annotators
    single = 0 if n_annotators is None else int((n_annotators < 2).sum())
    if not single:
        return ""
    return f"{single} of {len(run)} points have one answer, and pairs of answers are needed"


def _scores_of(run: Run) -> PairScores | None:
    if run.annotations is None or run.belief is None or not run.belief.n_classes:
        return None
    return pair_scores(run.annotations, run.belief)

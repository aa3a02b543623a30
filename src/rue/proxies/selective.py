"""Selective prediction: accuracy and error of the accepted against coverage.

Two families, of the same ranking:

==========================  ==========================================================
normalised (others' own)    accuracy and error *among the accepted*; the mean over the N
                            coverages 1/N, ..., 1: AuAC and AURC = 1 - AuAC
generalised (Traub et al.)  correct and wrong accepted points as a share of *all*; the exact
                            integral: :func:`rue.aurc` under 0/1 loss, which others call AUGRC,
                            and 1/2 - AUGRC for the accuracy
==========================  ==========================================================

The paper's table 4 has the normalised AuAC of the total under log loss. A perfect ranking at error
rate e has the generalised area e^2 / 2. Ties are exact: a block of equal scores counts as accepted
in random order.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector
from rue.beliefs import Belief
from rue.components import Components, realize
from rue.errors import InputError
from rue.metrics.curves import areas, aurc
from rue.proxies.scores import SCORES
from rue.truth.annotations import Annotations

__all__ = ["Selective", "correctness", "evaluate_selective"]


@dataclass(frozen=True)
class Selective:
    """Selective prediction by one score.

    Attributes
    ----------
    score
        The score's name.
    accuracy
        With everything accepted.
    auac, aurc
        Normalised areas under accuracy and error; they add up to 1.
    generalized_auac, generalized_aurc
        Areas of shares of all points; they add up to 1/2. The latter is :func:`rue.aurc` of the
        0/1 loss.
    """

    score: str
    n_points: int
    accuracy: float
    auac: float
    aurc: float
    generalized_auac: float
    generalized_aurc: float

    def to_dict(self) -> dict[str, Any]:
        """Give a dictionary that is valid JSON."""
        return asdict(self)


def evaluate_selective(
    correct: ArrayLike, scores: Components | Mapping[str, ArrayLike]
) -> tuple[Selective, ...]:
    """Evaluate each score on whether the accepted are right: one row a score.

    Parameters
    ----------
    correct
        Whether, or with which probability, each point is right (:func:`correctness`), shape
        (n_points,).
    scores
        Estimated components, for a row each of total, aleatoric and epistemic; or scores by name,
        higher rejected first.

    Examples
    --------
    >>> row = evaluate_selective([1, 1, 0, 1], {"total": [0.1, 0.2, 0.3, 0.4]})[0]
    >>> row.accuracy, row.auac, row.generalized_aurc  # auac: (1 + 1 + 2/3 + 3/4) / 4
    (0.75, 0.8541667, 0.09375)
    """
    right = as_vector("correct", correct)
    if not ((right >= 0) & (right <= 1)).all():
        row = int(((right < 0) | (right > 1)).argmax())
        raise InputError(f"correct must be from 0 to 1, got {right[row]:g} at row {row}")
    if isinstance(scores, Components):
        scores = {name: getattr(scores, name) for name in SCORES}
    return tuple(_evaluate(right, name, score) for name, score in scores.items())


def correctness(truth: Annotations, belief: Belief) -> FloatArray:
    """Give the probability that the belief's class is a person's answer: p*(argmax), (n_points,).

    Where the truth is one label a point it is 1 or 0.

    Examples
    --------
    >>> from rue import Dirichlet
    >>> correctness(Annotations([[8, 2], [0, 1]]), Dirichlet([[3, 1], [3, 1]]))
    array([0.8, 0. ])
    """
    return 1.0 - realize(truth, belief, "zero_one").total


def _evaluate(correct: FloatArray, name: str, score: ArrayLike) -> Selective:
    score = as_vector(f"score {name}", score, len(correct))
    wrong = 1.0 - correct
    normalized = areas(wrong, score, rule="step", normalized=True).area
    generalized = aurc(wrong, score)
    return Selective(
        score=name,
        n_points=len(correct),
        accuracy=float(correct.mean()),
        auac=1.0 - normalized,
        aurc=normalized,
        generalized_auac=0.5 - generalized,
        generalized_aurc=generalized,
    )

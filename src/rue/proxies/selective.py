"""Selective prediction: accuracy and error of the accepted points against coverage.

There are two families of areas for the same ranking:

==========================  ==========================================================
normalised (common)         accuracy and error *among the accepted points*; the mean over the
                            N coverages 1/N, ..., 1: AuAC and AURC = 1 - AuAC
generalised (Traub et al.)  correct and wrong accepted points as a share of *all* points; the
                            exact integral: :func:`rue.aurc` under 0/1 loss, also called AUGRC,
                            and 1/2 - AUGRC for the accuracy
==========================  ==========================================================

Table 4 of the paper shows the normalised AuAC of the total under log loss. A perfect ranking at
error rate e has the generalised area e^2 / 2. Ties are exact: points with equal scores count as
accepted in random order.

A score is one component of a belief under one loss, higher for more uncertain points. The paper
uses ``epistemic`` under log loss for OOD detection, ``total`` under log loss for selective
prediction, and both for active learning (tables 4 and 5).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from numpy.typing import ArrayLike

from rue._arrays import FloatArray, as_vector, require_one_of
from rue._text import JsonObject
from rue.beliefs import Belief
from rue.components import Components, decompose, realize
from rue.errors import InputError
from rue.losses import Loss
from rue.metrics.measures import areas, aurc
from rue.truth.base import Truth

ScoreName = Literal["total", "aleatoric", "epistemic"]
"""The component that serves as a score."""
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)


@dataclass(frozen=True)
class Selective:
    """Selective prediction by one score.

    Attributes
    ----------
    score : str
        The name of the score.
    n_points : int
        The number of points.
    accuracy : float
        The accuracy at full coverage.
    auac, aurc : float
        The normalised areas under accuracy and error; their sum is 1.
    generalized_auac, generalized_aurc : float
        The areas of the shares of all points; their sum is 1/2. The latter is :func:`rue.aurc`
        of the 0/1 loss.
    """

    score: str
    n_points: int
    accuracy: float
    auac: float
    aurc: float
    generalized_auac: float
    generalized_aurc: float

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON."""
        return asdict(self)


def score(
    belief: Belief,
    name: ScoreName = "epistemic",
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
) -> FloatArray:
    """Return one estimated component of a belief.

    Parameters
    ----------
    belief : Belief
        The predictions of the model.
    name : {"total", "aleatoric", "epistemic"}
        The component.
    loss, values
        As in :func:`rue.decompose`.

    Returns
    -------
    array of shape (n_points,)
        The component, higher for more uncertain points.

    Raises
    ------
    InputError
        If ``name`` is no component.

    Examples
    --------
    >>> from rue.proxies import score
    >>> from rue import Draws
    >>> score(Draws([[[1.0, 0.0], [0.0, 1.0]]]), "total", "brier")
    array([0.5])
    """
    require_one_of("score", name, SCORES)
    component: FloatArray = getattr(decompose(belief, loss, values=values), name)
    return component


def evaluate_selective(
    correct: ArrayLike, scores: Components | Mapping[str, ArrayLike]
) -> tuple[Selective, ...]:
    """Evaluate how well each score finds the points that are predicted correctly.

    Parameters
    ----------
    correct : array_like of shape (n_points,)
        Whether each prediction is correct, or with which probability (:func:`correctness`).
    scores : Components or mapping of str to array_like of shape (n_points,)
        Estimated components, for one result each by total, aleatoric and epistemic; or scores by
        name. Points with higher scores are rejected first.

    Returns
    -------
    tuple of Selective
        One result per score.

    Raises
    ------
    InputError
        If ``correct`` is not from 0 to 1, or a score is not finite.

    Examples
    --------
    >>> from rue.proxies import evaluate_selective
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


def correctness(truth: Truth, belief: Belief) -> FloatArray:
    """Return the probability p*(argmax) that the predicted class is an annotator's answer."""
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

"""Definition 1: total, aleatoric and epistemic uncertainty, estimated and realised."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_rows, as_vector, round_to_scale
from rue.beliefs import (
    Belief,
    Convention,
    RealBelief,
    Scored,
    published_components,
    require_convention,
)
from rue.beliefs.real import decompose_real
from rue.errors import InputError
from rue.losses import Log, Loss, get_loss
from rue.truth.annotations import Annotations, deployed_actions, require_belief
from rue.truth.finite_annotators import Estimator, bracket_end, estimate_bayes_risk
from rue.truth.ratings import Ratings
from rue.truth.realized_ratings import realize_ratings

__all__ = ["Components", "decompose", "realize"]


@dataclass(frozen=True, eq=False)
class Components:
    """The total, aleatoric and epistemic uncertainty of each point.

    :func:`decompose` returns the estimated components ("hat"), :func:`realize` the realised ones
    ("star"), whose ``epistemic`` is the regret. All are rounded to 1e-12 of the loss's scale, so
    that rounding errors do not affect rankings.

    Attributes
    ----------
    total, aleatoric, epistemic : array of shape (n_points,)
        The components; total = aleatoric + epistemic.
    floored : array of shape (n_points,), or None
        Which points have a predicted probability below 1e-12, the floor of the log loss, for a
        class that occurs; None if the loss has no floor.
    standard_error : array of shape (n_points,), or None
        The standard error of ``aleatoric`` and ``epistemic`` if they are sampled (a cost matrix
        under a Dirichlet); None if they are exact.
    aleatoric_high : array of shape (n_points,), or None
        The leave-one-out Bayes risk, if ``aleatoric`` is the plug-in estimate and every point
        has at least two answers: in expectation, the true Bayes risk is between the two.
    n_annotators : array of shape (n_points,), or None
        The number of annotators of each point, infinity if p* is known; None if unknown.
    outside_score : bool
        Whether ``epistemic`` is a score from outside, as :class:`rue.Scored` has it, which does
        not have the unit of the loss.

    Examples
    --------
    >>> hat = Components(total=[3.0, 1.0], aleatoric=[2.0, 1.0], epistemic=[1.0, 0.0])
    >>> hat.epistemic
    array([1., 0.])
    >>> len(hat[:1])
    1
    """

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray
    floored: NDArray[np.bool] | None = None
    standard_error: FloatArray | None = None
    aleatoric_high: FloatArray | None = None
    n_annotators: FloatArray | None = None
    outside_score: bool = False

    def __post_init__(self) -> None:
        total = as_vector("total", self.total)
        object.__setattr__(self, "total", total)
        for name in ("aleatoric", "epistemic"):
            object.__setattr__(self, name, as_vector(name, getattr(self, name), len(total)))

    def __len__(self) -> int:
        return len(self.total)

    def __getitem__(self, rows: int | slice | NDArray[Any]) -> "Components":
        """Return the components of some of the points: a number, a slice, a mask or indices."""
        rows = as_rows(rows, len(self))
        columns = {f.name: getattr(self, f.name) for f in fields(self)}
        kept: dict[str, Any] = {
            name: column[rows] if isinstance(column, np.ndarray) else column
            for name, column in columns.items()
        }
        return Components(**kept)

    @property
    def n_floored(self) -> int:
        """The number of points that the floor of the log loss affected."""
        return 0 if self.floored is None else int(self.floored.sum())


def decompose(
    belief: Belief | RealBelief,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    convention: Convention = "definition",
) -> Components:
    r"""Return the uncertainty that a belief states, decomposed as in Definition 1.

    With the mean distribution :math:`m = E[p]` (of real-valued outcomes: the mixture of the draws),
    the risk :math:`R(a, p)` of an action under p, and the Bayes action :math:`a(p)`:

    - aleatoric is the mean Bayes risk, :math:`E[R(a(p), p)]`,
    - epistemic is the mean regret of the action, :math:`E[R(a(m), p) - R(a(p), p)]`,
    - total is their sum, the Bayes risk of the mean, :math:`R(a(m), m)`.

    For a :class:`~rue.Scored` belief, aleatoric is the Bayes risk of the distribution, epistemic
    the score as given, and total their sum.

    Parameters
    ----------
    belief : Belief or RealBelief
        The predictions of the model.
    loss : str or Loss
        ``"log"``, ``"brier"``, ``"zero_one"``, ``"squared"``, ``"absolute"``, ``"rps"``,
        ``"pinball:0.8"`` (any level) or a loss object such as :class:`~rue.CostMatrix`. Beliefs
        about real numbers take ``"squared"``, ``"absolute"``, ``"pinball:0.8"`` and ``"crps"``.
    values : array_like of shape (n_classes,), optional
        The numbers that the classes stand for under squared, absolute, rps and pinball loss, by
        default 0..K-1. If the annotations have values, pass them here too: a belief has none.
    seed : int
        Seed of the Sobol points for a cost matrix under a Dirichlet belief; all other
        expectations are exact.
    convention : {"definition", "published"}
        ``"definition"`` for Definition 1, ``"published"`` for what the authors' code computes
        (:mod:`rue.beliefs.published`).

    Returns
    -------
    Components
        The estimated components, each of shape (n_points,).

    Raises
    ------
    InputError
        If ``belief`` is no belief, or the loss is unknown.

    Examples
    --------
    >>> from rue import Draws
    >>> decompose(Draws([[[1.0, 0.0], [0.0, 1.0]]]), "brier").epistemic
    array([0.5])
    """
    loss = get_loss(loss, values=values)
    if convention != "definition":
        require_convention(convention)
    if isinstance(belief, RealBelief):
        _require_definition(convention)
        return Components(*decompose_real(belief, loss))
    require_belief(belief)
    scale = loss.scale(belief.n_classes)
    if convention == "published":
        found = published_components(belief, loss, seed=seed)
        epistemic = found.epistemic
        if not found.outside_score:
            epistemic = np.maximum(round_to_scale(epistemic, scale), 0.0)
        return Components(
            round_to_scale(found.total, scale),
            round_to_scale(found.aleatoric, scale),
            epistemic,
            outside_score=found.outside_score,
        )
    n_points = belief.n_points
    aleatoric, epistemic = np.empty(n_points), np.empty(n_points)
    error: FloatArray | None = None
    for rows, expected in belief.expectations(loss, seed=seed):
        aleatoric[rows], epistemic[rows] = expected.bayes_risk, expected.regret
        if expected.standard_error is not None:
            error = np.empty(n_points) if error is None else error
            error[rows] = expected.standard_error
    total = aleatoric + epistemic
    if isinstance(belief, Scored):
        aleatoric = round_to_scale(aleatoric, scale)
        return Components(aleatoric + epistemic, aleatoric, epistemic, outside_score=True)
    return Components(
        round_to_scale(total, scale),
        round_to_scale(aleatoric, scale),
        np.maximum(round_to_scale(epistemic, scale), 0.0),
        standard_error=error,
    )


def realize(
    annotations: Annotations | Ratings,
    belief: Belief | RealBelief | None,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    estimator: Estimator = "plugin",
) -> Components:
    """Return the loss of acting on a belief, decomposed as in Definition 1.

    The answers of the annotators are the truth, p*. With the Bayes action a of the belief, or
    the ``actions`` of any deployed predictor:

    - total = risk of a under p*,
    - aleatoric = Bayes risk of p*,
    - epistemic, the regret, is total - aleatoric and never negative.

    Parameters
    ----------
    annotations : Annotations or Ratings
        The answers of the annotators, and so p*.
    belief : Belief, RealBelief or None
        The predictions of the model; may be None if ``actions`` are given.
    loss, values
        As in :func:`decompose`; ``values`` default to those of the annotations.
    actions : array_like of shape (n_points,) or (n_points, n_classes), optional
        The actions of a deployed predictor: classes (zero_one), row numbers of the cost matrix,
        or numbers (squared, absolute, pinball), one per point; or distributions (log, brier,
        rps). Under crps, numbers or equally likely values, shape (n_points, n_values).
    estimator : {"plugin", "leave_one_out", "unbiased"}
        How to estimate the Bayes risk of p* from finitely many answers. ``"plugin"``, the Bayes
        risk of their frequencies, is too low on average. ``"leave_one_out"`` is too high on
        average, so that the regret is too low and may be negative. ``"unbiased"`` exists for
        squared, Brier, rps and crps loss; the regret may be negative. See
        :mod:`rue.truth.finite_annotators`.

    Returns
    -------
    Components
        The realised components, each of shape (n_points,).

    Raises
    ------
    InputError
        If annotations and belief differ in points or classes, or actions are invalid.

    Examples
    --------
    >>> from rue import Annotations
    >>> realize(Annotations([[8, 2]]), None, "zero_one", actions=[1]).epistemic
    array([0.6])
    >>> realize(Annotations([[8, 2]]), None, "squared", actions=[0], estimator="unbiased")
    Components(total=array([0.2]), aleatoric=array([0.17777778]), epistemic=array([0.02222222]),
               floored=None, standard_error=None, aleatoric_high=None, n_annotators=array([10.]),
               outside_score=False)
    """
    loss = get_loss(loss, values=annotations.values if values is None else values)
    if isinstance(annotations, Ratings):
        found = realize_ratings(annotations, belief, loss, actions=actions, estimator=estimator)
        return Components(
            found.total,
            found.aleatoric,
            found.epistemic,
            aleatoric_high=found.aleatoric_high,
            n_annotators=annotations.n_annotators,
        )
    n_points, scale = annotations.n_points, loss.scale(annotations.n_classes)
    total, aleatoric, epistemic = np.empty(n_points), np.empty(n_points), np.empty(n_points)
    floored = np.zeros(n_points, bool) if isinstance(loss, Log) else None
    for rows, action in deployed_actions(annotations, belief, loss, actions):
        truth = annotations.probs[rows]
        total[rows] = loss.risk(truth, action)
        aleatoric[rows] = loss.bayes_risk(truth)
        epistemic[rows] = loss.regret(truth, action)
        if isinstance(loss, Log) and floored is not None:
            floored[rows] = loss.floored(truth, action)
    high = None
    if estimator != "plugin":
        aleatoric = estimate_bayes_risk(annotations, loss, estimator)
        epistemic = round_to_scale(total - aleatoric, scale)
    else:
        epistemic = np.maximum(round_to_scale(epistemic, scale), 0.0)
        high = bracket_end(annotations, loss)
    return Components(
        round_to_scale(total, scale),
        round_to_scale(aleatoric, scale),
        epistemic,
        floored,
        aleatoric_high=high,
        n_annotators=annotations.n_annotators,
    )


def _require_definition(convention: Convention) -> None:
    if convention != "definition":
        raise InputError(
            f'convention="{convention}" is not defined for real-valued outcomes: the paper\'s '
            'tables have classes only; use convention="definition"'
        )

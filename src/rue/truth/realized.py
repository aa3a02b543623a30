"""Definition 1, realised: what acting on a belief costs under the answers of annotators.

p* is not known, only m answers drawn from it. The mean loss of an action over the answers is an
unbiased estimate of its risk. The Bayes risk has no such estimate: the best action for the
answers has too low a loss on the same answers (``plugin``, biased low), and the best action for
the other m - 1 answers has at least the true Bayes risk on the one left out (``leave_one_out``,
biased high). So in expectation

    total - leave-one-out Bayes risk  <=  true regret  <=  total - plug-in Bayes risk

for each point and, since the ranking does not depend on the answers, for AuReC. This holds if
the answers about a point are independent draws from its p*, and actions and scores do not depend
on them. It does not hold for excess AuReC, n-AuReC, the oracle, Spearman or the Pareto-gap,
which are not linear in the regret.

What a point costs if a person is asked instead of the model is here, too.
Under 0/1, squared and absolute loss and cost matrices, a *person* plays the Bayes action of their
own answer and is judged by another annotator, averaged over ordered pairs of answers. Actions of
the other losses are distributions or quantiles, which one answer does not give: there a *panel* of
the m - 1 other answers is asked, which costs the leave-one-out Bayes risk.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, chunked, round_to_scale
from rue.beliefs import Belief, ClassBelief, Dirichlet, Draws, RealBelief, Scored
from rue.beliefs.base import Components
from rue.errors import InputError
from rue.losses import CostMatrix, Log, Loss, get_loss
from rue.losses.real import RealLoss, round_to_digits
from rue.truth.annotations import Annotations, require_belief
from rue.truth.base import Truth
from rue.truth.ratings import Ratings

Estimator = Literal["plugin", "leave_one_out", "unbiased"]
"""How the Bayes risk is estimated from answers; see :func:`estimate_bayes_risk`."""
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)


def estimate_bayes_risk(truth: Truth, loss: Loss, estimator: Estimator = "plugin") -> FloatArray:
    """Estimate the Bayes risk of each point's p* from its answers."""
    if estimator not in ESTIMATORS:
        raise InputError(f"estimator must be one of {', '.join(ESTIMATORS)}, got {estimator!r}")
    form: Any = loss.real() if isinstance(truth, Ratings) else loss
    answers: Any = truth.answers if isinstance(truth, Ratings) else truth.counts
    if estimator == "plugin" or answers is None:
        known = truth.probs if isinstance(truth, Annotations) else answers
        return np.asarray(form.bayes_risk(known))
    estimate = form.unbiased if estimator == "unbiased" else form.leave_one_out
    if isinstance(truth, Annotations):
        estimate(answers[:0])  # if the loss has no such estimate, more answers would not help
    m = truth.n_annotators
    if m.min() < 2:
        raise InputError(
            f'estimator="{estimator}" needs at least 2 annotators per point, '
            f"{int((m < 2).sum())} of {len(m)} points have one, first at row {int(np.argmin(m))}"
        )
    return np.asarray(estimate(answers))


def realize_answers(
    truth: Truth,
    belief: Belief | None,
    loss: Loss,
    *,
    actions: ArrayLike | None = None,
    estimator: Estimator = "plugin",
) -> Components:
    """Return the realised components of answers on the loss's scale; see :func:`rue.realize`."""
    if isinstance(truth, Ratings):
        return _of_ratings(truth, belief, loss, actions, estimator)
    assert isinstance(truth, Annotations)
    n_points, scale = truth.n_points, loss.scale(truth.n_classes)
    total, aleatoric, epistemic = np.empty(n_points), np.empty(n_points), np.empty(n_points)
    floored = np.zeros(n_points, bool) if isinstance(loss, Log) else None
    for rows, action in deployed_actions(truth, belief, loss, actions):
        p = truth.probs[rows]
        total[rows], aleatoric[rows], epistemic[rows] = loss.realized(p, action)
        if isinstance(loss, Log) and floored is not None:
            floored[rows] = loss.floored(p, action)
    high = None
    if estimator != "plugin":
        aleatoric = estimate_bayes_risk(truth, loss, estimator)
        epistemic = round_to_scale(total - aleatoric, scale)
    else:
        epistemic = np.maximum(round_to_scale(epistemic, scale), 0.0)
        high = bracket_end(truth, loss, aleatoric)
    return Components(
        round_to_scale(total, scale),
        round_to_scale(aleatoric, scale),
        epistemic,
        floored,
        aleatoric_high=high,
        n_annotators=truth.n_annotators,
        person=_person(truth, loss, high, None),
    )


def _of_ratings(
    ratings: Ratings,
    belief: Belief | None,
    loss: Loss,
    actions: ArrayLike | None,
    estimator: Estimator,
) -> Components:
    real, answers, high = loss.real(), ratings.answers, None
    action = deployed_action(ratings, belief, real, actions)
    total = answers.means(real.losses(answers, action))
    aleatoric = estimate_bayes_risk(ratings, loss, estimator)
    epistemic = total - aleatoric
    if estimator == "plugin":
        epistemic = real.regret(answers, action, total)
        if ratings.n_annotators.min() >= 2:
            high = round_to_digits(real.leave_one_out(answers), total)
    rounded = round_to_digits(total, total)
    return Components(
        rounded,
        round_to_digits(aleatoric, total),
        round_to_digits(epistemic, total),
        aleatoric_high=high,
        n_annotators=ratings.n_annotators,
        person=_person(ratings, loss, high, rounded),
    )


def _person(
    truth: Truth, loss: Loss, high: FloatArray | None, total: FloatArray | None
) -> FloatArray | None:
    """Return the risk of a person, rounded as components are; a panel has the bracket's end."""
    if high is not None and person_kind(loss) == "panel":
        return high
    risk = person_risk(truth, loss)
    if risk is None:
        return None
    if total is not None:
        return round_to_digits(risk, total)
    return round_to_scale(risk, loss.scale(truth.outcomes.n))


def bracket_end(
    annotations: Annotations, loss: Loss, plugin: FloatArray | None = None
) -> FloatArray | None:
    """Return the leave-one-out Bayes risk, (n_points,); None if a point has a single answer."""
    if annotations.n_annotators.min() < 2:
        return None
    counts = annotations.counts
    if counts is None:
        high = loss.bayes_risk(annotations.probs) if plugin is None else plugin
    elif isinstance(loss, Log):
        high = loss.leave_one_out(counts, plugin=plugin)
    else:
        high = loss.leave_one_out(counts)
    return round_to_scale(high, loss.scale(annotations.n_classes))


def pooled_again(star: Components, truth: Truth, loss: Loss) -> Components:
    """Return the components of some points with what pools answers computed from these alone."""
    if not isinstance(truth, Annotations):
        return star
    high = bracket_end(truth, loss)
    panel = person_kind(loss) == "panel"
    return replace(star, aleatoric_high=high, person=high if panel else star.person)


def deployed_actions(
    truth: Annotations, belief: Belief | None, loss: Loss, actions: ArrayLike | None
) -> Iterable[tuple[slice, Any]]:
    """Return the rows and actions of each chunk: ``actions`` if given, else the belief's."""
    if actions is not None:
        return [(slice(None), loss.check_actions(actions, len(truth), truth.n_classes))]
    return ((rows, loss.action(m)) for rows, m in require_belief(belief).means())


def deployed_action(
    truth: Ratings, belief: Belief | None, loss: RealLoss, actions: ArrayLike | None
) -> Any:
    """Return ``actions`` if given, else the Bayes actions of a belief about real numbers."""
    if actions is not None:
        return loss.check_actions(actions, len(truth))
    assert isinstance(belief, RealBelief)
    return loss.action(belief)


PersonKind = Literal["person", "panel", ""]

_SPREADS: dict[str, tuple[float, str]] = {
    "zero_one": (1.0, "brier"),
    "squared": (2.0, "squared"),
    "absolute": (2.0, "crps"),
}
"""The risk of a person is this multiple of the Bayes risk under another loss: of two answers, one
differs from the other with probability 1 - sum p^2, and their mean square and absolute distances
are twice the variance and twice the CRPS of p."""


def person_kind(loss: str | Loss) -> PersonKind:
    """Return who is asked under a loss, a person or a panel; empty if the loss is not known."""
    name = loss.name if isinstance(loss, Loss) else loss
    if not name:
        return ""
    return "person" if name in _SPREADS or name == "cost" else "panel"


def person_risk(truth: Truth, loss: Loss) -> FloatArray | None:
    """Return the risk of a person, or of a panel, at each point."""
    if truth.n_annotators.min() < 2:
        return None
    if isinstance(loss, CostMatrix):
        assert isinstance(truth, Annotations)  # as costs are of classes
        return _of_pairs(truth, _cost_of_answers(loss, truth.n_classes))
    assert isinstance(truth, Annotations | Ratings)
    factor, other = _spread(loss)
    if other is None:
        return estimate_bayes_risk(truth, loss, "leave_one_out")
    return factor * estimate_bayes_risk(truth, other, "unbiased")


def predicted_person(belief: Belief, loss: Loss) -> FloatArray | None:
    """Return the risk of a person that a belief predicts at each point."""
    if isinstance(belief, Scored):
        return None
    if isinstance(loss, CostMatrix) and isinstance(belief, ClassBelief):
        return _expected_pairs(belief, _cost_of_answers(loss, belief.n_classes))
    factor, other = _spread(loss)
    if other is None:
        return None
    if isinstance(belief, RealBelief):
        return factor * belief.expectation(other.real()).bayes_risk
    assert isinstance(belief, ClassBelief)
    risk = np.empty(len(belief))
    for rows, expected in belief.expectations(other):
        risk[rows] = expected.bayes_risk
    return round_to_scale(factor * risk, loss.scale(belief.n_classes))


def _spread(loss: Loss) -> tuple[float, Loss | None]:
    """Return how often a person pays the Bayes risk of which other loss; None for a panel."""
    if loss.name not in _SPREADS:
        return 1.0, None
    factor, name = _SPREADS[loss.name]
    return factor, get_loss(name, values=getattr(loss, "values", None))


def _cost_of_answers(loss: CostMatrix, n_classes: int) -> FloatArray:
    """Return what the answer k costs if another annotator says j, shape (n_classes, n_classes)."""
    sure = np.eye(n_classes)
    return loss.costs[loss.action(sure)]


def _of_pairs(truth: Annotations, costs: FloatArray) -> FloatArray:
    """Return the mean cost over ordered pairs of answers, or of draws from p*."""
    if truth.counts is None:
        return np.asarray(((truth.probs @ costs) * truth.probs).sum(axis=1))
    counts = truth.counts.astype(np.float64)
    m = truth.n_annotators
    paid = ((counts @ costs) * counts).sum(axis=1) - counts @ np.diag(costs)
    return np.asarray(paid / (m * (m - 1)))


def _expected_pairs(belief: ClassBelief, costs: FloatArray) -> FloatArray:
    """Return the expected cost of two answers that are drawn from the same p."""
    expected = np.empty(len(belief))
    if isinstance(belief, Dirichlet):
        for rows, alpha in chunked(belief.alpha):
            share, whole = alpha / alpha.sum(axis=1, keepdims=True), alpha.sum(axis=1)
            product = ((share @ costs) * share).sum(axis=1) * whole
            expected[rows] = (product + share @ np.diag(costs)) / (whole + 1)
        return expected
    assert isinstance(belief, Draws)
    for rows, probs in chunked(belief.probs):
        draws = probs / probs.sum(axis=-1, keepdims=True)
        expected[rows] = ((draws @ costs) * draws).sum(axis=-1).mean(axis=1)
    return expected

"""Definition 1: total, aleatoric and epistemic uncertainty, estimated and realised."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import FloatArray, as_vector
from rue.beliefs import (
    Belief,
    Convention,
    Scored,
    published_components,
    require_convention,
)
from rue.losses import Log, Loss, get_loss
from rue.truth.annotations import Annotations
from rue.truth.deployed import deployed_actions, require_belief
from rue.truth.finite_annotators import Estimator, bracket_end, estimate_bayes_risk

__all__ = ["Components", "decompose", "realize"]


@dataclass(frozen=True, eq=False)
class Components:
    """Total, aleatoric and epistemic uncertainty of each point, shape (n_points,) each.

    Estimated ("hat") components come from :func:`decompose`, realised ("star") ones from
    :func:`realize`, where ``epistemic`` is the regret. All are rounded to 1e-12 of the loss's
    scale, so that rounding errors rank next to nothing.

    Attributes
    ----------
    floored
        Which points have a predicted probability below 1e-12 for a class that does occur, which
        the log loss floors there; None where that was not asked.
    standard_error
        Of ``aleatoric`` and ``epistemic``, where they are sampled (cost matrix under a
        Dirichlet); None where they are exact.
    aleatoric_high
        The leave-one-out Bayes risk, where ``aleatoric`` is the plug-in one of two or more
        answers a point: in expectation the true one is in between; else None.
    n_annotators
        How many people answered for each point, infinity where p* is known; None where nobody
        was asked or it is not known.
    """

    total: FloatArray
    aleatoric: FloatArray
    epistemic: FloatArray
    floored: NDArray[np.bool] | None = None
    standard_error: FloatArray | None = None
    aleatoric_high: FloatArray | None = None
    n_annotators: FloatArray | None = None

    def __post_init__(self) -> None:
        total = as_vector("total", self.total)
        object.__setattr__(self, "total", total)
        for name in ("aleatoric", "epistemic"):
            object.__setattr__(self, name, as_vector(name, getattr(self, name), len(total)))

    def __len__(self) -> int:
        return len(self.total)

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Components":
        """Give the components of some of the points: a slice, a mask or indices."""
        columns = {f.name: getattr(self, f.name) for f in fields(self)}
        kept: dict[str, Any] = {k: None if v is None else v[rows] for k, v in columns.items()}
        return Components(**kept)

    @property
    def n_floored(self) -> int:
        """How many points the log loss's floor touched."""
        return 0 if self.floored is None else int(self.floored.sum())


def decompose(
    belief: Belief,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    seed: int = 0,
    convention: Convention = "definition",
) -> Components:
    """Definition 1, estimated: what the belief itself says of its uncertainty.

    With the mean distribution m = E[p] and the action a(m):

    - aleatoric = E[Bayes risk of p],
    - epistemic = E[risk of a(m) under p - Bayes risk of p],
    - total = their sum = Bayes risk of m.

    For :class:`~rue.Scored` beliefs aleatoric is the Bayes risk of the distribution, epistemic
    the score as given, and total their sum.

    Parameters
    ----------
    belief
        What the model says.
    loss
        ``"log"``, ``"brier"``, ``"zero_one"``, ``"squared"``, ``"absolute"``, ``"rps"``,
        ``"pinball:0.8"`` (any level) or a loss object such as :class:`~rue.CostMatrix`.
    values
        The scale of the classes under squared, absolute, rps and pinball loss (default 0..K-1).
        If the annotations have values, give them here too: the belief does not know them.
    seed
        Of the Sobol points, for a cost matrix under a Dirichlet belief; all else is exact.
    convention
        ``"definition"`` for Definition 1, ``"published"`` for what the authors' own code computes
        (:mod:`rue.beliefs.published`).

    Examples
    --------
    >>> from rue import Draws
    >>> decompose(Draws([[[1.0, 0.0], [0.0, 1.0]]]), "brier").epistemic
    array([0.5])
    """
    require_belief(belief)
    loss = get_loss(loss, values=values)
    n_classes = belief.n_classes
    require_convention(convention)
    if convention == "published":
        found = published_components(belief, loss, seed=seed)
        epistemic = found.epistemic
        if not found.outside_score:
            epistemic = np.maximum(loss.round(epistemic, n_classes), 0.0)
        return Components(
            loss.round(found.total, n_classes), loss.round(found.aleatoric, n_classes), epistemic
        )
    aleatoric, epistemic = np.empty(len(belief)), np.empty(len(belief))
    error: FloatArray | None = None
    for rows, expected in belief.expectations(loss, seed=seed):
        aleatoric[rows], epistemic[rows] = expected.bayes_risk, expected.regret
        if expected.standard_error is not None:
            error = np.empty(len(belief)) if error is None else error
            error[rows] = expected.standard_error
    total = aleatoric + epistemic
    if isinstance(belief, Scored):
        aleatoric = loss.round(aleatoric, n_classes)
        return Components(aleatoric + epistemic, aleatoric, epistemic)
    return Components(
        loss.round(total, n_classes),
        loss.round(aleatoric, n_classes),
        np.maximum(loss.round(epistemic, n_classes), 0.0),
        standard_error=error,
    )


def realize(
    annotations: Annotations,
    belief: Belief | None,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    estimator: Estimator = "plugin",
) -> Components:
    """Definition 1, realised: what acting on the belief costs when people's answers are the truth.

    With the action a of the belief, or any deployed predictor's ``actions``:

    - total = risk of a under p*,
    - aleatoric = Bayes risk of p*,
    - epistemic, the regret, = total - aleatoric >= 0.

    Parameters
    ----------
    annotations
        What people said, and so p*.
    belief
        What the model says; may be None if ``actions`` are given.
    loss, values
        As in :func:`decompose`; ``values`` default to those of the annotations.
    actions
        What was deployed: classes (zero_one), row numbers of the cost matrix, numbers (squared,
        absolute, pinball), shape (n_points,); or distributions (log, brier, rps),
        (n_points, n_classes).
    estimator
        Of the Bayes risk of p*, which is known only by finitely many answers:
        ``"plugin"``, that of their frequencies, too low on average; ``"leave_one_out"``, too
        high on average, so that the regret is too low and may be negative; ``"unbiased"``,
        which exists for squared, Brier and rps loss, and where the regret may be negative too. See
        :mod:`rue.truth.finite_annotators`.

    Examples
    --------
    >>> from rue import Annotations
    >>> realize(Annotations([[8, 2]]), None, "zero_one", actions=[1]).epistemic
    array([0.6])
    >>> realize(Annotations([[8, 2]]), None, "squared", actions=[0], estimator="unbiased")
    Components(total=array([0.2]), aleatoric=array([0.17777778]), epistemic=array([0.02222222]),
               floored=None, standard_error=None, aleatoric_high=None, n_annotators=array([10.]))
    """
    loss = get_loss(loss, values=annotations.values if values is None else values)
    n_points, n_classes = annotations.n_points, annotations.n_classes
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
        epistemic = loss.round(total - aleatoric, n_classes)
    else:
        epistemic = np.maximum(loss.round(epistemic, n_classes), 0.0)
        high = bracket_end(annotations, loss)
    return Components(
        loss.round(total, n_classes),
        loss.round(aleatoric, n_classes),
        epistemic,
        floored,
        aleatoric_high=high,
        n_annotators=annotations.n_annotators,
    )

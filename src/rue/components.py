"""Definition 1: total, aleatoric and epistemic uncertainty, estimated and realised.

A :class:`Run` holds both on the same points, and is what everything that follows takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rue._arrays import as_seed
from rue._text import short_repr
from rue.beliefs import Convention, published_components, require_convention
from rue.beliefs.base import Belief, Components, require_any_belief
from rue.errors import InputError, ShapeError
from rue.losses import Loss, get_loss
from rue.truth.alignment import on_one_scale, truth_on_scale
from rue.truth.answer_losses import Answers, answers
from rue.truth.base import Truth
from rue.truth.realized import Estimator, pooled_again, realize_answers

__all__ = ["Components", "Run", "decompose", "realize"]

P = ParamSpec("P")
R = TypeVar("R")


def decompose(
    belief: Belief,
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

    For a :class:`~rue.Scored` belief, aleatoric and total are the Bayes risk of the distribution,
    and epistemic is the score as given: it has another unit, so nothing is added to it.

    Parameters
    ----------
    belief : Belief
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
    >>> from rue import Draws, decompose
    >>> decompose(Draws([[[1.0, 0.0], [0.0, 1.0]]]), "brier").epistemic
    array([0.5])
    """
    loss, seed = get_loss(loss, values=values), as_seed(seed)
    if convention != "definition":
        require_convention(convention)
    belief = require_any_belief(belief).on_scale(loss)
    if convention == "published":
        return published_components(belief, loss, seed=seed)
    return belief.components(loss, seed=seed)


def truth_first(function: Callable[P, R]) -> Callable[P, R]:
    """Let ``annotations`` be another keyword for ``truth``, the first argument."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        if "annotations" in options and not args:
            options["truth"] = options.pop("annotations")
        return function(*args, **options)

    return call


@truth_first
def realize(
    truth: Truth,
    belief: Belief | None,
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
    truth : Annotations or Ratings
        The answers of the annotators, and so p*.
    belief : Belief or None
        The predictions of the model; may be None if ``actions`` are given. Rows and classes are
        matched by name (:func:`rue.align`), and the result has the belief's rows.
    loss, values
        As in :func:`decompose`; ``values`` default to those of the truth.
    actions : array_like of shape (n_points,) or (n_points, n_classes), optional
        The actions of a deployed predictor, by default the belief's own ``actions``, else its
        Bayes actions: classes (zero_one), row numbers of the cost matrix,
        or numbers (squared, absolute, pinball), one per point; or distributions (log, brier,
        rps). Under crps, numbers or equally likely values, shape (n_points, n_values).
    estimator : {"plugin", "leave_one_out", "unbiased"}
        How to estimate the Bayes risk of p* from finitely many answers. ``"plugin"``, the Bayes
        risk of their frequencies, is too low on average. ``"leave_one_out"`` is too high on
        average, so that the regret is too low and may be negative. ``"unbiased"`` exists for
        squared, Brier, rps and crps loss; the regret may be negative. See
        :mod:`rue.truth.realized`.

    Returns
    -------
    Components
        The realised components, each of shape (n_points,).

    Raises
    ------
    InputError
        If truth and belief differ in points or classes, or actions are invalid.

    Examples
    --------
    >>> from rue import Annotations, realize
    >>> realize(Annotations([[8, 2]]), None, "zero_one", actions=[1]).epistemic
    array([0.6])
    >>> realize(Annotations([[8, 2]]), None, "squared", actions=[0], estimator="unbiased")
    Components(total=array([0.2]), aleatoric=array([0.17777778]), epistemic=array([0.02222222]),
               n_annotators=array([10.]), outside_score=False, person=array([0.35555556]))
    """
    if belief is not None:
        (annotations, belief, _), loss, actions = on_one_scale(truth, belief, loss, values, actions)
    else:
        if actions is None:
            raise InputError("realize needs a belief or actions, got neither")
        annotations, loss = truth_on_scale(truth, get_loss(loss, values=values), values)
    return realize_answers(annotations, belief, loss, actions=actions, estimator=estimator)


@dataclass(frozen=True, eq=False)
class Run:
    """One method's realised and estimated components on the same points.

    Evaluation, intervals, comparison, plans, the report and the plots all take it.

    Attributes
    ----------
    star, hat
        The realised and the estimated components, n_points each; row i is the same point.
    method
        The name of the method.
    loss
        The loss that the components are of, or only its name.
    ids
        The names of the points, shape (n_points,).
    groups
        Columns to group the points by, each of shape (n_points,), by name.
    annotations
        The annotators' answers, if ``star`` was realised from them.
    answers
        What each answer costs, where that was asked for: it lets annotators be drawn again.
    belief
        What the model says, aligned with ``annotations``, if the run was made from it.
    defer_fee
        What asking a person costs beyond their risk, in the unit of the loss.
    at
        Limits at which curves are read: ``coverage``, ``risk`` and ``regret``, those asked for.
    path
        The file that the run was read from.
    classes
        The names of the classes, shape (n_classes,), where they have names.
    notes
        What a reader of the numbers must know about how files were matched, a sentence each.
    convention
        ``"definition"``, or ``"published"`` where ``hat`` is what the authors' own code computes.

    Examples
    --------
    >>> from rue import Components, Run
    >>> regret = np.array([0.0, 0.2, 0.5])
    >>> star = Components(regret + 0.1, np.full(3, 0.1), regret)
    >>> run = Run(star, star, method="oracle", loss="brier")
    >>> len(run), run[regret > 0].star.epistemic
    (3, array([0.2, 0.5]))
    """

    star: Components
    hat: Components
    _: KW_ONLY
    method: str = ""
    loss: str | Loss = ""
    ids: NDArray[np.str_] | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    annotations: Truth | None = None
    answers: Answers | None = None
    belief: Belief | None = None
    defer_fee: float = 0.0
    at: Mapping[str, float] = field(default_factory=dict)
    path: Path | None = None
    classes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    convention: Convention = "definition"
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        n_points = len(self.star)
        if len(self.hat) != n_points:
            raise ShapeError(
                f"star and hat must have the same points, got {n_points} and {len(self.hat)}"
            )
        if not 0 <= self.defer_fee < np.inf:
            raise InputError(f"defer_fee must be a number from 0 on, got {self.defer_fee}")
        for name, limit in self.at.items():
            if name not in ("coverage", "risk", "regret"):
                raise InputError(f"at must have coverage, risk or regret, got {name!r}")
            if not 0 <= limit < np.inf or (name == "coverage" and limit > 1):
                ends = "from 0 to 1" if name == "coverage" else "from 0 on"
                raise InputError(f"at: {name} must be a number {ends}, got {limit}")
        own = {name: getattr(self, name) for name in ("ids", "annotations", "answers", "belief")}
        for name, column in {**own, **self.groups}.items():
            if column is not None and len(column) != n_points:
                raise ShapeError(
                    f"{name} must have {n_points} points as star has, got {len(column)}"
                )

    @classmethod
    @truth_first
    def from_belief(
        cls,
        truth: Truth,
        belief: Belief,
        loss: str | Loss = "log",
        *,
        values: ArrayLike | None = None,
        actions: ArrayLike | None = None,
        method: str = "",
        with_answers: bool | None = False,
        seed: int = 0,
        convention: Convention = "definition",
    ) -> Run:
        """Return the run of a belief against the annotators' answers (Definition 1).

        Parameters
        ----------
        truth
            The annotators' answers about n_points points.
        belief
            What the model says about the same points; they are matched by name
            (:func:`rue.align`).
        loss, values, actions, seed
            As in :func:`rue.decompose` and :func:`rue.realize`; ``values`` default to those of
            the truth.
        method
            The name of the method, by default the belief's own.
        with_answers
            Whether to keep what each answer costs, which :func:`rue.plan` needs; None keeps it
            where there are answers, and not where p* is known.
        convention
            As in :func:`rue.decompose`.

        Returns
        -------
        Run
            Of n_points points.

        Examples
        --------
        >>> from rue import Annotations, Draws, Run
        >>> run = Run.from_belief(Annotations([[8, 2]]), Draws([[[0.5, 0.5]]]), "brier")
        >>> run.star.epistemic
        array([0.18])
        """
        aligned, loss, actions = on_one_scale(truth, belief, loss, values, actions)
        truth, belief, notes = aligned
        if with_answers is None:
            with_answers = truth.has_answers
        return cls(
            realize_answers(truth, belief, loss, actions=actions),
            decompose(belief, loss, seed=seed, convention=convention),
            method=method or belief.method,
            loss=loss,
            ids=belief.ids,
            annotations=truth,
            answers=answers(truth, belief, loss, actions=actions) if with_answers else None,
            belief=belief,
            classes=belief.outcomes.names,
            notes=(*notes, *loss.scale_notes(belief.outcomes), *belief.doubts()),
            convention=convention,
        )

    def __len__(self) -> int:
        return len(self.star)

    def __getitem__(self, rows: slice | NDArray[Any]) -> Run:
        """Return the run of some of the points: a slice, a mask or indices."""
        star, annotations = self.star[rows], self.annotations
        if annotations is not None:
            annotations = annotations[rows]
            if isinstance(self.loss, Loss):
                star = pooled_again(star, annotations, self.loss)
        return replace(
            self,
            star=star,
            hat=self.hat[rows],
            ids=None if self.ids is None else self.ids[rows],
            groups={name: column[rows] for name, column in self.groups.items()},
            annotations=annotations,
            answers=None if self.answers is None else self.answers[rows],
            belief=None if self.belief is None else self.belief[rows],
        )

    def once(self, function: Callable[[Run], R]) -> R:
        """Return what a function of this run returns, which is computed the first time."""
        if function not in self._cache:
            self._cache[function] = function(self)
        return cast(R, self._cache[function])

    def with_points(self, numbers: Mapping[Callable[[Run], Any], Any]) -> Run:
        """Return the same run, of which some functions of its points are known already."""
        run = replace(self)
        run._cache.update(numbers)
        return run

    def by_id(self) -> Run:
        """Return the run with its points in the order of their ids, where they have ids."""
        if self.ids is None:
            return self
        whole = all(name.removeprefix("-").isdecimal() for name in self.ids.tolist())
        order = np.argsort(self.ids.astype(np.int64) if whole else self.ids, kind="stable")
        return self if (np.diff(order) == 1).all() else self[order]

    def by_class(self) -> Run:
        """Return the run with its classes in the order of their names, if the loss needs none."""
        loss, truth = self.loss, self.annotations
        if truth is None or not isinstance(loss, Loss) or loss.needs_order:
            return self
        columns = truth.outcomes.sorted_columns()
        outcomes = truth.outcomes.part(columns)
        if outcomes.names == truth.outcomes.names:
            return self
        loss = loss.on_classes(outcomes)
        return replace(
            self,
            loss=loss,
            annotations=truth._in_columns(columns, outcomes),
            answers=self.answers and self.answers.in_columns(columns, loss),
            belief=self.belief and self.belief._in_columns(columns, outcomes),
            classes=outcomes.names,
        )

    @property
    def source(self) -> str:
        """What messages call the run."""
        return str(self.path or f"the run {self.method!r}")

    @property
    def loss_name(self) -> str:
        """The name of the loss, empty where it is not known."""
        return self.loss.name if isinstance(self.loss, Loss) else self.loss

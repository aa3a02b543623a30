"""One row of the paper's table: how well epistemic uncertainty finds regret."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rue._text import JsonObject
from rue.beliefs import Convention
from rue.beliefs.base import Belief
from rue.components import Components, Run, truth_first
from rue.errors import InputError
from rue.losses import Loss
from rue.metrics.columns import COLUMNS, EVALUATED, UNBIASED_LOSSES, Column, title
from rue.metrics.corrected import CORRECTED
from rue.metrics.limits import limit_titles
from rue.metrics.statistics import Sample
from rue.truth.base import Truth
from rue.truth.realized import person_kind

if TYPE_CHECKING:
    from rue.inference.intervals import Intervals


class _Columns:
    """The columns of an evaluation, for type checkers: one for each entry of ``EVALUATED``."""

    aurec: float
    aurec_low: float
    aurec_high: float
    excess_aurec: float
    n_aurec: float
    aurc: float
    aurc_total: float
    pareto_gap: float
    spearman_hat: float
    spearman_star: float
    regret_calibration: float
    risk: float
    regret: float
    aurec_total: float
    n_aurec_total: float
    aurec_aleatoric: float
    n_aurec_aleatoric: float
    excess_aurec_corrected: float
    n_aurec_corrected: float
    pareto_gap_corrected: float
    spearman_star_corrected: float
    spearman_epistemic: float
    spearman_aleatoric: float
    aurec_unbiased: float
    regret_unbiased: float
    r_aurec: float
    r_aurec_total: float
    n_aurec_total_corrected: float
    n_aurec_floor: float
    n_aurec_true_regret: float
    n_aurec_expected: float
    n_aurec_floor_error: float
    n_aurec_true_regret_error: float
    n_aurec_expected_error: float
    annotators_min: float
    annotators_mean: float
    annotators_max: float
    pair_log_loss: float
    pair_gain: float
    agreement_hat: float
    agreement_star: float
    person_risk: float
    person_parity: float
    team_risk: float
    team_coverage: float
    risk_at_coverage: float
    regret_at_coverage: float
    coverage_at_risk: float
    coverage_at_regret: float


@dataclass(frozen=True)
class Evaluation(_Columns):
    """The results of one method: one row of the paper's table.

    Printing it shows a small table. Undefined numbers are NaN.

    Each column of :data:`rue.metrics.COLUMNS` that has a statistic is an attribute, for example
    ``row.n_aurec``; ``rue.metrics.COLUMNS["n_aurec"].explanation`` says what it is.

    Attributes
    ----------
    method, loss, group
        The names of the method, of the loss, and of the points if they are a subset.
    n_points
        The number of points.
    numbers
        All columns by key.
    n_floored
        The number of points that the floor of the log loss affected.
    notes
        Sentences that a reader of the numbers must know.
    convention
        ``"definition"``, or ``"published"`` for what the authors' own code computes.
    person_kind
        Who is asked about deferred points: ``"person"`` (one annotator), or ``"panel"`` (all other
        annotators of the point); empty if the loss is not known.
    defer_fee
        What asking costs beyond the risk of the person, in the unit of the loss.
    at
        The limits at which curves were read: ``coverage``, ``risk`` and ``regret``.
    intervals
        The confidence intervals of the columns, if they were computed
        (:func:`rue.inference.intervals.intervals`).
    """

    method: str
    loss: str
    group: str
    n_points: int
    numbers: Mapping[str, float]
    n_floored: int = 0
    notes: tuple[str, ...] = ()
    convention: str = "definition"
    person_kind: str = ""
    defer_fee: float = 0.0
    at: Mapping[str, float] = field(default_factory=dict)
    intervals: "Intervals | None" = field(default=None, repr=False, compare=False)

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON: NaN and infinity become None.

        With intervals, it contains their level as ``ci``, and ``*_ci_low`` and ``*_ci_high`` for
        each column.
        """
        named = {
            "method": self.method,
            "loss": self.loss,
            "group": self.group,
            "n_points": self.n_points,
        }
        numbers = {
            key: value if math.isfinite(value) else None for key, value in self.numbers.items()
        }
        further = {
            "n_floored": self.n_floored,
            "notes": list(self.notes),
            "convention": self.convention,
            "person_kind": self.person_kind,
            "defer_fee": self.defer_fee,
        }
        limits = {f"at_{name}": limit for name, limit in self.at.items()}
        ends = {} if self.intervals is None else self.intervals.to_dict()
        return named | numbers | further | limits | ends

    def __str__(self) -> str:
        from rue.metrics.table import describe

        return describe(self)

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        from rue.metrics.table import describe_html

        return describe_html(self)


def _column_property(key: str) -> property:
    return property(lambda row: row.numbers[key], doc=COLUMNS[key].meaning)


for _key in EVALUATED:
    setattr(Evaluation, _key, _column_property(_key))


@truth_first
def evaluate(
    truth: Truth,
    belief: Belief,
    loss: str | Loss = "log",
    *,
    values: "ArrayLike | None" = None,
    actions: "ArrayLike | None" = None,
    method: str = "",
    gap: bool = True,
    seed: int = 0,
    convention: Convention = "definition",
    corrected: bool = False,
    defer_fee: float = 0.0,
    references: bool | None = None,
    at: float | None = None,
    coverage_at: Mapping[str, float] | None = None,
) -> Evaluation:
    """Evaluate a belief against the answers of annotators: one row of the paper's table.

    Parameters
    ----------
    truth : Annotations or Ratings
        The answers, and so p*; :class:`~rue.Ratings` if they are real numbers.
    belief : Belief
        The predictions of the model; rows and classes are matched by name
        (:func:`rue.align`).
    loss : str or Loss
        The loss that the predictions are judged by: ``"log"``, ``"brier"``, ``"zero_one"``,
        ``"squared"``, ``"absolute"``, ``"rps"``, ``"crps"``, ``"pinball:0.8"``, or an object such
        as ``CostMatrix(costs)``.
    values : array_like of shape (n_classes,), optional
        Increasing numbers that the classes stand for under squared, absolute, rps and pinball
        loss; by default those of the truth, or else 0, 1, 2, ...
    actions : array_like of shape (n_points,) or (n_points, n_classes), optional
        The actions of a deployed predictor, by default the belief's Bayes actions; see
        :func:`rue.realize`.
    method : str
        The name of the method in the result, by default the belief's own.
    gap : bool
        Whether to compute the Pareto-gap, which takes longer than all other columns.
    seed : int
        Seed of the random points by which a cost matrix under a Dirichlet belief is integrated,
        and of the draws of floor and expectation; everything else is exact.
    convention : {"definition", "published"}
        ``"definition"`` for Definition 1, ``"published"`` for what the authors' own code computes
        (:mod:`rue.beliefs.published`): other components, equal scores in row order, 91 raw angles,
        and 0 for an undefined n-AuReC.
    corrected : bool
        Whether to correct the columns that the bracket does not cover for finitely many
        annotators (:mod:`rue.metrics.corrected`); with the Pareto-gap this takes 33 times as long.
    defer_fee : float
        What asking a person about a deferred point costs beyond their risk, in the unit of the
        loss; it is part of ``team_risk``.
    references : bool, optional
        Whether to compute what n-AuReC is measured against: its corrected values, its floor and
        expectation (:mod:`rue.metrics.floor`). By default floor and expectation are computed up to
        20,000 points, and corrected values up to 100,000 if every point has 4 answers.
    at : float, optional
        A coverage at which to report risk and regret (``risk_at_coverage``,
        ``regret_at_coverage``).
    coverage_at : mapping of str to float, optional
        A ``risk``, a ``regret`` or both, within which to report the largest coverage
        (``coverage_at_risk``, ``coverage_at_regret``).

    Returns
    -------
    Evaluation
        The results, each a number.

    Raises
    ------
    InputError
        If truth and belief do not fit together, or an argument is invalid.

    Examples
    --------
    >>> import rue
    >>> row = rue.evaluate(
    ...     rue.Annotations([[9, 1], [5, 5], [0, 10]]),
    ...     rue.Draws([[[0.9, 0.1]] * 2, [[0.9, 0.1], [0.3, 0.7]], [[0.0, 1.0]] * 2]),
    ...     loss="brier",
    ... )
    >>> round(row.regret, 6), round(row.n_aurec, 6)
    (0.006667, 0.0)
    """
    run = Run.from_belief(
        truth,
        belief,
        loss,
        values=values,
        actions=actions,
        method=method,
        seed=seed,
        convention=convention,
    )
    limits = {} if at is None else {"coverage": at}
    run = replace(run, defer_fee=defer_fee, at=limits | dict(coverage_at or {}))
    return evaluate_run(run, gap=gap, corrected=corrected, references=references, seed=seed)


def evaluate_components(
    star: Components,
    hat: Components,
    *,
    loss: str = "",
    method: str = "",
    group: str = "",
    gap: bool = True,
) -> Evaluation:
    """Evaluate estimated components against realised ones, from any source.

    Parameters
    ----------
    star, hat : Components
        The realised and the estimated components of the same points.
    loss, method, group : str
        Names that the result carries.
    gap : bool
        Whether to compute the Pareto-gap, which takes longer than all other columns.

    Returns
    -------
    Evaluation
        The results. The calibration is NaN if ``hat.outside_score`` is set, because then the
        epistemic part does not have the unit of the loss.

    Raises
    ------
    ShapeError
        If the two do not have the same number of points.

    Examples
    --------
    >>> from rue import Components, evaluate_components
    >>> import numpy as np
    >>> regret = np.array([0.0, 0.2, 0.5])
    >>> star = Components(regret, np.zeros(3), regret)
    >>> evaluate_components(star, star).n_aurec
    0.0
    """
    return evaluate_run(Run(star, hat, method=method, loss=loss), group=group, gap=gap)


def evaluate_run(
    run: Run,
    *,
    group: str = "",
    gap: bool | float = True,
    corrected: bool = False,
    references: bool | None = None,
    seed: int = 0,
) -> Evaluation:
    """Evaluate the run of one method: one row of the paper's table.

    Parameters
    ----------
    run : Run
        The realised and the estimated components, with the name of the method and the loss.
    group : str
        The name of these points, if they are a subset.
    gap : bool or float
        Whether to compute the Pareto-gap, which takes longer than all other columns; or the gap,
        if it is known already.
    corrected : bool
        Whether to correct the columns that the bracket does not cover for finitely many
        annotators; NaN where the run does not have its answers.
    references : bool, optional
        Whether to compute what n-AuReC is measured against; see :func:`evaluate`.
    seed : int
        Seed of the simulated answers of the floor and the expectation.

    Returns
    -------
    Evaluation
        The results.

    Examples
    --------
    >>> from rue import evaluate_run
    >>> import rue
    >>> run = rue.Run.from_belief(
    ...     rue.Annotations([[9, 1], [5, 5]]),
    ...     rue.Draws([[[0.9, 0.1]] * 2, [[0.9, 0.1], [0.3, 0.7]]]),
    ...     method="ensemble",
    ... )
    >>> evaluate_run(run).method
    'ensemble'
    """
    if corrected and run.convention == "published":
        raise InputError('corrected columns follow Definition 1, so use convention "definition"')
    request = [f"{column}_corrected" for column in CORRECTED] if corrected else []
    request += limit_titles(run.at)
    sample = Sample(run, gap=gap, request=request, references=references, seed=seed)
    wanted = [COLUMNS[key] for key in EVALUATED]
    sample.prepare(c.statistic for c in wanted if c.statistic and not c.on_request)
    numbers = {column.key: _number(column, sample) for column in wanted}
    remarks = [f"{title(key)} {why}" if key else why for key, why in sample.notes]
    return Evaluation(
        method=run.method,
        loss=run.loss_name,
        group=group,
        n_points=len(run),
        numbers=numbers,
        n_floored=run.star.n_floored,
        notes=(*run.notes, *_notes(run, numbers), *remarks, *_reasons(numbers, run)),
        convention=run.convention,
        person_kind="" if run.star.person is None else person_kind(run.loss),
        defer_fee=run.defer_fee,
        at=run.at,
    )


def _number(column: Column, sample: Sample) -> float:
    """Return the number of a column; NaN if it is computed on request and nobody asked."""
    assert column.statistic is not None  # as in all of EVALUATED
    if column.on_request and column.key not in sample.request:
        return math.nan
    return column.statistic.value(sample)


def _reasons(numbers: Mapping[str, float], run: Run) -> list[str]:
    """Return why columns are empty: one note for all that share a reason."""
    titles: dict[str, list[str]] = {}
    for key, number in numbers.items():
        reason = COLUMNS[key].reason
        if reason is not None and math.isnan(number) and (why := reason(run)):
            titles.setdefault(why, []).append(title(key))
    return [
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} empty: {why}"
        for why, names in titles.items()
    ]


def _notes(run: Run, numbers: Mapping[str, float]) -> list[str]:
    """Return what a reader of a row must know about its points."""
    star, hat, notes = run.star, run.hat, []
    if np.ptp(star.epistemic) == 0:
        notes.append(f"all regrets are {star.epistemic[0]:.6g}: n-AuReC is undefined")
    if np.ptp(hat.epistemic) == 0:
        notes.append("all epistemic estimates are equal: the ranking is random")
    if star.n_floored:
        notes.append(
            f"{star.n_floored} of {len(star)} points have a predicted probability below 1e-12 "
            "for a class that annotators chose; it was raised to 1e-12"
        )
    single = 0 if star.n_annotators is None else int((star.n_annotators < 2).sum())
    if single:
        also = " and there is no unbiased regret" if run.loss_name in UNBIASED_LOSSES else ""
        notes.append(
            f"{single} of {len(star)} points have one annotator: the bracket has no lower end{also}"
            " (--min-annotators 2 leaves them out)"
        )
    if (constant := _constant_risk(run)) is not None:
        notes.append(
            f"its mean loss, {star.total.mean():.4g}, is worse than that of the mean answer of all "
            f"points, {constant:.4g}: are rows or classes in another order?"
        )
    if numbers["regret_unbiased"] <= 0:
        notes.append(
            f"r-AuReC is empty: the unbiased regret is {numbers['regret_unbiased']:.3g}, not above "
            "0, so the model is as good as the answers can tell"
        )
    return notes


def _constant_risk(run: Run) -> float | None:
    """Return the risk of predicting the mean answer everywhere, if that is clearly better."""
    truth, loss, total = run.annotations, run.loss, run.star.total
    if truth is None or not isinstance(loss, Loss) or len(run) < 20:
        return None
    constant = truth.constant_risk(loss)
    if constant is None:
        return None
    lead = total - constant
    return float(constant.mean()) if lead.mean() > 3 * lead.std() / len(run) ** 0.5 else None

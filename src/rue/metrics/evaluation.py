"""One row of the paper's table: how well epistemic uncertainty finds regret."""

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rue.beliefs import Convention
from rue.beliefs.base import AnyBelief
from rue.components import Components, Run, truth_first
from rue.errors import InputError
from rue.losses import Loss
from rue.metrics.measures import areas, aurc, regret_calibration, spearman
from rue.pareto.gap import pareto_gap
from rue.truth.base import Truth

if TYPE_CHECKING:
    from rue.inference.intervals import Intervals

__all__ = ["Evaluation", "evaluate", "evaluate_components", "evaluate_run"]


@dataclass(frozen=True)
class Evaluation:
    """The results of one method: one row of the paper's table.

    Printing it shows a small table. Undefined numbers are NaN.

    Attributes
    ----------
    aurec, excess_aurec, n_aurec
        The area under the regret-coverage curve when ranking by the estimated epistemic
        uncertainty; that area minus the oracle's; and the difference on a scale from 0 (oracle)
        to 1 (random ranking).
    aurc, aurc_total
        The area under the risk-coverage curve when ranking by the estimated epistemic
        uncertainty, and by the estimated total.
    pareto_gap
        The distance of selectors on the estimated components from the optimal ones.
    spearman_hat, spearman_star
        The rank correlation of aleatoric and epistemic, estimated and realised.
    regret_calibration
        The mean absolute gap between estimated epistemic uncertainty and realised regret.
    risk, regret
        The mean realised total and the mean regret at full coverage.
    n_floored
        The number of points that the floor of the log loss affected.
    notes
        Sentences that a reader of the numbers must know.
    aurec_low, aurec_high
        The bracket: in expectation over the answers, the AuReC under the true p* is between
        these (:mod:`rue.truth.finite_annotators`). The upper end is the plug-in ``aurec``; the
        lower may be negative. Both are equal if p* is known.
    annotators_min, annotators_mean, annotators_max
        The number of annotators per point; infinity if p* is known.
    aurec_total, n_aurec_total, aurec_aleatoric, n_aurec_aleatoric
        AuReC and n-AuReC when ranking by the estimated total, and by the estimated aleatoric
        uncertainty: whether the epistemic part finds regret better than they do.
    excess_aurec_corrected, n_aurec_corrected, spearman_star_corrected, pareto_gap_corrected
        The columns that the bracket does not cover, corrected for finitely many annotators where
        that was asked for (:mod:`rue.metrics.corrected`).
    convention
        ``"definition"``, or ``"published"`` for what the authors' own code computes.
    intervals
        The confidence intervals of the columns, if they were computed
        (:func:`rue.inference.intervals.intervals`).
    """

    method: str
    loss: str
    group: str
    n_points: int
    aurec: float
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
    n_floored: int
    notes: tuple[str, ...]
    aurec_low: float = math.nan
    aurec_high: float = math.nan
    annotators_min: float = math.nan
    annotators_mean: float = math.nan
    annotators_max: float = math.nan
    aurec_total: float = math.nan
    n_aurec_total: float = math.nan
    aurec_aleatoric: float = math.nan
    n_aurec_aleatoric: float = math.nan
    excess_aurec_corrected: float = math.nan
    n_aurec_corrected: float = math.nan
    spearman_star_corrected: float = math.nan
    pareto_gap_corrected: float = math.nan
    convention: str = "definition"
    intervals: "Intervals | None" = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON: NaN and infinity become None.

        With intervals, it contains their level as ``ci``, and ``*_ci_low`` and ``*_ci_high`` for
        each column.
        """
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        found = values.pop("intervals")
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in values.items()
        } | ({"notes": list(self.notes)} | ({} if found is None else found.to_dict()))

    def __str__(self) -> str:
        from rue.metrics.table import describe

        return describe(self)


@truth_first
def evaluate(
    truth: Truth,
    belief: AnyBelief,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    method: str = "",
    gap: bool = True,
    seed: int = 0,
    convention: Convention = "definition",
    corrected: bool = False,
) -> Evaluation:
    """Evaluate a belief against the answers of annotators: one row of the paper's table.

    Parameters
    ----------
    truth : Annotations or Ratings
        The answers, and so p*; :class:`~rue.Ratings` if they are real numbers.
    belief : Belief
        The predictions of the model; rows and classes are matched by name
        (:func:`rue.align`).
    loss, values, seed
        As in :func:`rue.decompose`; ``values`` default to those of the truth.
    actions : array_like of shape (n_points,) or (n_points, n_classes), optional
        The actions of a deployed predictor, by default the belief's Bayes actions; see
        :func:`rue.realize`.
    method : str
        The name of the method in the result, by default the belief's own.
    gap : bool
        Whether to compute the Pareto-gap, which takes longer than all other columns.
    convention : {"definition", "published"}
        ``"definition"`` for Definition 1, ``"published"`` for what the authors' own code computes
        (:mod:`rue.beliefs.published`): other components, equal scores in row order, 91 raw angles,
        and 0 for an undefined n-AuReC.
    corrected : bool
        Whether to correct the columns that the bracket does not cover for finitely many
        annotators (:mod:`rue.metrics.corrected`); with the Pareto-gap this takes 33 times as long.

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
        with_answers=None if corrected else False,
        seed=seed,
        convention=convention,
    )
    return evaluate_run(run, gap=gap, corrected=corrected)


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
    run: Run, *, group: str = "", gap: bool | float = True, corrected: bool = False
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
    star, hat = run.star, run.hat
    published = run.convention == "published"
    rule: Literal["row_order", "exact"] = "row_order" if published else "exact"
    regret = areas(star.epistemic, hat.epistemic, rule=rule)
    by_total, by_aleatoric = (
        replace(regret, area=aurc(star.epistemic, score, rule=rule))
        for score in (hat.total, hat.aleatoric)
    )
    undefined = 0.0 if published and np.ptp(star.epistemic) == 0 else math.nan
    more: dict[str, Any] = {}
    remarks: list[str] = []
    if corrected and published:
        raise InputError('corrected columns follow Definition 1, so use convention "definition"')
    if corrected and run.answers is not None:
        from rue.metrics.corrected import correct

        more, remarks = correct(run.answers, hat, gap=gap is not False)
    n_annotators = star.n_annotators
    if corrected and run.answers is None:
        exact = n_annotators is not None and bool(np.isinf(n_annotators).all())
        why = (
            "p* is known exactly, so there is nothing to correct"
            if exact
            else "the answers are not known, so they cannot be halved"
        )
        remarks = [f"{why}: the corrected columns are empty"]
    low = high = math.nan
    if star.aleatoric_high is not None:
        # The area minus that of the width of the bracket of the Bayes risk: 0 if p* is known.
        width = aurc(star.aleatoric_high - star.aleatoric, hat.epistemic, rule=rule)
        low, high = regret.area - width, regret.area
    elif n_annotators is not None and n_annotators.min() < 2:
        high = regret.area
    return Evaluation(
        method=run.method,
        loss=run.loss_name,
        group=group,
        n_points=len(star),
        aurec=regret.area,
        excess_aurec=regret.excess,
        n_aurec=_defined(regret.normalized, undefined),
        aurc=aurc(star.total, hat.epistemic, rule=rule),
        aurc_total=aurc(star.total, hat.total, rule=rule),
        pareto_gap=_gap(run, gap),
        spearman_hat=spearman(hat.aleatoric, hat.epistemic),
        spearman_star=spearman(star.aleatoric, star.epistemic),
        regret_calibration=float("nan")
        if hat.outside_score
        else regret_calibration(star.epistemic, hat.epistemic).gap,
        risk=float(star.total.mean()),
        regret=float(star.epistemic.mean()),
        n_floored=star.n_floored,
        notes=(*run.notes, *_notes(star, hat), *remarks),
        aurec_low=low,
        aurec_high=high,
        annotators_min=math.nan if n_annotators is None else float(n_annotators.min()),
        annotators_mean=math.nan if n_annotators is None else float(n_annotators.mean()),
        annotators_max=math.nan if n_annotators is None else float(n_annotators.max()),
        aurec_total=by_total.area,
        n_aurec_total=_defined(by_total.normalized, undefined),
        aurec_aleatoric=by_aleatoric.area,
        n_aurec_aleatoric=_defined(by_aleatoric.normalized, undefined),
        convention=run.convention,
        **more,
    )


def _gap(run: Run, gap: bool | float) -> float:
    """Return the Pareto-gap as asked: known already, computed, or NaN."""
    if not isinstance(gap, bool):
        return gap
    return pareto_gap(run.star, run.hat, convention=run.convention) if gap else math.nan


def _defined(value: float, otherwise: float) -> float:
    return otherwise if math.isnan(value) else value


def _notes(star: Components, hat: Components) -> list[str]:
    notes = []
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
        notes.append(
            f"{single} of {len(star)} points have one annotator: the bracket has no lower end"
        )
    return notes

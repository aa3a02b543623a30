"""One row of the paper's table: how well epistemic uncertainty finds regret."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rue.beliefs import Belief, Scored
from rue.components import Components, decompose, realize
from rue.errors import ShapeError
from rue.losses import Loss, get_loss
from rue.metrics.calibration import regret_calibration
from rue.metrics.correlation import spearman
from rue.metrics.curves import areas, aurc
from rue.pareto.gap import pareto_gap
from rue.truth.annotations import Annotations

__all__ = ["Evaluation", "evaluate", "evaluate_components"]


@dataclass(frozen=True)
class Evaluation:
    """One row of the paper's table. Prints as a small table; undefined numbers are NaN.

    Attributes
    ----------
    aurec, excess_aurec, n_aurec
        Area under the regret-coverage curve when ranking by the estimated epistemic
        uncertainty; minus the oracle's; and on a scale from 0 (oracle) to 1 (random).
    aurc, aurc_total
        Area under the risk-coverage curve when ranking by the estimated epistemic uncertainty,
        and by the estimated total.
    pareto_gap
        How far the estimated components together stay from the optimal accept/reject rules.
    spearman_hat, spearman_star
        Rank correlation of aleatoric and epistemic, estimated and realised.
    regret_calibration
        Mean absolute gap between estimated epistemic uncertainty and realised regret.
    risk, regret
        Mean realised total and mean regret when everything is accepted.
    n_floored
        How many points the log loss's floor on predicted probabilities touched.
    notes
        What a reader of the numbers must know, a sentence each.
    aurec_low, aurec_high
        The bracket: in expectation over the people's answers, the AuReC under the true p* is in
        between (:mod:`rue.truth.finite_annotators`). The upper end is the plug-in ``aurec``
        itself, the lower may be negative; both are the same where p* is known.
    annotators_min, annotators_mean, annotators_max
        How many people answered for a point; infinity where p* is known.
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

    def to_dict(self) -> dict[str, Any]:
        """Give a dictionary that is valid JSON: NaN and infinity become None."""
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(self).items()
        } | {"notes": list(self.notes)}

    def __str__(self) -> str:
        from rue.metrics.table import describe

        return describe(self)


def evaluate(
    annotations: Annotations,
    belief: Belief,
    loss: str | Loss = "log",
    *,
    values: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    method: str = "",
    gap: bool = True,
    seed: int = 0,
) -> Evaluation:
    """Evaluate a belief against what people said: one row of the paper's table.

    Parameters
    ----------
    annotations
        What people said, and so p*.
    belief
        What the model says.
    loss, values, seed
        As in :func:`rue.decompose`; ``values`` default to those of the annotations.
    actions
        What was really deployed, if not the belief's own Bayes actions; see :func:`rue.realize`.
    method
        A name for the row.
    gap
        Whether to compute the Pareto-gap, which takes longer than all the rest.

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
    loss = get_loss(loss, values=annotations.values if values is None else values)
    star = realize(annotations, belief, loss, actions=actions)
    hat = decompose(belief, loss, seed=seed)
    return evaluate_components(
        star, hat, loss=loss.name, method=method, gap=gap, outside=isinstance(belief, Scored)
    )


def evaluate_components(
    star: Components,
    hat: Components,
    *,
    loss: str = "",
    method: str = "",
    group: str = "",
    gap: bool = True,
    outside: bool = False,
) -> Evaluation:
    """Evaluate estimated components against realised ones, however they were come by.

    ``outside`` says that the epistemic score does not have the unit of the loss, so that its
    calibration means nothing.
    """
    if len(star) != len(hat):
        raise ShapeError(f"star and hat must have the same points, got {len(star)} and {len(hat)}")
    regret = areas(star.epistemic, hat.epistemic)
    people = star.n_annotators
    low = high = math.nan
    if star.aleatoric_high is not None:
        # The same area, less that of what the Bayes risk may be higher: 0 where p* is known.
        width = aurc(star.aleatoric_high - star.aleatoric, hat.epistemic)
        low, high = regret.area - width, regret.area
    elif people is not None and people.min() < 2:
        high = regret.area
    return Evaluation(
        method=method,
        loss=loss,
        group=group,
        n_points=len(star),
        aurec=regret.area,
        excess_aurec=regret.excess,
        n_aurec=regret.normalized,
        aurc=aurc(star.total, hat.epistemic),
        aurc_total=aurc(star.total, hat.total),
        pareto_gap=pareto_gap(star, hat) if gap else float("nan"),
        spearman_hat=spearman(hat.aleatoric, hat.epistemic),
        spearman_star=spearman(star.aleatoric, star.epistemic),
        regret_calibration=float("nan")
        if outside
        else regret_calibration(star.epistemic, hat.epistemic).gap,
        risk=float(star.total.mean()),
        regret=float(star.epistemic.mean()),
        n_floored=star.n_floored,
        notes=tuple(_notes(star, hat)),
        aurec_low=low,
        aurec_high=high,
        annotators_min=math.nan if people is None else float(people.min()),
        annotators_mean=math.nan if people is None else float(people.mean()),
        annotators_max=math.nan if people is None else float(people.max()),
    )


def _notes(star: Components, hat: Components) -> list[str]:
    notes = []
    if np.ptp(star.epistemic) == 0:
        notes.append(f"all regrets are {star.epistemic[0]:.6g}: n-AuReC is undefined")
    if np.ptp(hat.epistemic) == 0:
        notes.append("all epistemic estimates are equal: they rank nothing")
    if star.n_floored:
        notes.append(
            f"{star.n_floored} of {len(star)} points have a predicted probability below 1e-12 "
            "for a class that people chose; it was floored there"
        )
    single = 0 if star.n_annotators is None else int((star.n_annotators < 2).sum())
    if single:
        notes.append(
            f"{single} of {len(star)} points have one annotator: the bracket has no lower end"
        )
    return notes

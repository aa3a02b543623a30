"""Compare methods by several criteria (:mod:`rue.inference.method_ranking` ranks them by one).

All methods are evaluated on the same bootstrap samples, so that common variation cancels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from rue._schema import plain
from rue._text import JsonObject, short_repr
from rue.components import Run
from rue.errors import AlignmentError, InputError, ShapeError
from rue.inference.bootstrap import INTERVAL_COLUMNS, N_REPLICATES, own_order, replicates
from rue.inference.intervals import AREAS, influence, require_options
from rue.inference.method_ranking import Ranking, compare_column
from rue.losses import Classes, CostMatrix, Loss, Valued
from rue.metrics.clusters import Cluster, cluster_codes, cluster_sums
from rue.metrics.columns import COLUMNS
from rue.metrics.evaluation import evaluate_run
from rue.metrics.limits import AtLimit, limit_titles
from rue.truth.alignment import align_rows

COMPARABLE = tuple(
    key
    for key in INTERVAL_COLUMNS
    if COLUMNS[key].better in ("low", "high") or COLUMNS[key].compared
)
"""The columns by which methods can be compared, as the registry says."""

DEFAULT = ("aurec", "n_aurec", "aurc", "pareto_gap")


@dataclass(frozen=True, eq=False)
class Comparison:
    """A ranking of methods for each criterion.

    Attributes
    ----------
    level : float
        The confidence level.
    n_points : int
        The number of points.
    rankings : mapping of str to Ranking
        The ranking by each criterion; ``comparison["aurec"]`` is short for
        ``comparison.rankings["aurec"]``.
    """

    level: float
    n_points: int
    rankings: Mapping[str, Ranking]

    __repr__ = short_repr

    def __getitem__(self, criterion: str) -> Ranking:
        return self.rankings[criterion]

    def _repr_html_(self) -> str:
        """Return the rankings for a notebook."""
        from rue.metrics.table import html_grid

        head = ("method", "estimate", "low", "high", "expected rank")
        parts = []
        for ranking in self.rankings.values():
            columns = (ranking.estimate, ranking.low, ranking.high, ranking.expected_rank)
            rows = [(name, *(f"{c[name]:.4g}" for c in columns)) for name in ranking.methods]
            parts.append(f"<p>{escape(str(ranking))}</p>{html_grid(rows, head)}")
        return "".join(parts)

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON."""
        criteria = {}
        for name, ranking in self.rankings.items():
            shares = dict(zip(ranking.methods, ranking.rank_probability.tolist(), strict=True))
            columns: dict[str, Mapping[str, Any]] = {
                "estimate": ranking.estimate,
                "low": ranking.low,
                "high": ranking.high,
                "expected_rank": ranking.expected_rank,
                "rank_probability": shares,
            }
            criteria[name] = {
                "methods": {m: {k: c[m] for k, c in columns.items()} for m in ranking.methods},
                "differences": ranking.differences,
                "best": ranking.best,
                "sentence": str(ranking),
            }
        content: JsonObject = plain(
            {"n_points": self.n_points, "level": self.level, "criteria": criteria}
        )
        return content


def compare(
    runs: Sequence[Run],
    *,
    criteria: Sequence[str] = DEFAULT,
    level: float = 0.95,
    n_replicates: int = N_REPLICATES,
    cluster: Cluster | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Compare methods on the same points.

    Parameters
    ----------
    runs : sequence of Run
        One run per method, with different names, on the same points: those with ids are matched
        by id, and without ids row i is the same point in all of them.
    criteria : sequence of str
        Keys of columns, some of COMPARABLE.
    level : float
        The confidence level; a difference is significant if its corrected p-value is at most
        1 - level.
    n_replicates : int
        The number of bootstrap samples; the Pareto-gap uses the first 200 at most.
    cluster : str or array_like of shape (n_points,), optional
        Points that belong together: a column of the first run's ``groups``, or labels in the
        order of its rows. Clusters are then resampled instead of points.
    seed : int
        Seed of the samples.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Comparison
        A ranking of the methods for each criterion.

    Raises
    ------
    InputError
        If there are fewer than two runs, they have different points, or a criterion is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from rue import Components, Run, compare
    >>> rng = np.random.default_rng(0)
    >>> regret, noise = rng.gamma(1.0, size=(2, 400))
    >>> star, zero = Components(regret, np.zeros(400), regret), np.zeros(400)
    >>> runs = [
    ...     Run(star, Components(regret + noise, zero, regret + noise), method="good"),
    ...     Run(star, Components(noise, zero, noise), method="poor"),
    ... ]
    >>> print(compare(runs, criteria=["aurec"])["aurec"])
    good has the lowest AuReC of 2 methods (p <= 0.0005).
    """
    require_options(level, "auto", n_replicates)
    runs = aligned_runs(runs)
    if len(runs) < 2:
        raise InputError(f"runs must hold at least two methods, got {len(runs)}")
    unknown = [name for name in criteria if name not in COMPARABLE]
    if unknown or not criteria:
        got = repr(unknown[0]) if unknown else "none"
        raise InputError(f"criteria must be some of {', '.join(COMPARABLE)}, got {got}")
    for key in criteria:
        _require_limit(key, runs)
    codes = cluster_codes(runs[0], cluster)
    rows = own_order(runs, codes, criteria)
    estimates, drawn, alone, influences = {}, {}, {}, {}
    gap = "pareto_gap" in criteria
    how: Any = {"n_replicates": n_replicates, "columns": criteria, "cluster": codes}
    how |= {"seed": seed, "progress": progress}
    for run in runs:
        row = estimates[run.method] = evaluate_run(run, gap=gap, references=False)
        # Differences are paired, and each method's own interval is that of its evaluation.
        own_rows = own_order([run], codes, INTERVAL_COLUMNS)
        orders = [rows] if np.array_equal(rows, own_rows) else [rows, own_rows]
        known_gap = row.pareto_gap if gap else None
        samples = [replicates(run, gap=known_gap, rows=order, **how) for order in orders]
        drawn[run.method], alone[run.method] = samples[0], samples[-1]
        swings = influence(run, [key for key in criteria if key in AREAS])
        influences[run.method] = {key: cluster_sums(v, codes) for key, v in swings.items()}
    rankings = {
        criterion: compare_column(
            criterion,
            {name: getattr(row, criterion) for name, row in estimates.items()},
            {name: columns[criterion] for name, columns in drawn.items()},
            {name: swings[criterion] for name, swings in influences.items()}
            if criterion in AREAS
            else None,
            own={name: columns[criterion] for name, columns in alone.items()},
            level=level,
            heading=limit_titles(runs[0].at).get(criterion, ""),
        )
        for criterion in criteria
    }
    return Comparison(level, len(rows), rankings)


def _require_limit(criterion: str, runs: Sequence[Run]) -> None:
    """Raise if a criterion reads curves at a limit, and runs have none or different ones."""
    statistic = COLUMNS[criterion].statistic
    if not isinstance(statistic, AtLimit):
        return
    name = statistic.limited
    limits = {run.at.get(name) for run in runs}
    if None in limits or len(limits) > 1:
        example = f"{name}={0.8 if name == 'coverage' else 0.05}"
        advice = {"--coverage-at": f"states it, e.g. --coverage-at {example}"}
        if name == "coverage":
            advice = {"--at": "states it, e.g. --at 0.8"}
        raise InputError(
            f"{criterion} needs the same {name} in all runs, as in "
            f"dataclasses.replace(run, at=dict({example}))",
            advice=advice,
        )


def aligned_runs(runs: Sequence[Run]) -> list[Run]:
    """Return runs on the first one's points, by id; raise if methods, losses or answers differ."""
    for run in runs:
        if not isinstance(run, Run):
            raise InputError(
                f"runs must be a list of rue.Run, as Run(star, hat, method=...), got {run!r:.40}"
            )
    names = [run.method for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"every run must have a name of its own, got two of {twice!r}: give each its method"
        )
    for run in runs:
        if run.convention != "definition":
            raise InputError(
                f"runs are resampled by Definition 1, got {run.method!r} by the convention "
                f'"{run.convention}": make it with convention="definition"'
            )
    aligned = [run if run is runs[0] else _on_points(runs[0], run) for run in runs]
    for run in aligned[1:]:
        _require_same(aligned[0], run)
    return aligned


def _on_points(first: Run, other: Run) -> Run:
    """Return a run with its rows in the order of another one's."""
    if len(first) != len(other) and (first.ids is None or other.ids is None):
        raise ShapeError(
            f"all methods must have the same points, got {first.method} {len(first)} and "
            f"{other.method} {len(other)}"
        )
    if (first.ids is None) != (other.ids is None):
        bare = first if first.ids is None else other
        raise AlignmentError(
            f"all runs must have ids, or none, {bare.method!r} has none: give its belief ids, or "
            "drop those of the others (.unnamed())"
        )
    _, rows, _ = align_rows(first, other)
    return other if rows is None else other[rows]


def _require_same(first: Run, other: Run) -> None:
    """Raise where two runs say that they have other losses, points or answers."""
    names = f"{first.method!r} and {other.method!r}"
    if not same_loss(first.loss, other.loss):
        raise InputError(
            f"all runs must have the same loss and scale, got {first.loss_name} and "
            f"{other.loss_name} in {names}"
            + (", with other values or costs" if first.loss_name == other.loss_name else "")
        )
    if first.annotations is not None and other.annotations is not None:
        row_or_none = other.annotations.first_difference(first.annotations)
        if row_or_none is not None:
            raise InputError(
                f"all runs must have the same answers, those of {names} differ, first at row "
                f"{row_or_none}"
            )


def same_loss(first: str | Loss, other: str | Loss) -> bool:
    """Return whether two losses are the same, with their scale and costs, as far as is known."""
    if not (isinstance(first, Loss) and isinstance(other, Loss)):
        names = [side.name if isinstance(side, Loss) else side for side in (first, other)]
        return names[0] == names[1] or "" in names
    if isinstance(first, CostMatrix) and isinstance(other, CostMatrix):
        if first.classes and other.classes and set(first.classes) == set(other.classes):
            other = other.on_classes(Classes(first.classes))
        return np.array_equal(first.costs, other.costs)
    if isinstance(first, Valued) and isinstance(other, Valued):
        scale = next((side.values for side in (first, other) if side.values is not None), None)
        if scale is not None and not np.array_equal(
            first.offsets(len(scale)), other.offsets(len(scale))
        ):
            return False
    return first.name == other.name

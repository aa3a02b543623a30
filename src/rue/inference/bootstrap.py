"""Bootstrap replicates of every column: points are drawn with replacement, but sorted once.

A replicate is stored as the number of times that each point was drawn, so one pass over the
points in the order of the score replaces sorting the drawn points. Rows are first sorted by their
own values, so that the order of the input does not matter.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray, as_seed
from rue.components import Components, Run
from rue.errors import InputError
from rue.inference.clusters import Cluster, cluster_codes, number_clusters

__all__ = ["annotator_replicates", "own_order", "replicates"]

N_REPLICATES, N_GAP_REPLICATES = 2_000, 200


def replicates(
    run: Run,
    *,
    n_replicates: int = N_REPLICATES,
    gap: float | None = None,
    seed: int = 0,
    rows: IntArray | None = None,
    areas_only: bool = False,
    cluster: Cluster | None = None,
    progress: bool = False,
) -> dict[str, FloatArray]:
    """Return every column for ``n_replicates`` bootstrap samples of the points.

    Parameters
    ----------
    run : Run
        The realised and the estimated components.
    n_replicates : int
        The number of samples; the Pareto-gap uses the first 200 at most.
    gap : float, optional
        The Pareto-gap of the run; without it, the replicates of the Pareto-gap are NaN.
    seed : int
        Seed of the samples.
    rows : array of shape (n_points,), optional
        The order in which points are numbered for drawing, by default that of their own values.
        Two calls with the same ``rows`` and ``seed`` draw the same points, so that their
        differences are paired.
    areas_only : bool
        Whether to omit correlations and calibration, which take longer than the areas.
    cluster : str or array_like of shape (n_points,), optional
        The clusters to draw instead of points: a column of ``run.groups``, or labels.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    dict of str to array of shape (n_replicates,)
        The replicates of each column.
    """
    from rue._kernels.bootstrap import N_COLUMNS, N_LANES, measure_all
    from rue._kernels.threads import each

    codes = cluster_codes(run, cluster)
    rows = own_order([run], codes) if rows is None else rows
    clusters = number_clusters(None if codes is None else codes[rows])
    star, hat = run.star[rows], run.hat[rows]
    key = _key(seed)
    sorted_ = _sorted(star, hat)
    out = np.full((n_replicates, N_COLUMNS), math.nan)
    # At most 16 parts, of replicates that are measured side by side.
    n_parts = -(-n_replicates // N_LANES)
    step = -(-n_parts // 16) * N_LANES
    cuts = np.append(np.arange(0, n_replicates, step), n_replicates)

    def measure_some(i: int) -> None:
        measure_all(key, cuts[i], clusters, *sorted_, not areas_only, out[cuts[i] : cuts[i + 1]])

    each(measure_some, range(len(cuts) - 1))
    columns = _named(out, hat)
    n_gaps = min(n_replicates, N_GAP_REPLICATES)
    columns["pareto_gap"] = np.full(n_gaps, math.nan)
    if gap is not None:
        from rue.inference._gap_replicates import gap_replicates

        moved = gap_replicates(star, hat, key, n_gaps, clusters=clusters, progress=progress)
        columns["pareto_gap"] = gap + moved
    return columns


def annotator_replicates(
    run: Run, n_replicates: int, seed: int, progress: bool, codes: IntArray | None = None
) -> dict[str, FloatArray]:
    """Return replicates that resample points or clusters, and each drawn point's answers."""
    from tqdm import tqdm

    from rue._kernels.bootstrap import N_COLUMNS, count_clusters, draw_points, measure

    answers, hat = run.answers, run.hat
    if answers is None:
        raise InputError(
            "annotators cannot be resampled, because the run has no answers: "
            "Run.from_belief(..., with_answers=True)"
        )
    labels = () if codes is None else (codes,)
    rows = np.lexsort((*labels, *answers.keys(), hat.aleatoric, hat.epistemic, hat.total))
    clusters = number_clusters(None if codes is None else codes[rows])
    drawn = np.empty(count_clusters(clusters), np.uint8)
    answers, hat = answers[rows], hat[rows]
    key = _key(seed)
    rng = np.random.default_rng([seed, 2])
    weight = np.empty(len(hat), np.uint8)
    ones = np.ones(len(hat), np.uint8)
    out = np.empty((n_replicates, N_COLUMNS))
    for b in tqdm(
        range(n_replicates), "annotators", delay=2, disable=None if progress else True, leave=False
    ):
        draw_points(key, b, clusters, drawn, weight)
        copies = np.repeat(np.arange(len(hat)), weight)
        star = Components(*answers[copies].redrawn(rng))
        measure(ones, *_sorted(star, hat[copies]), True, out[b])
    return _named(out, hat) | {"pareto_gap": np.full(n_replicates, math.nan)}


def _sorted(star: Components, hat: Components) -> tuple[NDArray[Any], ...]:
    """Return what is sorted once: orders, ends of blocks, and columns in those orders."""
    from rue._kernels.sorting import argsort

    scores = (hat.epistemic, hat.total, star.epistemic, hat.aleatoric, star.aleatoric)
    orders = np.stack([argsort(score) for score in scores])
    lasts = np.stack(
        [np.append(np.diff(s[o]) != 0, True) for s, o in zip(scores, orders, strict=True)]
    )
    return (
        orders.astype(np.uint32),  # unsigned numbers are never counted from the end
        lasts,
        np.asarray(~lasts.all(axis=1)),
        star.epistemic[orders[0]],
        star.total[orders[0]],
        star.total[orders[1]],
        star.epistemic[orders[2]],
        hat.epistemic[orders[0]],
        star.epistemic[orders[1]],
        star.epistemic[orders[3]],
    )


def _named(out: FloatArray, hat: Components) -> dict[str, FloatArray]:
    names = (
        *("aurec", "oracle", "aurc", "aurc_total", "risk", "regret"),
        *("spearman_hat", "spearman_star", "regret_calibration"),
        *("aurec_total", "aurec_aleatoric"),
    )
    columns = dict(zip(names, np.ascontiguousarray(out.T), strict=True))
    if hat.outside_score:
        columns["regret_calibration"] = np.full(len(out), math.nan)
    oracle = columns.pop("oracle")
    span = columns["regret"] / 2 - oracle
    defined = span > 1e-13 * np.abs(columns["regret"])
    further = {}
    for key in ("aurec", "aurec_total", "aurec_aleatoric"):
        excess = columns[key] - oracle
        excess[np.abs(excess) <= 1e-13 * np.abs(columns["regret"] / 2)] = 0.0  # rounding
        normalized = np.full(len(out), math.nan)
        np.divide(excess, span, out=normalized, where=defined)
        further[f"n_{key}"] = normalized
        if key == "aurec":
            further["excess_aurec"] = excess
    return columns | further


def own_order(runs: Sequence[Run], codes: IntArray | None = None) -> IntArray:
    """Return the order of the rows by their own values, which the input order does not affect.

    Rows of equal values are in the order of the numbers of their clusters, if there are any.
    """
    columns: list[NDArray[Any]] = [] if codes is None else [codes]
    columns += [
        column
        for run in runs
        for column in (run.hat.aleatoric, run.hat.epistemic, run.star.total, run.star.epistemic)
    ]
    return np.asarray(np.lexsort(columns))


def _key(seed: int) -> np.uint64:
    return np.uint64(np.random.SeedSequence(as_seed(seed)).generate_state(1, np.uint64)[0])

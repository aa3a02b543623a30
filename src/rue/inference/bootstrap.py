"""Bootstrap replicates of every column: points are drawn with replacement, but sorted once.

A replicate is stored as the number of times that each point was drawn, so one pass over the
points in the order of the score replaces sorting the drawn points. Rows are first sorted by their
own values, so that the order of the input does not matter.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray, as_seed
from rue.components import Components, Run
from rue.errors import InputError
from rue.metrics.clusters import NO_CLUSTERS, Cluster, cluster_codes, number_clusters
from rue.metrics.columns import COLUMNS, REGRET, SOURCES, columns_where
from rue.metrics.statistics import Area, Sample, Statistic, block_ends, tie_blocks
from rue.pareto.gap import SAME_SCORE, arc_middles, plane_of

N_REPLICATES, N_GAP_REPLICATES = 2_000, 200
_BLOCK = 1 << 20  # the weights that a thread holds at once


def _statistic(key: str) -> Statistic:
    statistic = COLUMNS[key].statistic
    assert statistic is not None  # as in all of INTERVAL_COLUMNS
    return statistic


INTERVAL_COLUMNS = (*columns_where(interval="bca"), *columns_where(interval="percentile"))
"""All columns that have an interval."""

GAP = _statistic("pareto_gap")
RANKS = tuple(_statistic(f"spearman_{what}") for what in ("epistemic", "aleatoric"))
FURTHER = (
    *(_statistic(key) for key in ("spearman_hat", "spearman_star", "regret_calibration")),
    *RANKS,
)
"""What the kernel measures only if it is asked for."""
MEASURED = (
    _statistic("aurec"),
    Area(REGRET, REGRET),
    *(_statistic(key) for key in ("aurc", "aurc_total", "risk", "regret")),
    *FURTHER[:3],
    *(_statistic(key) for key in ("aurec_total", "aurec_aleatoric")),
    *RANKS,
)
"""What the kernel measures, in its order; all other statistics compute their own replicates."""


def replicates(
    run: Run,
    *,
    n_replicates: int = N_REPLICATES,
    gap: float | None = None,
    seed: int = 0,
    rows: IntArray | None = None,
    columns: Collection[str] = INTERVAL_COLUMNS,
    cluster: Cluster | None = None,
    progress: bool = False,
) -> dict[str, FloatArray]:
    """Return the columns of ``n_replicates`` bootstrap samples of the points."""
    from rue._kernels.bootstrap import N_COLUMNS, measure_all
    from rue._kernels.threads import Rooms, each, release_memory

    codes = cluster_codes(run, cluster)
    rows = own_order([run], codes, columns) if rows is None else rows
    clusters = number_clusters(None if codes is None else codes[rows])
    key = _key(seed)
    sorted_ = _sorted(run.star[rows], run.hat[rows])
    release_memory()
    statistics = {key: _statistic(key) for key in columns}
    further = any(statistic in FURTHER for statistic in statistics.values())
    others = [part for part in _parts(statistics.values()) if part not in MEASURED]
    sample = Sample(run, gap=False)
    n_eights = -(-n_replicates // 8)
    out = np.empty((n_eights, N_COLUMNS, 8))
    n_block = max(1, min(_BLOCK // len(run), -(-n_eights // 16)))
    rooms = Rooms(lambda: _room(len(run), further, bool(len(clusters))))
    places = np.empty(len(run), np.uint32)  # of the points of the run among those drawn
    places[rows] = np.arange(len(run), dtype=np.uint32)

    def measure_block(start: int) -> list[FloatArray]:
        block = out[start : start + n_block]
        lanes = np.empty((len(run), len(block)) if others else (0, 1), np.uint64)
        with rooms.borrowed() as room:
            measure_all(key, 8 * start, clusters, *sorted_, further, places, room, lanes, block)
        weights = lanes.view(np.uint8).T
        return [statistic.replicates(sample, weights) for statistic in others]

    starts = range(0, n_eights, n_block)
    # The first block computes what the others share.
    blocks = [measure_block(starts[0]), *each(measure_block, starts[1:])]
    drawn = _measured(out, n_replicates, run.hat)
    for k, statistic in enumerate(others):
        drawn[statistic] = np.concatenate([block[k] for block in blocks])[:n_replicates]
    n_gaps = min(n_replicates, N_GAP_REPLICATES)
    drawn[GAP] = np.full(n_gaps, math.nan)
    if gap is not None and GAP in statistics.values():
        from rue.inference.bootstrap import gap_replicates

        star, hat = run.star[rows], run.hat[rows]
        moved = gap_replicates(star, hat, key, n_gaps, clusters=clusters, progress=progress)
        drawn[GAP] = gap + moved
    return {key: _combined(statistic, drawn) for key, statistic in statistics.items()}


def _parts(statistics: Iterable[Statistic]) -> list[Statistic]:
    """Return the statistics whose replicates are measured, each once."""
    parts: dict[Statistic, None] = {}
    for statistic in statistics:
        below = _parts(statistic.parts) if statistic.parts else [statistic]
        parts |= dict.fromkeys(part for part in below if part != GAP)
    return list(parts)


def _combined(statistic: Statistic, drawn: Mapping[Statistic, FloatArray]) -> FloatArray:
    """Return the replicates of a statistic from those of its parts."""
    if not statistic.parts:
        return drawn[statistic]
    return statistic.combined(*(_combined(part, drawn) for part in statistic.parts))


def _room(n_points: int, further: bool, clustered: bool) -> tuple[NDArray[Any], ...]:
    """Return memory to measure eight replicates in: one weight, eight, sorted, and ranks."""
    lanes, own = np.empty((2, n_points), np.uint64)
    # Of points drawn one by one, a rank moves by more than 10 sqrt(n_points) in no sample.
    number = np.int32 if clustered or n_points > 10_000_000 else np.int16
    ranks = np.empty((n_points if further else 0, 24), number)
    return np.empty(n_points, np.uint8), lanes, own, ranks


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
    _, lanes, *room = _room(len(hat), True, clustered=False)
    lanes.view(np.uint8)[:] = 1
    out, eight = np.empty((n_replicates, N_COLUMNS, 1)), np.empty((N_COLUMNS, 8))
    for b in tqdm(
        range(n_replicates), "annotators", delay=2, disable=None if progress else True, leave=False
    ):
        draw_points(key, b, clusters, drawn, weight)
        copies = np.repeat(np.arange(len(hat)), weight)
        star = answers[copies].redrawn(rng)
        measure(lanes, *_sorted(star, hat[copies]), True, tuple(room), eight)
        out[b] = eight[:, :1]
    measured = _measured(out, n_replicates, hat)
    columns = {}
    for name in INTERVAL_COLUMNS:
        statistic = _statistic(name)
        if statistic != GAP and all(part in measured for part in _parts([statistic])):
            columns[name] = _combined(statistic, measured)
        else:
            columns[name] = np.full(n_replicates, math.nan)
    return columns


def _sorted(star: Components, hat: Components) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return what is sorted once: orders with the ends of ties, and columns in those orders."""
    from rue._kernels.sorting import argsort
    from rue._kernels.threads import each

    def rank(score: FloatArray) -> tuple[NDArray[np.uint32], NDArray[np.bool]]:
        order = argsort(score).astype(np.uint32)  # unsigned, so never counted from the end
        return order, block_ends(score[order])

    scores = (hat.epistemic, hat.aleatoric, star.epistemic, hat.total, star.aleatoric)
    orders, lasts = zip(*each(rank, scores), strict=True)
    regret, risk = star.epistemic[orders[0]], star.total[orders[0]]
    values = (
        *(regret, risk, regret - hat.epistemic[orders[0]]),
        *(star.total[orders[3]], star.epistemic[orders[3]]),
        *(star.epistemic[orders[2]], star.epistemic[orders[1]]),
    )
    # Other orders are of the points as the first has sorted them.
    place = np.empty(len(hat), np.uint32)
    place[orders[0]] = np.arange(len(hat), dtype=np.uint32)
    orders = (orders[0], *(place[order] for order in orders[1:]))
    ranks = np.empty((len(hat), 3), np.uint32)
    for k, at in enumerate((1, 2, 4)):
        ends = np.flatnonzero(lasts[at]) + 1
        starts = np.append(0, ends[:-1])
        ranks[orders[at], k] = np.repeat(starts + ends, ends - starts)
    return (orders, lasts, _parts_of(lasts[0]), ranks), values


def _parts_of(last: NDArray[np.bool]) -> IntArray:
    """Return the ends of parts of sorted points: single blocks of ties, or few points."""
    ends = np.flatnonzero(last) + 1
    moves = np.diff(ends // min(128, max(16, len(last) // 64)), prepend=0) > 0
    return np.asarray(ends[moves | np.append(moves[1:], True)])


def _measured(out: FloatArray, n_replicates: int, hat: Components) -> dict[Statistic, FloatArray]:
    """Return what the kernel measured by statistic."""
    columns = np.moveaxis(out, 1, 0).reshape(len(MEASURED), -1)[:, :n_replicates]
    drawn = dict(zip(MEASURED, columns, strict=True))
    if hat.outside_score:
        drawn[_statistic("regret_calibration")] = np.full(n_replicates, math.nan)
    return drawn


def own_order(
    runs: Sequence[Run], codes: IntArray | None = None, columns: Collection[str] = ()
) -> IntArray:
    """Return the order of the rows by their own values, which the input order does not affect."""
    from rue._kernels.sorting import argsort

    used = {source for key in columns for source in _statistic(key).sources}
    further = [run.once(source) for run in runs for source in SOURCES if source in used]
    keys: list[NDArray[Any]] = [] if codes is None else [codes]
    persons = [run.star.person for run in runs]
    keys += [number for number in (*further, *persons) if number is not None]
    keys += [
        column
        for run in runs
        for column in (run.hat.aleatoric, run.hat.epistemic, run.star.total, run.star.epistemic)
    ]
    # The last key decides first. Where it does, the others need not be sorted.
    order: IntArray = argsort(keys[-1])
    blocks = tie_blocks(keys[-1][order])
    if 4 * np.diff(blocks).sum() > len(order):
        return np.asarray(np.lexsort(keys))
    places = np.concatenate([np.arange(0), *(np.arange(*block) for block in blocks)])
    tied = order[places]
    order[places] = tied[np.lexsort([key[tied] for key in keys])]
    return order


def _key(seed: int) -> np.uint64:
    return np.uint64(np.random.SeedSequence(as_seed(seed)).generate_state(1, np.uint64)[0])


LEVELS, DIRECTIONS, LAMBDAS = 125, 180, 6

# The directions are at quantiles of the critical angles of so many pairs of points.
PAIRS = 1 << 14


def gap_replicates(
    star: Components,
    hat: Components,
    key: np.uint64,
    n_replicates: int,
    *,
    clusters: IntArray = NO_CLUSTERS,
    progress: bool = False,
) -> FloatArray:
    """Return the change of the Pareto-gap in each of the first ``n_replicates`` samples."""
    from tqdm import tqdm

    from rue._kernels.gap_replicates import gap, gaps
    from rue._kernels.threads import each

    rankings, n_levels = _rankings(star, hat), min(LEVELS, len(star))
    sums = np.empty((2, len(rankings[4]), n_levels + 1))
    whole = gap(np.ones(len(star), np.uint8), rankings, sums)
    distances = np.empty(n_replicates)
    cuts = np.linspace(0, n_replicates, min(25, n_replicates) + 1).astype(np.int64)
    bar = tqdm(
        total=n_replicates,
        desc="Pareto-gap",
        delay=2,
        disable=None if progress else True,
        leave=False,
    )

    def run(i: int) -> None:
        gaps(key, cuts[i], clusters, rankings, n_levels, distances[cuts[i] : cuts[i + 1]])
        bar.update(int(cuts[i + 1] - cuts[i]))

    with bar:
        each(run, range(len(cuts) - 1))
    return np.asarray(distances - whole)


def _rankings(star: Components, hat: Components) -> tuple[Any, ...]:
    """Return the rankings of both surfaces, sorted once, as the kernel takes them."""
    from rue._kernels.sorting import argsort

    plane = plane_of(star, hat)
    block = np.empty(len(star), np.int64)
    sizes = np.diff(plane.starts, append=len(star))
    block[plane.rows] = np.repeat(np.arange(len(sizes)), sizes)
    x, y = plane.x[plane.starts], plane.y[plane.starts]
    angles = arc_middles(plane, DIRECTIONS // 2, PAIRS)
    orders = [argsort(x * np.cos(angle) + y * np.sin(angle)).astype(np.uint32) for angle in angles]
    rows = np.lexsort((star.total, star.aleatoric, star.epistemic))
    total, epistemic = star.total[rows], star.epistemic[rows]
    slack = SAME_SCORE * max(np.abs(star.aleatoric).max(), np.abs(star.epistemic).max())
    star_orders = [
        rows[_ranked((1 - lam) * total + (2 * lam - 1) * epistemic, slack)].astype(np.uint32)
        for lam in np.linspace(0.5, 1.0, LAMBDAS)
    ]
    return (
        *(block, len(sizes), star.total, star.epistemic),
        *(np.stack(orders), np.stack(star_orders)),
    )


def _ranked(score: FloatArray, slack: float) -> IntArray:
    """Return the order by score; scores within ``slack`` count as equal and keep their order."""
    from rue._kernels.sorting import argsort

    order = argsort(score)
    runs = np.cumsum(np.append(False, np.diff(score[order]) > slack))
    return np.asarray(order[np.lexsort((order, runs))])

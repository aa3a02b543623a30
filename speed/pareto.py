"""The Pareto-gap against moocore's IGD+ on the same sets of points."""

import numpy as np

from rue import Annotations, Components, Draws, decompose, optimal_surface, pareto_gap, realize
from speed.timing import Rows, least

# moocore takes minutes for all points: it is timed on every so-manieth ranking and reference point
# (whole rankings, so real prefix sets), and the time is scaled to all of them.
EVERY_RANKING, EVERY_REFERENCE = 60, 50
MINIMISE = np.array([-1.0, 1.0, 1.0])


def rows() -> Rows:
    star, hat = world(10_000)
    ours = least(lambda: pareto_gap(star, hat), 3)
    what = "pareto_gap, N = 10,000, 720 directions, 51 x 1,001 references"
    yield what, ours, "limit", 1.5, "<= 1"
    direct, filtered, left = moocore_seconds(star, hat)
    part = f"scaled from 1/{EVERY_RANKING * EVERY_REFERENCE:,}"
    yield what, ours, f"moocore igd_plus, {part}", direct, "<= 0.001"
    yield what, ours, f"its filter_dominated ({left:,} left) first", filtered, ""
    star, hat = world(100_000)
    yield "pareto_gap, N = 100,000", least(lambda: pareto_gap(star, hat), 1), "limit", 20.0, "<= 1"
    star, hat = world(1_000_000)
    angles = np.linspace(0, np.pi, 8)

    def sort_some():
        for angle in angles:
            np.argsort(hat.aleatoric * np.cos(angle) + hat.epistemic * np.sin(angle))

    ours, sorts = least(lambda: pareto_gap(star, hat), 1), least(sort_some, 1) * 360 / len(angles)
    yield "pareto_gap, N = 1,000,000", ours, "np.argsort in its 360 directions", sorts, "<= 1"
    star, hat = world(512)
    exact = least(lambda: pareto_gap(star, hat), 3)
    yield "pareto_gap, N = 512, all directions", exact, "limit", 1.0, "<= 1"
    star, hat = world(5_000)
    exact = least(lambda: pareto_gap(star, hat, directions="exact"), 1)
    yield "pareto_gap, N = 5,000, all directions", exact, "limit", 60.0, "<= 1"


def world(n_points: int, n_classes: int = 10) -> tuple[Components, Components]:
    """Both components of :func:`answers_and_draws` under log loss."""
    counts, probs = answers_and_draws(n_points, n_classes)
    belief = Draws(probs)
    return realize(Annotations(counts), belief, "log"), decompose(belief, "log")


def answers_and_draws(n_points: int, n_classes: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """People who disagree, and an ensemble that knows them with errors of its own."""
    rng = np.random.default_rng(0)
    p_star = rng.dirichlet(np.full(n_classes, 0.1), n_points)
    counts = rng.multinomial(50, p_star)
    logits = np.log(p_star + 0.02)[:, None] + rng.normal(size=(n_points, 1, n_classes))
    logits = logits + 0.5 * rng.normal(size=(n_points, 5, n_classes))
    probs = np.exp(logits)
    return counts, probs / probs.sum(axis=2, keepdims=True)


def prefix_sets(star: Components, hat: Components, n_directions: int):
    """Give, for each of so many directions, all N + 1 prefixes of its ranking."""
    from rue.pareto.gap import arc_middles, plane_of

    plane = plane_of(star, hat)
    half = arc_middles(plane, n_directions // 2)
    for angle in np.concatenate([half, half + np.pi]):
        order = np.argsort(plane.x * np.cos(angle) + plane.y * np.sin(angle))
        yield np.column_stack(
            [
                np.arange(len(order) + 1) / len(order),
                np.append(0, np.cumsum(plane.risk[order])) * plane.risk_unit,
                np.append(0, np.cumsum(plane.regret[order])) * plane.regret_unit,
            ]
        )


def moocore_seconds(star: Components, hat: Components) -> tuple[float, float, int]:
    """Seconds of IGD+ as it is, of filtering and IGD+ on what is left, and how much is left."""
    import moocore

    rankings = list(prefix_sets(star, hat, 720))
    some = np.concatenate(rankings[::EVERY_RANKING]) * MINIMISE
    reference = optimal_surface(star).points[::EVERY_REFERENCE] * MINIMISE
    scale = len(rankings) / len(rankings[::EVERY_RANKING]) * EVERY_REFERENCE
    direct = least(lambda: moocore.igd_plus(some, ref=reference), 1) * scale
    points = np.concatenate(rankings) * MINIMISE
    filtering = least(lambda: moocore.filter_dominated(points), 1)
    kept = moocore.filter_dominated(points)
    after = least(lambda: moocore.igd_plus(kept, ref=reference), 1) * EVERY_REFERENCE
    return direct, filtering + after, len(kept)

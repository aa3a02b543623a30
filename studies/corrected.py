"""Measure how much bias the corrected columns remove, for the table of docs/brackets.md.

In each world p* is known, so the plain and the corrected columns of simulated annotators can be
compared with the true ones. The Pareto-gap takes longer, so it has fewer points and draws.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from rue import Annotations, Belief, Draws, decompose, realize
from rue._arrays import FloatArray
from rue.metrics.corrected import CORRECTED, corrected_columns
from rue.metrics.evaluation import evaluate_components
from rue.truth.answer_losses import answers
from studies import DOCS
from studies.pages import table
from studies.rows import Row, grouped, where
from studies.study import Options, Pages
from studies.uncertainty import world as rbf_world

PAGE = DOCS / "brackets.md"
LOSSES = ("log", "zero_one", "squared", "absolute")
N_ANNOTATORS = (5, 10, 20, 50)
SHOWN = 10
"""The number of annotators of the table that shows every world."""
FALL = 5
"""By what factor the bias should fall."""
AREAS, GAP = {"n_points": 1000, "n_draws": 100}, {"n_points": 200, "n_draws": 20}
SPLITS = {False: 4, True: 2}
"""Halvings per draw, with and without the gap; more would change the noise, not the bias."""
TITLES = {
    "excess_aurec": "excess AuReC",
    "n_aurec": "n-AuReC",
    "n_aurec_total": "n-AuReC by total",
    "spearman_star": "Spearman star",
    "pareto_gap": "Pareto-gap",
}


def compute(record: Row, _: Options) -> Iterator[Row]:
    """Yield the record after each world and loss."""
    rows = record.get("rows", [])
    for name, loss in product(WORLDS, LOSSES):
        if not where(rows, world=name, loss=loss):
            rows += biases(name, loss)
            yield {"settings": {"areas": AREAS, "pareto_gap": GAP}, "rows": rows}


def pages(record: Row) -> Pages:
    return {PAGE: {"corrected": tables(record["rows"])}}


def dirichlet_world(
    n_points: int, *, n_classes: int, concentration: float, strength: float
) -> tuple[FloatArray, Belief]:
    """Return p*, drawn from a Dirichlet, and an ensemble of five that is right to some degree.

    The members of a point are spread around a mean that misses p*, both by a Dirichlet of the same
    strength, which varies between points. So the epistemic uncertainty knows some of the regret.
    """
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(n_classes, concentration), n_points)
    weights = strength * rng.gamma(1.0, 1.0, (n_points, 1))
    means = np.stack([rng.dirichlet(row) for row in weights * p + 0.3])
    return p, Draws(np.stack([rng.dirichlet(row, 5) for row in weights * means + 0.3]))


def rbf(n_points: int) -> tuple[FloatArray, Belief]:
    """Return p* of random-rbf, and the belief of its nearest neighbours."""
    known, belief = rbf_world(n_points, seed=1, n_neighbours=15)
    return known.probs, belief


WORLDS = {
    "2 classes": lambda n: dirichlet_world(n, n_classes=2, concentration=1.0, strength=10),
    "5 classes, good model": lambda n: dirichlet_world(
        n, n_classes=5, concentration=0.5, strength=20
    ),
    "5 classes, poor model": lambda n: dirichlet_world(
        n, n_classes=5, concentration=0.5, strength=3
    ),
    "10 classes": lambda n: dirichlet_world(n, n_classes=10, concentration=0.3, strength=20),
    "random-rbf, 5 classes": rbf,
}


def biases(name: str, loss: str) -> list[Row]:
    """Return the bias of each column in a world, plain and corrected, with standard errors."""
    rows = []
    for gap, size in ((False, AREAS), (True, GAP)):
        p, belief = WORLDS[name](size["n_points"])
        hat = decompose(belief, loss)
        columns = CORRECTED[-1:] if gap else CORRECTED[:-1]
        true = _plain(Annotations.from_probs(p), belief, loss, gap, columns)
        for m in N_ANNOTATORS:
            estimates = []
            for draw in range(size["n_draws"]):
                rng = np.random.default_rng([m, draw])
                simulated = Annotations(rng.multinomial(m, p))
                better = corrected_columns(
                    answers(simulated, belief, loss), hat, gap=gap, n_splits=SPLITS[gap], seed=draw
                )
                plain = _plain(simulated, belief, loss, gap, columns)
                estimates.append([plain, [better[f"{c}_corrected"] for c in columns]])
            missed = np.array(estimates) - true  # draws, plain or corrected, columns
            bias, error = missed.mean(axis=0), missed.std(axis=0, ddof=1) / np.sqrt(len(missed))
            for j, column in enumerate(columns):
                rows.append(
                    {"world": name, "loss": loss, "column": column, "m": m, "true": true[j]}
                    | {"plain": bias[0, j], "plain_se": error[0, j]}
                    | {"corrected": bias[1, j], "corrected_se": error[1, j]}
                )
    return rows


def _plain(
    truth: Annotations, belief: Belief, loss: str, gap: bool, columns: tuple[str, ...]
) -> list[float]:
    star = realize(truth, belief, loss)
    row = evaluate_components(star, decompose(belief, loss), gap=gap)
    return [getattr(row, column) for column in columns]


def falls(row: Row) -> bool:
    """Return whether the bias falls by the factor, or may do so within two standard errors."""
    return bool(abs(row["corrected"]) <= abs(row["plain"]) / FALL + 2 * row["corrected_se"])


def tables(rows: list[Row]) -> str:
    """Return the summary over worlds and losses, and every bias with ten annotators."""
    pairs = len({(row["world"], row["loss"]) for row in rows})
    lines = []
    for column in CORRECTED:
        cells = []
        for m in N_ANNOTATORS:
            part = where(rows, column=column, m=m)
            factor = np.median([abs(row["plain"] / row["corrected"]) for row in part])
            cells.append(f"{sum(map(falls, part))} of {len(part)}, {factor:.1f}")
        lines.append([TITLES[column], *cells])
    summary = table(["column", *(f"m = {m}" for m in N_ANNOTATORS)], lines)
    whole = []
    for key, part in grouped(where(rows, m=SHOWN), "world", "loss").items():
        shown = {row["column"]: row for row in part}
        whole.append([*key, *(_cell(shown[column]) for column in CORRECTED)])
    heads = ["world", "loss", *(TITLES[column] for column in CORRECTED)]
    return (
        f"In how many of {pairs} pairs of a world and a loss the bias falls at least {FALL}-fold "
        "(within two standard errors), and the median factor by which it falls:\n\n"
        f"{summary}\n\n"
        f"The bias with {SHOWN} annotators, plain → corrected (standard error of the latter):\n\n"
        f"{table(heads, whole, text=2)}"
    )


def _cell(row: Row) -> str:
    text = f"{row['plain']:+.4f} → {row['corrected']:+.4f} ({row['corrected_se']:.4f})"
    return text if falls(row) else f"**{text}**"

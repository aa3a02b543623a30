"""Columns at a coverage, a risk or a regret: by hand, by the curves, and by brute force."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rue import (
    Annotations,
    Components,
    Draws,
    Run,
    compare,
    evaluate,
    evaluate_run,
    regret_coverage_curve,
    risk_coverage_curve,
)
from rue.errors import InputError
from rue.inference.intervals import intervals
from rue.metrics.columns import COLUMNS
from rue.metrics.statistics import Sample


def naive_coverage(value, score, limit):
    """The largest coverage within a limit, point by point; a tie is accepted in equal parts."""
    n, height, accepted = len(value), 0.0, 0.0
    for s in np.unique(score):
        block = value[score == s]
        rise = block.sum() / n
        if height + rise > limit + 1e-12:
            return accepted + max(limit - height, 0.0) / rise * len(block) / n
        height, accepted = height + rise, accepted + len(block) / n
    return 1.0


def test_four_points_by_hand():
    # Accepted by epistemic: 0 (regret 0), then both 1 (regret 1 and 3 of 4 points), then 2.
    star = Components([1.0, 2.0, 4.0, 8.0], [1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 3.0, 7.0])
    hat = Components([1.0, 2.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 2.0])
    at = {"coverage": 0.5, "risk": 1.0, "regret": 0.5}
    row = evaluate_run(Run(star, hat, at=at), gap=False)
    assert row.risk_at_coverage == pytest.approx(1 / 4 + 3 / 4)  # half of the tie of 2 and 4
    assert row.regret_at_coverage == pytest.approx(0 + 2 / 4)
    assert row.coverage_at_risk == pytest.approx(0.5)
    assert row.coverage_at_regret == pytest.approx(0.5)
    assert row.to_dict()["at_risk"] == 1.0


@pytest.mark.parametrize("loss", ["zero_one", "brier", "log", "absolute"])
def test_they_are_read_from_the_curves(rng, loss):
    truth = Annotations(rng.multinomial(4, [0.5, 0.3, 0.2], 60))
    belief = Draws(rng.dirichlet(np.ones(3), (20, 2))[rng.integers(0, 20, 60)])  # with ties
    run = Run.from_belief(truth, belief, loss)
    for c, limit in [(0.0, 0.0), (0.3, 0.01), (0.77, 0.1), (1.0, 99.0)]:
        row = evaluate(
            truth, belief, loss, gap=False, at=c, coverage_at={"risk": limit, "regret": limit}
        )
        for name, values, curve in (
            ("risk", run.star.total, risk_coverage_curve),
            ("regret", run.star.epistemic, regret_coverage_curve),
        ):
            corners = curve(values, run.hat.epistemic)
            height = np.interp(c, corners.coverage, corners.value)
            assert getattr(row, f"{name}_at_coverage") == pytest.approx(height, abs=1e-12)
            naive = naive_coverage(values, run.hat.epistemic, limit)
            assert getattr(row, f"coverage_at_{name}") == pytest.approx(naive, abs=1e-9)


def test_replicates_are_those_of_copied_points(rng):
    regret, noise = rng.integers(0, 4, (2, 30)) / 4
    star = Components(regret + noise, noise, regret)
    hat = Components(regret + 1, np.ones(30), rng.integers(0, 5, 30) / 4)
    run = Run(star, hat, at={"coverage": 0.6, "risk": 0.2})
    ends = intervals(run, gap=False, n_replicates=50)
    keys = ("risk_at_coverage", "coverage_at_risk")
    assert all(ends.low[key] < ends.estimate[key] < ends.high[key] for key in keys)
    assert math.isnan(ends.low["coverage_at_regret"])
    weights = rng.multinomial(30, np.full(30, 1 / 30), 5).astype(np.uint8)
    for key in keys:
        drawn = COLUMNS[key].statistic.replicates(Sample(run), weights)
        for number, weight in zip(drawn, weights, strict=True):
            copies = np.repeat(np.arange(30), weight)
            row = evaluate_run(Run(star[copies], hat[copies], at=run.at), gap=False)
            assert number == pytest.approx(getattr(row, key), abs=1e-12)


def test_methods_are_compared_at_a_coverage(rng):
    regret, noise = rng.gamma(1.0, size=(2, 200))
    star = Components(regret, np.zeros(200), regret)
    runs = [
        Run(star, Components(score, np.zeros(200), score), method=name, at={"coverage": 0.5})
        for name, score in (("good", regret + 0.1 * noise), ("poor", noise))
    ]
    ranking = compare(runs, criteria=["regret_at_coverage"], n_replicates=200)["regret_at_coverage"]
    assert ranking.best == ("good",)
    assert str(ranking).startswith("good has the lowest regret at 0.5 of 2 methods")
    alone = intervals(runs[0], gap=False, n_replicates=200)
    assert ranking.low["good"] == alone.low["regret_at_coverage"]
    with pytest.raises(InputError, match="needs the same coverage"):
        compare([replace(run, at={}) for run in runs], criteria=["risk_at_coverage"])


@pytest.mark.parametrize(
    ("at", "why"),
    [({"coverage": 1.5}, "from 0 to 1"), ({"risk": -1.0}, "from 0 on"), ({"loss": 1.0}, "'loss'")],
)
def test_wrong_limits_are_refused(at, why):
    star = Components([0.5], [0.5], [0.0])
    with pytest.raises(InputError, match=why):
        Run(star, star, at=at)

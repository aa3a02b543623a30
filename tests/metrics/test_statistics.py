"""Statistics: values, influences and replicates agree with what they are by definition."""

import math

import numpy as np
import pytest

from rue import Components, Run, aurec, spearman
from rue.inference.bootstrap import MEASURED, replicates
from rue.metrics.columns import COLUMNS, REGRET, columns_where
from rue.metrics.statistics import (
    Area,
    Combination,
    Correlation,
    Function,
    Hat,
    Mean,
    Normalized,
    Sample,
    Star,
)


@pytest.fixture
def run(rng):
    """60 points with ties in every component."""
    aleatoric, epistemic = np.round(rng.gamma(1.0, size=(2, 60)), 1)
    hat = np.round(rng.gamma(1.0, size=(2, 60)), 1)
    return Run(
        Components(aleatoric + epistemic, aleatoric, epistemic), Components(hat.sum(0), *hat)
    )


def drawn(run, weight):
    rows = np.repeat(np.arange(len(run)), weight)
    return Run(run.star[rows], run.hat[rows])


RATIO = Combination(
    lambda area, mean: area / (mean / 2), (Area(REGRET, Hat("total")), Mean(REGRET))
)


@pytest.mark.parametrize(
    "statistic",
    [
        Mean(Star("total")),
        Area(REGRET, Hat("aleatoric")),
        Correlation(Hat("epistemic"), REGRET),
        Function(lambda sample: float(np.median(sample.run.star.total)), resampled=True),
        RATIO,
        Normalized(REGRET, Hat("total")),
    ],
)
def test_replicates_are_the_values_of_the_drawn_points(run, rng, statistic):
    weights = rng.multinomial(60, np.full(60, 1 / 60), size=20).astype(np.uint8)
    sample = Sample(run)
    parts = [part.replicates(sample, weights) for part in statistic.parts]
    replicates = statistic.combined(*parts) if parts else statistic.replicates(sample, weights)
    expected = [statistic.value(Sample(drawn(run, weight))) for weight in weights]
    np.testing.assert_allclose(replicates, expected, rtol=1e-11)


def test_the_kernel_measures_the_same_statistics(run):
    from rue._kernels.bootstrap import draw
    from rue.inference.bootstrap import _key, own_order

    rows = own_order([run])
    named = {COLUMNS[key].statistic: key for key in columns_where(interval="bca")}
    named |= {COLUMNS[key].statistic: key for key in columns_where(interval="percentile")}
    kernel = replicates(run, n_replicates=40, rows=rows)
    weights, weight = np.empty((40, 60), np.uint8), np.empty(60, np.uint8)
    for b in range(40):
        draw(_key(0), b, weight)
        weights[b, rows] = weight
    own = {statistic: statistic.replicates(Sample(run), weights) for statistic in MEASURED}
    assert sum(statistic in named for statistic in MEASURED) == len(MEASURED) - 1  # the oracle
    for statistic in MEASURED:
        if statistic in named:
            np.testing.assert_allclose(own[statistic], kernel[named[statistic]], rtol=1e-11)


@pytest.mark.parametrize("statistic", [RATIO, Normalized(REGRET, Hat("total")), Mean(REGRET)])
def test_an_influence_is_the_derivative_by_the_weight_of_a_point(run, statistic):
    # More weight for one point moves the statistic by influence * share, to first order.
    influence = statistic.influence(Sample(run))
    assert influence.mean() == pytest.approx(0, abs=1e-9)
    copies = np.repeat(np.arange(len(run)), 4)
    whole = Run(run.star[copies], run.hat[copies])
    for point in (0, 17, 59):
        more, less = (np.full(60, 4) for _ in range(2))
        more[point], less[point] = 5, 3
        moved = statistic.value(Sample(drawn(run, more))) - statistic.value(
            Sample(drawn(run, less))
        )
        assert moved * len(whole) / 2 == pytest.approx(influence[point], rel=0.05, abs=1e-3)


def test_a_run_without_the_points_has_no_number(run):
    absent = Area(lambda run: None, Hat("total"))
    sample, weights = Sample(run), np.ones((2, 60), np.uint8)
    assert math.isnan(absent.value(sample))
    assert absent.influence(sample) is None
    assert np.isnan(absent.replicates(sample, weights)).all()
    assert RATIO.value(sample) == pytest.approx(
        aurec(run.star.epistemic, run.hat.total) / (run.star.epistemic.mean() / 2)
    )


def test_what_columns_share_is_computed_once(run):
    calls = []

    def points(run):
        calls.append(1)
        return run.star.total

    sample = Sample(run)
    for statistic in (Mean(points), Area(points, Hat("total")), Normalized(points, Hat("total"))):
        statistic.value(sample)
        statistic.influence(sample)
    assert len(calls) == 1
    assert Correlation(points, REGRET).value(sample) == spearman(run.star.total, run.star.epistemic)

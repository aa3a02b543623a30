"""Bands of the reliability curve: the curve itself, a normal approximation, coverage."""

import numpy as np
import pytest

from rue import regret_calibration
from rue.errors import InputError
from rue.inference import calibration_bands


def test_bands_are_those_of_the_mean_of_each_bin(rng):
    regret, epistemic = rng.gamma(1.0, size=(2, 900))
    bands = calibration_bands(regret, epistemic, bins=3, n_replicates=2000)
    curve = regret_calibration(regret, epistemic, bins=3)
    np.testing.assert_array_equal(bands.curve.realised, curve.realised)
    order = np.argsort(epistemic).reshape(3, 300)
    for k, rows in enumerate(order):
        error = regret[rows].std() / np.sqrt(300)
        width = bands.high[k] - bands.low[k]
        assert width == pytest.approx(2 * 1.96 * error, rel=0.1)
        assert bands.low[k] < curve.realised[k] < bands.high[k]


def test_bands_do_not_depend_on_the_order_of_the_rows(rng):
    regret, epistemic = rng.gamma(1.0, size=(2, 50))
    order = rng.permutation(50)
    one = calibration_bands(regret, epistemic, bins=4)
    two = calibration_bands(regret[order], epistemic[order], bins=4)
    np.testing.assert_allclose(one.low, two.low)
    np.testing.assert_allclose(one.high, two.high)


@pytest.mark.parametrize("shape", [0.3, 2.0])
def test_large_bins_have_the_quantiles_of_their_samples(rng, shape):
    """Without sampling, within a fifth of a standard error of 4,000 samples."""
    regret = rng.gamma(shape, size=2500)
    bands = calibration_bands(regret, np.zeros(2500))
    drawn = regret[rng.integers(0, 2500, (4000, 2500))].mean(axis=1)
    error = regret.std() / 50
    assert bands.low[0] == pytest.approx(np.quantile(drawn, 0.025), abs=0.2 * error)
    assert bands.high[0] == pytest.approx(np.quantile(drawn, 0.975), abs=0.2 * error)
    # The skewness moves both ends to the right, which a normal approximation misses.
    assert bands.low[0] + bands.high[0] > 2 * regret.mean()


def test_one_outlier_among_many_is_sampled():
    """Its number of copies is Poisson: with probability e^-1 = 0.37 there is none."""
    regret = np.zeros(2000)
    regret[7] = 1.0
    bands = calibration_bands(regret, np.zeros(2000), n_replicates=400)
    assert bands.low[0] == 0.0
    assert 2.9 <= 2000 * bands.high[0] <= 4  # P(at most 2) = 0.92, P(at most 3) = 0.981


def test_clusters_of_one_point_are_points(rng):
    regret, epistemic = rng.gamma(1.0, size=(2, 600))
    points = calibration_bands(regret, epistemic, bins=2, n_replicates=4000)
    one_each = calibration_bands(
        regret, epistemic, bins=2, n_replicates=4000, cluster=rng.permutation(600)
    )
    error = regret.std() / np.sqrt(300)
    np.testing.assert_allclose(one_each.low, points.low, atol=0.2 * error)
    np.testing.assert_allclose(one_each.high, points.high, atol=0.2 * error)


def test_correlated_clusters_have_the_width_of_fewer_points(rng):
    """Ten copies of each of 90 points are worth 90 points: the width is that of 90."""
    few, epistemic = rng.gamma(1.0, size=(2, 90))
    copies = np.repeat(np.arange(90), 10)
    apart = calibration_bands(few, epistemic, bins=3, n_replicates=3000)
    together = calibration_bands(
        few[copies], epistemic[copies], bins=3, n_replicates=3000, cluster=copies
    )
    np.testing.assert_allclose(together.curve.realised, apart.curve.realised)
    np.testing.assert_allclose(together.high - together.low, apart.high - apart.low, rtol=0.2)


def test_bands_cover_the_mean_of_their_bin(rng):
    """In 300 samples of 200 points, 95 % bands hold the mean in 91 % or more."""
    held = 0
    for seed in range(300):
        bands = calibration_bands(
            rng.gamma(2.0, size=200), np.zeros(200), n_replicates=300, seed=seed
        )
        held += bands.low[0] <= 2.0 <= bands.high[0]
    assert held >= 273


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"level": "a"}, "level must be between 0 and 1, got 'a'"),
        ({"bins": True}, "bins must be a whole number of at least 1, got True"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": "a"}, "seed must be a whole number of at least 0, got 'a'"),
    ],
)
def test_options_of_a_wrong_type(option, why):
    with pytest.raises(InputError, match=why):
        calibration_bands([0.0], [0.0], **option)


def test_broken_calls():
    with pytest.raises(InputError, match="level must be"):
        calibration_bands([0.0], [0.0], level=1.0)
    with pytest.raises(InputError, match="bins must be"):
        calibration_bands([0.0], [0.0], bins=0)
    with pytest.raises(InputError, match="at least 2 clusters"):
        calibration_bands([0.0, 1.0], [0.0, 1.0], cluster=["a", "a"])

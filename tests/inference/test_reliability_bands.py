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


def test_broken_calls():
    with pytest.raises(InputError, match="level must be"):
        calibration_bands([0.0], [0.0], level=1.0)
    with pytest.raises(InputError, match="bins must be"):
        calibration_bands([0.0], [0.0], bins=0)

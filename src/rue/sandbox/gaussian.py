"""Definition 1 in closed form for Gaussian outcomes and predictions.

The outcome is y ~ N(f, sigma^2), and the belief about f is N(mu, v); s^2 = sigma^2 + v. The
action is mu under squared and absolute loss (mean and median agree), and the whole predictive
distribution N(mu, s^2) under log loss. With c = sqrt(2 / pi) and d = mu - f:

========  ======================  =====================  ==================================
loss      aleatoric               epistemic, expected    epistemic under f (the regret)
========  ======================  =====================  ==================================
squared   sigma^2                 v                      d^2
absolute  c sigma                 c (s - sigma)          c sigma (e^(-z^2/2) - 1) + d erf(z/sqrt 2)
log       log(2 pi e sigma^2)/2   log(s^2 / sigma^2)/2   KL(N(f, sigma^2), N(mu, s^2))
========  ======================  =====================  ==================================

where z = d / sigma. The total is the sum. The mean of the last column over f ~ N(mu, v) is the
column before it. Under log loss the aleatoric part is a differential entropy and may be negative.
"""

from typing import Literal

import numpy as np

from rue._arrays import FloatArray
from rue.components import Components

SandboxLoss = Literal["squared", "absolute", "log"]
"""The losses under which the sandbox is exact."""

_C = float(np.sqrt(2.0 / np.pi))  # E|z| of a standard normal


def expected_components(loss: SandboxLoss, sigma: FloatArray, variance: FloatArray) -> Components:
    """Return the components expected under the belief, each of shape (n_points,)."""
    aleatoric = _aleatoric(loss, sigma)
    epistemic = expected_regret(loss, sigma, variance)
    return Components(aleatoric + epistemic, aleatoric, epistemic)


def realized_components(
    loss: SandboxLoss, sigma: FloatArray, variance: FloatArray, error: FloatArray
) -> Components:
    """Return the components under one true function f, where ``error`` is mu - f."""
    aleatoric = _aleatoric(loss, sigma)
    regret = _realized_regret(loss, sigma, variance, error)
    return Components(aleatoric + regret, aleatoric, regret)


def expected_regret(loss: SandboxLoss, sigma: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the expected regret, elementwise, with broadcasting."""
    if loss == "squared":
        return variance
    if loss == "absolute":  # c (s - sigma), written without cancellation
        return _C * variance / (np.sqrt(sigma**2 + variance) + sigma)
    regret: FloatArray = 0.5 * np.log1p(variance / sigma**2)
    return regret


def _aleatoric(loss: SandboxLoss, sigma: FloatArray) -> FloatArray:
    if loss == "squared":
        return sigma**2
    if loss == "absolute":
        return _C * sigma
    entropy: FloatArray = 0.5 * np.log(2.0 * np.pi * np.e * sigma**2)
    return entropy


def _realized_regret(
    loss: SandboxLoss, sigma: FloatArray, variance: FloatArray, error: FloatArray
) -> FloatArray:
    if loss == "squared":
        return error**2
    if loss == "absolute":
        from scipy.special import erf

        z = error / sigma
        regret: FloatArray = _C * sigma * np.expm1(-0.5 * z**2) + error * erf(z / np.sqrt(2.0))
    else:
        regret = 0.5 * (
            np.log1p(variance / sigma**2) + (error**2 - variance) / (sigma**2 + variance)
        )
    return np.maximum(regret, 0.0)  # rounding may bring it below 0

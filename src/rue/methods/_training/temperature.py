"""Temperature scaling (Guo et al. 2017): one number that sharpens or softens all distributions.

p becomes p^(1/T) / sum_k p_k^(1/T), which divides logits by T. T minimises the log loss of the mean
distribution on the points held out; of draws, each is scaled and then their mean is taken.
"""

from typing import TypeVar

import numpy as np

from rue._arrays import FloatArray
from rue.beliefs import Draws, Scored

_Tempered = TypeVar("_Tempered", Draws, Scored)
_LEAST = 1e-12  # of a probability: that of the log loss
_LOG_RANGE = (-3.0, 3.0)  # natural logarithms that T is searched between


def fit_temperature(belief: _Tempered, targets: FloatArray) -> float:
    """Return the temperature with the lowest log loss, from 0.05 to 20."""
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        mean = np.maximum(temper(belief, float(np.exp(log_temperature))).mean(), _LEAST)
        return float(-(targets * np.log(mean)).sum(axis=1).mean())

    # With draws the loss may have two minima, so a grid search comes first.
    grid = np.linspace(*_LOG_RANGE, 13)
    best = grid[np.argmin([loss(x) for x in grid])]
    step = grid[1] - grid[0]
    optimum = minimize_scalar(loss, bounds=(best - step, best + step), options={"xatol": 1e-4})
    return float(np.exp(optimum.x))


def temper(belief: _Tempered, temperature: float) -> _Tempered:
    """Return the belief with its distributions scaled; an epistemic score stays as it is."""
    if temperature == 1.0:
        return belief
    probs = np.asarray(belief.probs, dtype=np.float64)
    # Divided by the largest, so that no power of it underflows.
    scaled = (probs / probs.max(axis=-1, keepdims=True)) ** (1 / temperature)
    probs = scaled / scaled.sum(axis=-1, keepdims=True)
    return belief._with(probs=probs)

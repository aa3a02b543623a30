"""A selector to deploy: weights and a threshold, learned from calibration points.

Theorem 1's selector knows the truth. This one needs only what the model says, and can promise its
budgets for new points.
"""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

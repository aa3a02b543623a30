"""Metrics: curves and areas, correlations, calibration, and the row they make."""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

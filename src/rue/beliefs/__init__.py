"""Beliefs: the predictions of a model for each point, as distributions over distributions.

A belief validates its array once, when it is created, and keeps it without a copy: a memory map
stays on disk, and rows are normalised in float64 when they are used.
"""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

"""The Pareto-gap, and the surfaces that it measures (section 4.2 of the paper)."""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

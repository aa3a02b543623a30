"""Data sets with the answers of annotators: one registry, one file per data set or family."""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

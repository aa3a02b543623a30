"""Scores of methods under several criteria, and the pairs of methods on which criteria disagree."""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

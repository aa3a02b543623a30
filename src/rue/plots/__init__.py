"""Figures, one file for each kind; the only part that imports matplotlib.

Functions that draw one panel take ``ax=`` and return the Axes; those of several panels return the
Figure. :func:`save` takes either.
"""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

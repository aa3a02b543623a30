"""Reading and writing files: predictions, truth, tables; atomic writes."""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

"""Proxy tasks by which uncertainty is commonly evaluated instead of regret (sections 3, 5.3).

ood.py              detection of out-of-distribution (OOD) inputs
selective.py        scores; accuracy and error of the accepted points against coverage
rows.py             a row of table 4: both of the above for one method
active_learning.py  the choice of the next points to label (needs the extra ``rue[torch]``)
"""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

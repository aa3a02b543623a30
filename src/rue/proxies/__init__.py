"""Proxy tasks by which uncertainty is commonly evaluated instead of regret (sections 3, 5.3).

ood.py              detection of out-of-distribution (OOD) inputs
selective.py        scores; accuracy and error of the accepted points against coverage
rows.py             a row of table 4: both of the above for one method
active_learning.py  the choice of the next points to label (needs the extra ``rue[torch]``)
"""

from rue.proxies.active_learning import BUDGETS, ActiveLearning, Budget
from rue.proxies.ood import OOD, Detection, evaluate_ood
from rue.proxies.rows import ProxyRow, evaluate_proxies
from rue.proxies.selective import SCORES, ScoreName, Selective, evaluate_selective, score

__all__ = [
    "BUDGETS",
    "OOD",
    "SCORES",
    "ActiveLearning",
    "Budget",
    "Detection",
    "ProxyRow",
    "ScoreName",
    "Selective",
    "evaluate_ood",
    "evaluate_proxies",
    "evaluate_selective",
    "score",
]

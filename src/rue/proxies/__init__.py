"""Proxy tasks by which uncertainty is commonly evaluated instead of regret (sections 3, 5.3).

scores.py           a component of a belief as a score, by name
ood.py              detection of out-of-distribution (OOD) inputs
selective.py        accuracy and error of the accepted points against coverage
rows.py             a row of table 4: both of the above for one method
budgets.py          how many labels active learning asks for; the budgets of table 5
active_learning.py  the choice of the next points to label (needs the extra ``rue[torch]``)
"""

from rue.proxies.active_learning import ActiveLearning
from rue.proxies.budgets import BUDGETS, Budget
from rue.proxies.ood import OOD, Detection, evaluate_ood
from rue.proxies.rows import ProxyRow, evaluate_proxies
from rue.proxies.scores import SCORES, ScoreName, score
from rue.proxies.selective import Selective, evaluate_selective

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

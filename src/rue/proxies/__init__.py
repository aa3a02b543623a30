"""Proxy tasks by which uncertainty is commonly evaluated instead of regret (sections 3, 5.3).

scores.py           a component of a belief as a score, by name
ood.py              detection of out-of-distribution (OOD) inputs
selective.py        accuracy and error of the accepted points against coverage
active_learning.py  the choice of the next points to label (needs the extra ``rue[torch]``)
"""

from rue.proxies.active_learning import ActiveLearning
from rue.proxies.ood import OOD, Detection, evaluate_ood
from rue.proxies.scores import SCORES, score
from rue.proxies.selective import Selective, evaluate_selective

__all__ = [
    "OOD",
    "SCORES",
    "ActiveLearning",
    "Detection",
    "Selective",
    "evaluate_ood",
    "evaluate_selective",
    "score",
]

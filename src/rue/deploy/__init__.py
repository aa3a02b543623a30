"""A selector one may deploy: weights and a threshold, learned from calibration points.

Theorem 1's selector knows the truth. This one takes only what the model says, and can promise
its budgets on new points.
"""

from rue.deploy.baselines import Outcome, compare_rules
from rue.deploy.candidates import Problem
from rue.deploy.estimator import DeployableSelector
from rue.deploy.fit import fit_selector
from rue.deploy.kind import Kind
from rue.deploy.p_values import hoeffding_bentkus, points_needed
from rue.deploy.rule import Attained, Rule, attained
from rue.deploy.simulation import Trials, try_promise

__all__ = [
    "Attained",
    "DeployableSelector",
    "Kind",
    "Outcome",
    "Problem",
    "Rule",
    "Trials",
    "attained",
    "compare_rules",
    "fit_selector",
    "hoeffding_bentkus",
    "points_needed",
    "try_promise",
]

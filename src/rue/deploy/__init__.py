"""A selector to deploy: weights and a threshold, learned from calibration points.

Theorem 1's selector knows the truth. This one needs only what the model says, and can promise its
budgets for new points.
"""

from rue.deploy.attained import Attained, attained, budgets_kept
from rue.deploy.betting import betting
from rue.deploy.estimator import DeployableSelector
from rue.deploy.fit import fit_selector
from rue.deploy.kind import Kind
from rue.deploy.recalibration_map import RecalibrationMap, fit_recalibration_map
from rue.deploy.rule import PromiseName, Rule
from rue.deploy.trials import Outcome, Trials, compare_rules, try_promise

__all__ = [
    "Attained",
    "DeployableSelector",
    "Kind",
    "Outcome",
    "PromiseName",
    "RecalibrationMap",
    "Rule",
    "Trials",
    "attained",
    "betting",
    "budgets_kept",
    "compare_rules",
    "fit_recalibration_map",
    "fit_selector",
    "try_promise",
]

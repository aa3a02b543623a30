"""A selector to deploy: weights and a threshold, learned from calibration points.

Theorem 1's selector knows the truth. This one needs only what the model says, and can promise its
budgets for new points.
"""

from rue.deploy.attained import Attained, attained, budgets_kept
from rue.deploy.baselines import Outcome, compare_rules
from rue.deploy.betting import betting
from rue.deploy.estimator import DeployableSelector
from rue.deploy.fit import fit_rule, fit_selector
from rue.deploy.kind import Kind
from rue.deploy.p_values import hoeffding_bentkus, points_needed
from rue.deploy.promises import PromiseName
from rue.deploy.recalibration_map import RecalibrationMap, fit_recalibration_map
from rue.deploy.rule import Rule
from rue.deploy.simulation import Trials, try_promise

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
    "fit_rule",
    "fit_selector",
    "hoeffding_bentkus",
    "points_needed",
    "try_promise",
]

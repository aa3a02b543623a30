"""rue: Regret-based Uncertainty Evaluation.

Names are loaded when they are first used, so that ``import rue`` takes milliseconds. Type
checkers and editors read the imports under ``TYPE_CHECKING``; a test keeps the two lists equal.
"""

from rue._lazy import lazy_attributes

TYPE_CHECKING = False  # type checkers take it for True; importing typing would cost 10 ms
if TYPE_CHECKING:
    from rue import adapters as adapters
    from rue import beliefs as beliefs
    from rue import bench as bench
    from rue import components as components
    from rue import data as data
    from rue import deploy as deploy
    from rue import errors as errors
    from rue import inference as inference
    from rue import io as io
    from rue import leaderboard as leaderboard
    from rue import losses as losses
    from rue import methods as methods
    from rue import metrics as metrics
    from rue import pareto as pareto
    from rue import plots as plots
    from rue import proxies as proxies
    from rue import published as published
    from rue import ranking as ranking
    from rue import report as report
    from rue import sandbox as sandbox
    from rue import selectors as selectors
    from rue import truth as truth
    from rue.adapters.accumulator import Accumulator as Accumulator
    from rue.beliefs import Belief as Belief
    from rue.beliefs import Dirichlet as Dirichlet
    from rue.beliefs import Draws as Draws
    from rue.beliefs import Gaussians as Gaussians
    from rue.beliefs import NormalInverseGamma as NormalInverseGamma
    from rue.beliefs import RealBelief as RealBelief
    from rue.beliefs import Samples as Samples
    from rue.beliefs import Scored as Scored
    from rue.components import Components as Components
    from rue.components import Run as Run
    from rue.components import decompose as decompose
    from rue.components import realize as realize
    from rue.deploy import Attained as Attained
    from rue.deploy import DeployableSelector as DeployableSelector
    from rue.deploy import Kind as Kind
    from rue.deploy import Outcome as Outcome
    from rue.deploy import Rule as Rule
    from rue.deploy import Trials as Trials
    from rue.deploy import compare_rules as compare_rules
    from rue.deploy import fit_selector as fit_selector
    from rue.deploy import try_promise as try_promise
    from rue.inference.comparison import Comparison as Comparison
    from rue.inference.comparison import compare as compare
    from rue.inference.method_ranking import Difference as Difference
    from rue.inference.power import Plan as Plan
    from rue.inference.power import plan as plan
    from rue.io.predictions import read_belief as read_belief
    from rue.io.saving import save_predictions as save_predictions
    from rue.io.truth import read_truth as read_truth
    from rue.losses import CRPS as CRPS
    from rue.losses import RPS as RPS
    from rue.losses import Absolute as Absolute
    from rue.losses import Brier as Brier
    from rue.losses import Classes as Classes
    from rue.losses import CostMatrix as CostMatrix
    from rue.losses import Log as Log
    from rue.losses import Loss as Loss
    from rue.losses import Pinball as Pinball
    from rue.losses import RealNumbers as RealNumbers
    from rue.losses import Squared as Squared
    from rue.losses import ZeroOne as ZeroOne
    from rue.metrics.columns import Column as Column
    from rue.metrics.curves import Curve as Curve
    from rue.metrics.curves import accuracy_coverage_curve as accuracy_coverage_curve
    from rue.metrics.curves import regret_coverage_curve as regret_coverage_curve
    from rue.metrics.curves import risk_coverage_curve as risk_coverage_curve
    from rue.metrics.estimation import RegretParts as RegretParts
    from rue.metrics.estimation import regret_parts as regret_parts
    from rue.metrics.evaluation import Evaluation as Evaluation
    from rue.metrics.evaluation import evaluate as evaluate
    from rue.metrics.evaluation import evaluate_components as evaluate_components
    from rue.metrics.evaluation import evaluate_run as evaluate_run
    from rue.metrics.measures import RegretCalibration as RegretCalibration
    from rue.metrics.measures import aurc as aurc
    from rue.metrics.measures import aurec as aurec
    from rue.metrics.measures import excess_aurec as excess_aurec
    from rue.metrics.measures import kendall as kendall
    from rue.metrics.measures import n_aurec as n_aurec
    from rue.metrics.measures import oracle_aurec as oracle_aurec
    from rue.metrics.measures import random_aurec as random_aurec
    from rue.metrics.measures import regret_calibration as regret_calibration
    from rue.metrics.measures import spearman as spearman
    from rue.metrics.recalibration import Recalibration as Recalibration
    from rue.metrics.recalibration import fit_recalibration as fit_recalibration
    from rue.metrics.recalibration import recalibrate as recalibrate
    from rue.pareto.gap import pareto_gap as pareto_gap
    from rue.pareto.surfaces import Surface as Surface
    from rue.pareto.surfaces import achievable_surface as achievable_surface
    from rue.pareto.surfaces import optimal_surface as optimal_surface
    from rue.published import Published as Published
    from rue.published import PublishedTable as PublishedTable
    from rue.published import read_published as read_published
    from rue.ranking.inversions import Inversions as Inversions
    from rue.ranking.inversions import find_inversions as find_inversions
    from rue.ranking.scores import Score as Score
    from rue.selectors import Problem as Problem
    from rue.selectors import Selector as Selector
    from rue.selectors import optimal_selector as optimal_selector
    from rue.truth import Truth as Truth
    from rue.truth.alignment import align as align
    from rue.truth.annotations import Annotations as Annotations
    from rue.truth.ratings import Ratings as Ratings

__version__ = "0.1.0"

# The module of each public name.
_PUBLIC = {
    "Absolute": "rue.losses",
    "Accumulator": "rue.adapters.accumulator",
    "Annotations": "rue.truth.annotations",
    "Attained": "rue.deploy",
    "Belief": "rue.beliefs",
    "Brier": "rue.losses",
    "CRPS": "rue.losses",
    "Classes": "rue.losses",
    "Column": "rue.metrics.columns",
    "Comparison": "rue.inference.comparison",
    "Components": "rue.components",
    "CostMatrix": "rue.losses",
    "Curve": "rue.metrics.curves",
    "DeployableSelector": "rue.deploy",
    "Difference": "rue.inference.method_ranking",
    "Dirichlet": "rue.beliefs",
    "Draws": "rue.beliefs",
    "Evaluation": "rue.metrics.evaluation",
    "Gaussians": "rue.beliefs",
    "Inversions": "rue.ranking.inversions",
    "Kind": "rue.deploy",
    "Log": "rue.losses",
    "Loss": "rue.losses",
    "NormalInverseGamma": "rue.beliefs",
    "Outcome": "rue.deploy",
    "Pinball": "rue.losses",
    "Plan": "rue.inference.power",
    "Problem": "rue.selectors",
    "Published": "rue.published",
    "PublishedTable": "rue.published",
    "RPS": "rue.losses",
    "Ratings": "rue.truth.ratings",
    "RealBelief": "rue.beliefs",
    "RealNumbers": "rue.losses",
    "Recalibration": "rue.metrics.recalibration",
    "RegretCalibration": "rue.metrics.measures",
    "RegretParts": "rue.metrics.estimation",
    "Rule": "rue.deploy",
    "Run": "rue.components",
    "Samples": "rue.beliefs",
    "Score": "rue.ranking.scores",
    "Scored": "rue.beliefs",
    "Selector": "rue.selectors",
    "Squared": "rue.losses",
    "Surface": "rue.pareto.surfaces",
    "Trials": "rue.deploy",
    "Truth": "rue.truth",
    "ZeroOne": "rue.losses",
    "accuracy_coverage_curve": "rue.metrics.curves",
    "achievable_surface": "rue.pareto.surfaces",
    "align": "rue.truth.alignment",
    "aurc": "rue.metrics.measures",
    "aurec": "rue.metrics.measures",
    "compare": "rue.inference.comparison",
    "compare_rules": "rue.deploy",
    "decompose": "rue.components",
    "evaluate": "rue.metrics.evaluation",
    "evaluate_components": "rue.metrics.evaluation",
    "evaluate_run": "rue.metrics.evaluation",
    "excess_aurec": "rue.metrics.measures",
    "find_inversions": "rue.ranking.inversions",
    "fit_recalibration": "rue.metrics.recalibration",
    "fit_selector": "rue.deploy",
    "kendall": "rue.metrics.measures",
    "n_aurec": "rue.metrics.measures",
    "optimal_selector": "rue.selectors",
    "optimal_surface": "rue.pareto.surfaces",
    "oracle_aurec": "rue.metrics.measures",
    "pareto_gap": "rue.pareto.gap",
    "plan": "rue.inference.power",
    "random_aurec": "rue.metrics.measures",
    "read_belief": "rue.io.predictions",
    "read_published": "rue.published",
    "read_truth": "rue.io.truth",
    "realize": "rue.components",
    "recalibrate": "rue.metrics.recalibration",
    "regret_calibration": "rue.metrics.measures",
    "regret_coverage_curve": "rue.metrics.curves",
    "regret_parts": "rue.metrics.estimation",
    "risk_coverage_curve": "rue.metrics.curves",
    "save_predictions": "rue.io.saving",
    "spearman": "rue.metrics.measures",
    "try_promise": "rue.deploy",
}

_PACKAGES = (
    "adapters",
    "beliefs",
    "bench",
    "components",
    "data",
    "deploy",
    "errors",
    "inference",
    "io",
    "leaderboard",
    "losses",
    "metrics",
    "pareto",
    "plots",
    "proxies",
    "published",
    "ranking",
    "report",
    "sandbox",
    "selectors",
    "truth",
)
_NEEDS_TORCH = ("methods",)  # not in __all__, so that a star import does not load torch

__all__ = ["__version__", *_PACKAGES, *_PUBLIC]

if not TYPE_CHECKING:
    _load = lazy_attributes(
        "rue", _PUBLIC | {name: f"rue.{name}" for name in (*_PACKAGES, *_NEEDS_TORCH)}
    )

    def __getattr__(name):
        return _load(name)

    def __dir__():
        return sorted(__all__)

"""rue: Regret-based Uncertainty Evaluation.

Names are loaded when first used, so that ``import rue`` costs nothing.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

# name -> module; the one list of what is public.
_PUBLIC = {
    "Absolute": "rue.losses",
    "Accumulator": "rue.adapters.accumulator",
    "Annotations": "rue.truth.annotations",
    "Brier": "rue.losses",
    "Comparison": "rue.inference.comparison",
    "Components": "rue.components",
    "CostMatrix": "rue.losses",
    "Curve": "rue.metrics.curves",
    "DeployableSelector": "rue.deploy",
    "Dirichlet": "rue.beliefs",
    "Draws": "rue.beliefs",
    "Evaluation": "rue.metrics.evaluation",
    "Log": "rue.losses",
    "Rule": "rue.deploy",
    "Score": "rue.ranking.scores",
    "Scored": "rue.beliefs",
    "Selector": "rue.selectors.optimal",
    "Squared": "rue.losses",
    "Surface": "rue.pareto.surfaces",
    "ZeroOne": "rue.losses",
    "accuracy_coverage_curve": "rue.metrics.curves",
    "achievable_surface": "rue.pareto.surfaces",
    "aurc": "rue.metrics.curves",
    "aurec": "rue.metrics.curves",
    "compare": "rue.inference.comparison",
    "compare_rules": "rue.deploy",
    "decompose": "rue.components",
    "evaluate": "rue.metrics.evaluation",
    "evaluate_components": "rue.metrics.evaluation",
    "excess_aurec": "rue.metrics.curves",
    "find_inversions": "rue.ranking.inversions",
    "fit_selector": "rue.deploy",
    "kendall": "rue.metrics.correlation",
    "n_aurec": "rue.metrics.curves",
    "optimal_selector": "rue.selectors.optimal",
    "optimal_surface": "rue.pareto.surfaces",
    "oracle_aurec": "rue.metrics.curves",
    "pareto_gap": "rue.pareto.gap",
    "plan": "rue.inference.power",
    "random_aurec": "rue.metrics.curves",
    "read_published": "rue.published",
    "realize": "rue.components",
    "regret_calibration": "rue.metrics.calibration",
    "regret_coverage_curve": "rue.metrics.curves",
    "risk_coverage_curve": "rue.metrics.curves",
    "spearman": "rue.metrics.correlation",
    "try_promise": "rue.deploy",
}

_PACKAGES = ("adapters", "data", "errors", "losses", "proxies", "published", "sandbox")
_NEEDS_TORCH = ("methods",)  # not in __all__: a star must not load it

__all__ = ["__version__", *_PACKAGES, *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in (*_PACKAGES, *_NEEDS_TORCH):
        return importlib.import_module(f"rue.{name}")
    raise AttributeError(f"module 'rue' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

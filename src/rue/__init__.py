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
    "Annotations": "rue.annotations",
    "Brier": "rue.losses",
    "Comparison": "rue.comparison",
    "Components": "rue.components",
    "CostMatrix": "rue.losses",
    "Curve": "rue.curves",
    "DeployableSelector": "rue.deploy",
    "Dirichlet": "rue.beliefs",
    "Draws": "rue.beliefs",
    "Evaluation": "rue.evaluation",
    "Log": "rue.losses",
    "Rule": "rue.deploy",
    "Score": "rue.scores",
    "Scored": "rue.beliefs",
    "Selector": "rue.selectors",
    "Squared": "rue.losses",
    "Surface": "rue.surfaces",
    "ZeroOne": "rue.losses",
    "accuracy_coverage_curve": "rue.curves",
    "achievable_surface": "rue.surfaces",
    "aurc": "rue.curves",
    "aurec": "rue.curves",
    "compare": "rue.comparison",
    "compare_rules": "rue.deploy",
    "decompose": "rue.components",
    "evaluate": "rue.evaluation",
    "evaluate_components": "rue.evaluation",
    "excess_aurec": "rue.curves",
    "find_inversions": "rue.inversions",
    "fit_selector": "rue.deploy",
    "kendall": "rue.correlation",
    "n_aurec": "rue.curves",
    "optimal_selector": "rue.selectors",
    "optimal_surface": "rue.surfaces",
    "oracle_aurec": "rue.curves",
    "pareto_gap": "rue.pareto",
    "plan": "rue.planning",
    "random_aurec": "rue.curves",
    "read_published": "rue.published",
    "realize": "rue.components",
    "regret_calibration": "rue.correlation",
    "regret_coverage_curve": "rue.curves",
    "risk_coverage_curve": "rue.curves",
    "spearman": "rue.correlation",
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

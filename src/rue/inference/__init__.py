"""Inference: bootstrap intervals, paired comparisons and plans."""

from typing import TYPE_CHECKING

from rue._lazy import lazy_attributes

if TYPE_CHECKING:
    from rue.inference.comparison import Comparison as Comparison
    from rue.inference.comparison import compare as compare
    from rue.inference.intervals import Intervals as Intervals
    from rue.inference.method_ranking import Difference as Difference
    from rue.inference.method_ranking import Ranking as Ranking
    from rue.inference.power import Plan as Plan
    from rue.inference.power import PlanRow as PlanRow
    from rue.inference.power import plan as plan
    from rue.inference.reliability_bands import CalibrationBands as CalibrationBands
    from rue.inference.reliability_bands import calibration_bands as calibration_bands

# The module of each public name.
_PUBLIC = {
    "CalibrationBands": "rue.inference.reliability_bands",
    "Comparison": "rue.inference.comparison",
    "Difference": "rue.inference.method_ranking",
    "Intervals": "rue.inference.intervals",
    "Plan": "rue.inference.power",
    "PlanRow": "rue.inference.power",
    "Ranking": "rue.inference.method_ranking",
    "calibration_bands": "rue.inference.reliability_bands",
    "compare": "rue.inference.comparison",
    "plan": "rue.inference.power",
}

__all__ = [*_PUBLIC]

if not TYPE_CHECKING:
    __getattr__ = lazy_attributes(__name__, _PUBLIC)

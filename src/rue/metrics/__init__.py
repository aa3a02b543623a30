"""Metrics: curves and areas, correlations, calibration, and the row they make."""

from typing import TYPE_CHECKING

from rue._lazy import lazy_attributes

if TYPE_CHECKING:
    from rue.metrics.columns import COLUMNS as COLUMNS
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
    from rue.metrics.measures import AreaRule as AreaRule
    from rue.metrics.measures import Areas as Areas
    from rue.metrics.measures import RegretCalibration as RegretCalibration
    from rue.metrics.measures import areas as areas
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
    from rue.metrics.statistics import Sample as Sample
    from rue.metrics.statistics import Statistic as Statistic
    from rue.metrics.table import Format as Format
    from rue.metrics.table import format_rows as format_rows
    from rue.metrics.table import to_frame as to_frame
    from rue.metrics.table import to_latex as to_latex

# The module of each public name.
_PUBLIC = {
    "COLUMNS": "rue.metrics.columns",
    "AreaRule": "rue.metrics.measures",
    "Areas": "rue.metrics.measures",
    "Column": "rue.metrics.columns",
    "Curve": "rue.metrics.curves",
    "Evaluation": "rue.metrics.evaluation",
    "Format": "rue.metrics.table",
    "Recalibration": "rue.metrics.recalibration",
    "RegretCalibration": "rue.metrics.measures",
    "RegretParts": "rue.metrics.estimation",
    "Sample": "rue.metrics.statistics",
    "Statistic": "rue.metrics.statistics",
    "accuracy_coverage_curve": "rue.metrics.curves",
    "areas": "rue.metrics.measures",
    "aurc": "rue.metrics.measures",
    "aurec": "rue.metrics.measures",
    "evaluate": "rue.metrics.evaluation",
    "evaluate_components": "rue.metrics.evaluation",
    "evaluate_run": "rue.metrics.evaluation",
    "excess_aurec": "rue.metrics.measures",
    "fit_recalibration": "rue.metrics.recalibration",
    "format_rows": "rue.metrics.table",
    "kendall": "rue.metrics.measures",
    "n_aurec": "rue.metrics.measures",
    "oracle_aurec": "rue.metrics.measures",
    "random_aurec": "rue.metrics.measures",
    "recalibrate": "rue.metrics.recalibration",
    "regret_calibration": "rue.metrics.measures",
    "regret_coverage_curve": "rue.metrics.curves",
    "regret_parts": "rue.metrics.estimation",
    "risk_coverage_curve": "rue.metrics.curves",
    "spearman": "rue.metrics.measures",
    "to_frame": "rue.metrics.table",
    "to_latex": "rue.metrics.table",
}

__all__ = [*_PUBLIC]

if not TYPE_CHECKING:
    __getattr__ = lazy_attributes(__name__, _PUBLIC)

"""Reading and writing files: predictions, truth, tables; atomic writes."""

from typing import TYPE_CHECKING

from rue._lazy import lazy_attributes

if TYPE_CHECKING:
    from rue.io.components import save_components as save_components
    from rue.io.names import Matching as Matching
    from rue.io.predictions import read_belief as read_belief
    from rue.io.predictions import read_method as read_method
    from rue.io.predictions import read_predictions as read_predictions
    from rue.io.runs import read_run as read_run
    from rue.io.runs import read_runs as read_runs
    from rue.io.saving import save_predictions as save_predictions
    from rue.io.truth import read_truth as read_truth

# The module of each public name.
_PUBLIC = {
    "Matching": "rue.io.names",
    "read_belief": "rue.io.predictions",
    "read_method": "rue.io.predictions",
    "read_predictions": "rue.io.predictions",
    "read_run": "rue.io.runs",
    "read_runs": "rue.io.runs",
    "read_truth": "rue.io.truth",
    "save_components": "rue.io.components",
    "save_predictions": "rue.io.saving",
}

__all__ = [*_PUBLIC]

if not TYPE_CHECKING:
    __getattr__ = lazy_attributes(__name__, _PUBLIC)

"""Figures, one file for each kind; the only part that imports matplotlib.

Functions that draw one panel take ``ax=`` and return the Axes; those of several panels return the
Figure. :func:`save` takes either.
"""

from typing import TYPE_CHECKING

from rue._lazy import lazy_attributes

if TYPE_CHECKING:
    from rue.plots.bracket import plot_bracket as plot_bracket
    from rue.plots.bracket import plot_brackets as plot_brackets
    from rue.plots.calibration import plot_agreement as plot_agreement
    from rue.plots.calibration import plot_regret_calibration as plot_regret_calibration
    from rue.plots.comparison import plot_ranking as plot_ranking
    from rue.plots.comparison import plot_rankings as plot_rankings
    from rue.plots.curves import plot_curve as plot_curve
    from rue.plots.curves import plot_curves as plot_curves
    from rue.plots.data import plot_annotations as plot_annotations
    from rue.plots.deploy import plot_outcomes as plot_outcomes
    from rue.plots.estimation import plot_regret_parts as plot_regret_parts
    from rue.plots.inversions import plot_ranks as plot_ranks
    from rue.plots.sandbox import plot_sandbox as plot_sandbox
    from rue.plots.sandbox import plot_sandbox_curves as plot_sandbox_curves
    from rue.plots.style import look as look
    from rue.plots.style import save as save
    from rue.plots.surfaces import plot_surfaces as plot_surfaces

# The module of each public name.
_PUBLIC = {
    "look": "rue.plots.style",
    "plot_agreement": "rue.plots.calibration",
    "plot_annotations": "rue.plots.data",
    "plot_bracket": "rue.plots.bracket",
    "plot_brackets": "rue.plots.bracket",
    "plot_curve": "rue.plots.curves",
    "plot_curves": "rue.plots.curves",
    "plot_outcomes": "rue.plots.deploy",
    "plot_ranking": "rue.plots.comparison",
    "plot_rankings": "rue.plots.comparison",
    "plot_ranks": "rue.plots.inversions",
    "plot_regret_calibration": "rue.plots.calibration",
    "plot_regret_parts": "rue.plots.estimation",
    "plot_sandbox": "rue.plots.sandbox",
    "plot_sandbox_curves": "rue.plots.sandbox",
    "plot_surfaces": "rue.plots.surfaces",
    "save": "rue.plots.style",
}

__all__ = [*_PUBLIC]

if not TYPE_CHECKING:
    __getattr__ = lazy_attributes(__name__, _PUBLIC)

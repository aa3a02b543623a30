"""The Pareto-gap, and the surfaces that it measures (section 4.2 of the paper)."""

from rue.pareto.gap import Directions, igd_plus, pareto_gap
from rue.pareto.surfaces import Surface, achievable_surface, optimal_surface

__all__ = [
    "Directions",
    "Surface",
    "achievable_surface",
    "igd_plus",
    "optimal_surface",
    "pareto_gap",
]

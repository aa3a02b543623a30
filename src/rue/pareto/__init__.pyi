from rue.pareto.gap import Directions as Directions
from rue.pareto.gap import igd_plus as igd_plus
from rue.pareto.gap import pareto_gap as pareto_gap
from rue.pareto.surfaces import Surface as Surface
from rue.pareto.surfaces import achievable_surface as achievable_surface
from rue.pareto.surfaces import optimal_surface as optimal_surface

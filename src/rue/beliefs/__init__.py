"""Beliefs: what a model says about each point, as a distribution over distributions.

A belief is checked once, when it is made, and keeps the array it was given: nothing is copied,
a memory map stays on disk, and rows are renormalised in float64 when they are used.
"""

from rue.beliefs.base import Belief
from rue.beliefs.dirichlet import Dirichlet
from rue.beliefs.draws import Draws
from rue.beliefs.published import (
    CONVENTIONS,
    Convention,
    published_components,
    require_convention,
)
from rue.beliefs.scored import Scored

__all__ = [
    "CONVENTIONS",
    "Belief",
    "Convention",
    "Dirichlet",
    "Draws",
    "Scored",
    "published_components",
    "require_convention",
]

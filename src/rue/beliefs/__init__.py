"""Beliefs: the predictions of a model for each point, as distributions over distributions.

A belief validates its array once, when it is created, and keeps it without a copy: a memory map
stays on disk, and rows are normalised in float64 when they are used.
"""

from rue.beliefs.base import Belief
from rue.beliefs.dirichlet import Dirichlet
from rue.beliefs.draws import ClassBelief, Draws
from rue.beliefs.gaussians import Gaussians
from rue.beliefs.normal_inverse_gamma import NormalInverseGamma
from rue.beliefs.published import (
    CONVENTIONS,
    Convention,
    published_components,
    require_convention,
)
from rue.beliefs.real import RealBelief
from rue.beliefs.samples import Samples
from rue.beliefs.scored import Scored

__all__ = [
    "CONVENTIONS",
    "Belief",
    "ClassBelief",
    "Convention",
    "Dirichlet",
    "Draws",
    "Gaussians",
    "NormalInverseGamma",
    "RealBelief",
    "Samples",
    "Scored",
    "published_components",
    "require_convention",
]

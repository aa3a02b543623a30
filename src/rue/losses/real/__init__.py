"""Losses of real-valued outcomes, one file each; their classes' twins are in the files above."""

from rue.losses.real.base import Mixture, Ragged, RealLoss, round_to_digits
from rue.losses.real.crps import RealCRPS
from rue.losses.real.quantile import RealQuantile
from rue.losses.real.squared import RealSquared

__all__ = [
    "Mixture",
    "Ragged",
    "RealCRPS",
    "RealLoss",
    "RealQuantile",
    "RealSquared",
    "round_to_digits",
]

"""Truth: what annotators said about each point, and how their finite number matters."""

from rue.truth.alignment import align
from rue.truth.annotations import Annotations
from rue.truth.answer_losses import Answers
from rue.truth.base import Truth
from rue.truth.ratings import Ratings
from rue.truth.realized import Estimator

__all__ = ["Annotations", "Answers", "Estimator", "Ratings", "Truth", "align"]

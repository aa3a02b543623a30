"""Truth: what annotators said about each point, and how their finite number matters."""

from rue.truth.annotations import Annotations
from rue.truth.answer_losses import Answers, Realized

__all__ = ["Annotations", "Answers", "Realized"]

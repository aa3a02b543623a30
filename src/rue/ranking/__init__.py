"""Criteria side by side: scores of methods, and where criteria disagree."""

from rue.ranking.inversions import Column, Inversion, Inversions, find_inversions
from rue.ranking.scores import Criterion, Score, read_scores, to_scores

__all__ = [
    "Column",
    "Criterion",
    "Inversion",
    "Inversions",
    "Score",
    "find_inversions",
    "read_scores",
    "to_scores",
]

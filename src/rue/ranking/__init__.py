"""Scores of methods under several criteria, and the pairs of methods on which criteria disagree."""

from rue.ranking.inversions import Contest, Inversion, Inversions, find_inversions
from rue.ranking.scores import Score, read_scores, to_scores

__all__ = [
    "Contest",
    "Inversion",
    "Inversions",
    "Score",
    "find_inversions",
    "read_scores",
    "to_scores",
]

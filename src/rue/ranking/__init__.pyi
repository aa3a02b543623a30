from rue.ranking.inversions import Contest as Contest
from rue.ranking.inversions import Inversion as Inversion
from rue.ranking.inversions import Inversions as Inversions
from rue.ranking.inversions import find_inversions as find_inversions
from rue.ranking.scores import Score as Score
from rue.ranking.scores import read_scores as read_scores
from rue.ranking.scores import to_scores as to_scores

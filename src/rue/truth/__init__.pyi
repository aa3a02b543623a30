from rue.truth.alignment import align as align
from rue.truth.annotations import Annotations as Annotations
from rue.truth.answer_losses import Answers as Answers
from rue.truth.base import Truth as Truth
from rue.truth.ratings import Ratings as Ratings
from rue.truth.realized import Estimator as Estimator

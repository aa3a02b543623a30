"""A leaderboard that anybody can keep: rows recomputed from predictions, one static page.

submission.py   the format of row.json; what is claimed, read from folders
verification.py write a submission; every number computed again and compared
board.py        the rows of each data set and loss, ranked with probabilities
page.py         the HTML page
assets/         the HTML, CSS and JavaScript of the page; the rest is the report's
"""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

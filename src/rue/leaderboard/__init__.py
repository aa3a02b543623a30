"""A leaderboard that anybody can keep: rows recomputed from predictions, one static page.

submission.py   the format of row.json; what is claimed, read from folders
verify.py       write a submission; every number computed again and compared
board.py        the rows of each data set and loss, ranked with probabilities
page.py         the HTML page
assets/         the HTML, CSS and JavaScript of the page; the rest is the report's
"""

from rue.leaderboard.board import Board, BoardRow, Leaderboard, build_leaderboard
from rue.leaderboard.page import write_leaderboard
from rue.leaderboard.submission import Refused, Submission, find_submissions, read_submission
from rue.leaderboard.verify import References, Verified, verify, write_submission

__all__ = [
    "Board",
    "BoardRow",
    "Leaderboard",
    "References",
    "Refused",
    "Submission",
    "Verified",
    "build_leaderboard",
    "find_submissions",
    "read_submission",
    "verify",
    "write_leaderboard",
    "write_submission",
]

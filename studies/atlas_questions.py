"""The six questions of docs/findings.md, each answered from the rows of the atlas.

Every answer has one sentence, which the README repeats, and a body with numbers and intervals.
"""

from collections.abc import Sequence

from studies.atlas_answers import Answer
from studies.atlas_criteria import proxies, two_components, what_moves_ranks
from studies.atlas_methods import better_than_total, replicates, which_method
from studies.rows import Row


def answers(tuned: Sequence[Row], paper: Sequence[Row], active: Sequence[Row] = ()) -> list[Answer]:
    """Return the answers that the rows allow."""
    return [
        which_method(tuned),
        better_than_total(tuned),
        replicates(tuned),
        proxies(tuned, paper, active),
        what_moves_ranks(tuned, paper),
        two_components(tuned),
    ]

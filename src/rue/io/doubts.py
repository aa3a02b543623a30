"""What makes predictions and answers doubtful once they are put beside each other."""

from rue._text import are_numbers
from rue.beliefs import Belief
from rue.errors import AlignmentError
from rue.io.answer_rows import LEFT_OUT
from rue.io.answer_tables import READ_AS_COUNTS
from rue.io.columns import is_missing
from rue.truth.base import Truth


def draws_first(kind: str, shape: tuple[int, ...], n_points: int) -> str:
    """Say that an array has its draws first."""
    return (
        f"{kind} has shape {shape}, but there are {n_points:,} points: draws come second, "
        f"(n_points, n_draws, n_classes); give {kind}.swapaxes(0, 1)"
    )


def require_no_lost_class(belief: Belief, truth: Truth) -> None:
    """Raise if answers were left out as missing that may be of a class, such as NA."""
    own, names = belief.outcomes.names, truth.outcomes.names
    lost = [name for name in own or () if is_missing(name) and name not in (names or own or ())]
    if lost and any(note.endswith(LEFT_OUT) for note in truth.notes):
        raise AlignmentError(
            f"{belief.source}: has the class {lost[0]!r}, but such cells of {truth.source} were "
            "read as no answer; give this class another name in both files"
        )


def without_doubt(truth: Truth, belief: Belief) -> Truth:
    """Drop the note that counts may be answers if the classes agree; raise if nothing says so."""
    own, names = truth.outcomes.names, belief.outcomes.names
    if not is_doubtful(truth) or own is None or truth.counts is None:
        return truth
    if names is None and (truth.counts > 0).all():  # few annotators leave some class without one
        raise AlignmentError(
            f"{truth.source}: {', '.join(own)} may be classes with counts or annotators with "
            f"answers, and {belief.source} does not name its classes",
            advice={"--classes": f"{','.join(own)} makes classes of them"} | as_annotators(truth),
        )
    if are_numbers(own) or not set(own) <= set(names or ()):
        return truth
    return truth._with(notes=tuple(n for n in truth.notes if not n.endswith(READ_AS_COUNTS)))


def is_doubtful(truth: Truth) -> bool:
    """Whether a truth has the note that its counts may be answers."""
    return any(note.endswith(READ_AS_COUNTS) for note in truth.notes)


def as_annotators(truth: Truth) -> dict[str, str]:
    """Return the advice to read the columns of a doubtful truth as annotators."""
    if not is_doubtful(truth):
        return {}
    names = ",".join(truth.outcomes.names or ())
    return {"--annotator": f"{names} makes an annotator of each of these columns"}


def require_no_further_class(belief: Belief, truth: Truth) -> None:
    """Raise if probabilities that were normalised have a class that the truth lacks."""
    own, names = belief.outcomes.names, truth.outcomes.names
    further = [name for name in own or () if name not in (names or own or ())]
    if further:
        raise AlignmentError(
            f"{belief.source}: {further[0]!r} was taken as a class, but {truth.source} has only "
            f"{', '.join(names or ())}",
            advice={"--classes": "states the columns of classes, which normalize needs here"},
        )

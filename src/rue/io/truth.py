"""Truth files: what annotators said, with the names of points and classes.

The layouts are in :mod:`rue.io.answers`.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from rue.errors import AlignmentError, FileError, InputError
from rue.io.answers import FileAnswers, read_answers
from rue.io.names import BY_NAME, Matching, in_stated_order, unused_note
from rue.losses import Classes
from rue.truth.annotations import Annotations
from rue.truth.base import Truth
from rue.truth.ratings import Ratings

_NOT_SHARES = {
    "--shares": "takes percentages of unknown many answers, so that p* is exact",
    "--n-answers": "says how many answered each point",
}


def read_truth(
    path: str | os.PathLike[str],
    *,
    by: str | Sequence[str] | None = None,
    matching: Matching = BY_NAME,
) -> Truth:
    r"""Read what annotators said from a file, with the names of points and classes.

    Parameters
    ----------
    path : str or path
        The file: a table, array file or JSON of the layouts in :mod:`rue.io.answers`, or a
        prediction file with ``counts`` or ``ratings``.
    by : str or sequence of str, optional
        A column, or several, that are groups and no classes.
    matching : Matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Annotations or Ratings
        The answers about n_points points, with ids, classes and groups where there are any. Of a
        prediction file, its own ``counts`` or ``ratings``.

    Raises
    ------
    FileError
        If the file is not there or cannot be read as truth.

    Examples
    --------
    >>> import tempfile, pathlib, rue
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "answers.csv")
    ...     _ = path.write_text("id,no,yes\na,1,1\nb,0,1\n")
    ...     truth = rue.read_truth(path)
    >>> truth.ids.tolist(), truth.outcomes.names, truth.counts.tolist()
    (['a', 'b'], ('no', 'yes'), [[1.0, 1.0], [0.0, 1.0]])
    """
    by = (by,) if isinstance(by, str) else tuple(by or ())
    return truth_of_answers(read_answers(Path(path), by=by, matching=matching), matching.classes)


def truth_of_answers(answers: FileAnswers, stated: Sequence[str] | None = None) -> Truth:
    """Return answers as a truth; every point must have one, and each annotator only one."""
    path = answers.path
    if answers.repeated:
        who, _, point = answers.repeated[0].partition(" about ")
        raise FileError(
            f"{path}: an annotator may answer once per point, but {who} answered more than once "
            f"about {point} ({len(answers.repeated):,} in all)"
        )
    silent = answers.silent
    if len(silent):
        first = int(silent[0])
        name = f"row {first}" if answers.ids is None else repr(str(answers.ids[first]))
        raise FileError(
            f"{path}: every point needs at least one answer, {len(silent):,} of "
            f"{answers.n_points:,} have none, first {name}; drop them from the truth",
            advice={
                "--common": "then keeps the points with answers",
                "--annotator": "says which columns hold an annotator each, and no counts",
            },
        )
    notes = (*answers.notes, *unused_note(path, answers.unused))
    if answers.n_blank:
        notes = (*notes, f"{path}: {answers.n_blank:,} rows without an answer were left out")
    try:
        truth: Truth
        if answers.ratings is not None:
            truth = Ratings(answers.ratings, range=answers.range, ids=answers.ids)
        else:
            table = answers.counts if answers.probs is None else answers.probs
            assert table is not None
            names = table.shape[1] if answers.classes is None else answers.classes
            classes = Classes(names, answers.values, order=answers.order)
            make = Annotations if answers.probs is None else Annotations.from_probs
            truth = make(table, ids=answers.ids, classes=classes)
    except AlignmentError as error:
        raise AlignmentError(f"{path}: {error.message}", advice=error.advice) from None
    except InputError as error:
        if "must sum to 1" not in error.message:
            raise error.about(path) from None
        raise FileError(error.about(path).message, advice=_NOT_SHARES | error.advice) from None
    return in_stated_order(truth.with_source(str(path), groups=answers.groups, notes=notes), stated)

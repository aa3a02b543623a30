"""Truth files: what annotators said, with the names of points and classes.

The layouts are in :mod:`rue.io.answers`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue.errors import FileError, InputError
from rue.io.answers import FileAnswers, read_answers
from rue.io.names import BY_NAME, Matching
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

__all__ = ["Truth", "read_truth", "truth_of_answers"]


@dataclass(frozen=True, eq=False)
class Truth:
    """What annotators said, with the names of rows and classes and columns to group by.

    Attributes
    ----------
    path
        The file, or the name of a data set.
    annotations
        The answers about n_points points.
    ids
        The names of the points, shape (n_points,); None where they have none.
    groups
        Columns to group by, each of shape (n_points,), by name.
    classes
        The names of the classes, shape (n_classes,); None where they have none.
    notes
        What a reader of the numbers must know, a sentence each.
    """

    path: Path
    annotations: Annotations | Ratings
    ids: NDArray[np.str_] | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def read_truth(
    path: str | Path, *, by: str | Sequence[str] | None = None, matching: Matching = BY_NAME
) -> Truth:
    """Read a truth file; its formats are in the description of this module.

    Parameters
    ----------
    path
        The file.
    by
        A column, or several, that are groups and no classes.
    matching
        Which column names the points, and the classes of files that do not name them.

    Returns
    -------
    Truth
        The annotations of n_points points, with ids, classes and groups where there are any.

    Raises
    ------
    FileError
        If the file is not there or cannot be read as truth.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rue.io import read_truth
    >>> import tempfile
    >>> from rue.io.arrays import save_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "truth.npz"
    ...     save_npz(file, {"counts": np.array([[1, 1], [0, 1]]), "classes": ["no", "yes"]})
    ...     truth = read_truth(file)
    >>> truth.classes, truth.annotations.counts.tolist()
    (('no', 'yes'), [[1.0, 1.0], [0.0, 1.0]])
    """
    by = (by,) if isinstance(by, str) else tuple(by or ())
    return truth_of_answers(read_answers(path, by=by, matching=matching))


def truth_of_answers(answers: FileAnswers) -> Truth:
    """Return answers as a truth; every point must have one, and each annotator only one."""
    path = answers.path
    if answers.repeated:
        raise FileError(
            f"{path}: an annotator may answer once per point, {len(answers.repeated):,} answers "
            f"repeat one, first {answers.repeated[0]}"
        )
    silent = answers.silent
    if len(silent):
        first = int(silent[0])
        name = f"row {first}" if answers.ids is None else repr(str(answers.ids[first]))
        raise FileError(
            f"{path}: every point needs at least one answer, {len(silent):,} of "
            f"{answers.n_points:,} have none, first {name}; drop them from the truth",
            advice={"--common": "then keeps the points with answers"},
        )
    notes = answers.notes
    if answers.n_blank:
        notes = (*notes, f"{path}: {answers.n_blank:,} rows without an answer were left out")
    try:
        annotations: Annotations | Ratings
        if answers.ratings is not None:
            annotations = Ratings(answers.ratings, range=answers.range)
        elif answers.probs is not None:
            annotations = Annotations.from_probs(answers.probs, answers.values)
        else:
            assert answers.counts is not None
            annotations = Annotations(answers.counts, answers.values)
    except InputError as error:
        raise error.about(path) from None
    return Truth(path, annotations, answers.ids, answers.groups, answers.classes, notes)

"""Letter (OpenML 6): 16 numbers about a printed letter, 26 classes, for active learning."""

import warnings
from pathlib import Path

import numpy as np

from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, make_data_set
from rue.data.fetching import locked_target
from rue.data.files import Reader, atomic_write, content_digest
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError

PATH = "letter/letter-recognition.data"
CLASS_NAMES = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def load(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load the rows, label first; folds are hashed from rows, so that equal rows share a fold."""
    file = reader.find(PATH)
    rows = _read_rows(file)
    reader.note(PATH, _sorted_digest(rows), file)
    cells = [row.split(",") for row in rows]
    try:
        labels = np.array([CLASS_NAMES.index(row[0]) for row in cells])
        inputs = np.array([row[1:] for row in cells], dtype=np.float64)
        if inputs.ndim != 2 or inputs.shape[1] != 16 or not np.isfinite(inputs).all():
            raise ValueError
    except ValueError:
        raise FileError(f"{PATH} must hold a letter and 16 numbers per line") from None
    return make_data_set(
        entry,
        reader,
        inputs=inputs,
        labels=labels,
        ids=np.arange(len(rows)).astype(np.str_),
        class_names=CLASS_NAMES,
        **rotate(hashed_folds(entry.name, rows, seed=seed), seed),
    )


def fetch(root: Path, progress: bool) -> None:
    """Fetch it from OpenML with scikit-learn, and keep it in UCI's layout."""
    from sklearn.datasets import fetch_openml

    del progress
    target = root / PATH
    with locked_target(target):
        if target.exists() and _sorted_digest(_read_rows(target)) == _SHA256:
            return
        try:
            with warnings.catch_warnings(action="ignore"):  # that it tries again
                bunch = fetch_openml(data_id=6, cache=False, as_frame=True)
        except (OSError, ValueError) as error:
            raise FileError(f"OpenML 6 could not be fetched: {error}") from None
        numbers = bunch.data.to_numpy(dtype=np.int64)
        rows = [
            ",".join((str(label), *map(str, row)))
            for label, row in zip(bunch.target, numbers, strict=True)
        ]
        if _sorted_digest(rows) != _SHA256:
            raise FileError("OpenML 6 is not the published data set; nothing was kept")
        with atomic_write(target) as handle:
            handle.write("\n".join((*rows, "")).encode())


def _read_rows(path: Path) -> list[str]:
    # An invalid byte becomes an invalid cell.
    return path.read_text(encoding="ascii", errors="replace").split()


def _sorted_digest(rows: list[str]) -> str:
    return content_digest(PATH, "\n".join(sorted(rows)).encode())


ENTRIES = entries("letter", needs=((PATH,),), load=load, fetch=fetch)
# Of the sorted rows, because OpenML and UCI have them in different orders.
_SHA256 = ENTRIES[0].checksums[PATH]

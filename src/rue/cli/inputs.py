"""What commands that read predictions and truth share: their options, and reading the files."""

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rue.errors import InputError

if TYPE_CHECKING:
    from rue.io.matching import Matching
    from rue.io.predictions import Predictions
    from rue.io.truth import Truth
    from rue.runs import Run

__all__ = [
    "ByPosition",
    "Classes",
    "Common",
    "Files",
    "IdName",
    "TruthFile",
    "matching_of",
    "methods_of",
    "read_methods",
    "truth_of",
]

Files = Annotated[
    list[str],
    typer.Argument(
        help="Prediction files (.npz, .jsonl, .csv, .parquet), one per method; or "
        "NAME=FILE,FILE,... for one method in several files.",
        show_default=False,
    ),
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth",
        help="The annotators' answers: a file (.npy, .npz, .jsonl, .csv, .parquet), or the name of "
        "a data set (rue data list).",
    ),
]
IdName = Annotated[
    str | None,
    typer.Option("--id", help="The column that names the points, if not id, uid, item or item_id."),
]
Classes = Annotated[
    str | None,
    typer.Option(help="The classes in the order of the columns, for files that do not name them."),
]
Common = Annotated[
    bool, typer.Option("--common", help="Keep the points whose ids are on both sides.")
]
ByPosition = Annotated[
    bool, typer.Option("--by-position", help="Match rows by position, whatever their ids are.")
]


def matching_of(
    id_name: str | None, classes: str | None, common: bool, by_position: bool
) -> "Matching":
    """Return how rows and columns are matched, from the options of a command."""
    from rue.io.matching import Matching

    names = None if classes is None else tuple(name.strip() for name in classes.split(","))
    return Matching(id_name, names, common, by_position)


def truth_of(text: str | None, matching: "Matching", *, by: str | None = None) -> "Truth | None":
    """Return the truth of a file, or of a data set by its name or its TOML file."""
    if text is None:
        return None
    from rue.data.registry import ENTRIES
    from rue.data.truth import data_set_truth
    from rue.io.truth import read_truth

    if text.endswith(".toml") or (text in ENTRIES and not Path(text).is_file()):
        return data_set_truth(text)
    return read_truth(text, by=by, matching=matching)


def methods_of(files: list[str]) -> list[tuple[str | None, list[Path]]]:
    """Return the files of each method, with its name where the command line gives one.

    Examples
    --------
    >>> methods_of(["a.npz", "both=b.npz,c.npz"])
    [(None, [PosixPath('a.npz')]), ('both', [PosixPath('b.npz'), PosixPath('c.npz')])]
    """
    found: list[tuple[str | None, list[Path]]] = []
    for text in files:
        name, equals, rest = text.partition("=")
        if equals and name and not Path(text).exists():
            paths = [path for part in rest.split(",") for path in _expanded(part)]
            if len(set(paths)) < len(paths):
                raise InputError(f"{text}: names a file twice")
            found.append((name, paths))
        else:
            found += [(None, [path]) for path in _expanded(text)]
    names = [name for name, _ in found if name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"every method must have a name of its own, got {twice!r} twice")
    return found


def read_methods(files: list[str], matching: "Matching") -> "dict[str, Predictions | Run]":
    """Read the predictions of each method, by name: the given one, the file's own, or its stem."""
    from rue.io.members import read_method
    from rue.runs import Run

    given = methods_of(files)
    stems = shortest_names([paths[0] for _, paths in given])
    reads = [read_method(paths, name=name, matching=matching) for name, paths in given]
    own = [None if isinstance(read, Run) else read.named for read in reads]
    found: dict[str, Predictions | Run] = {}
    for (name, paths), read, word in zip(given, reads, own, strict=True):
        label = name or (word if word and own.count(word) == 1 else stems[paths[0]])
        if label in found:
            raise InputError(f"every method must have a name of its own, got {label!r} twice")
        found[label] = read
    return found


def shortest_names(files: list[Path]) -> dict[Path, str]:
    """Return the stem of each file, with as much of its path as tells files of one name apart."""
    names = {}
    for file in files:
        parts = file.resolve().with_suffix("").parts
        others = [other.resolve().with_suffix("").parts for other in files if other != file]
        ends = (parts[-n:] for n in range(1, len(parts)))
        own = next((end for end in ends if end not in [o[-len(end) :] for o in others]), None)
        names[file] = str(file) if own is None else "/".join(own)
    return names


def _expanded(text: str) -> list[Path]:
    """Return the files that a pattern matches, sorted; a plain path is itself."""
    if not text.strip():
        raise InputError("a file's name must not be empty")
    if Path(text).exists() or not glob.has_magic(text):
        return [Path(text)]
    found = sorted(glob.glob(text))  # noqa: PTH207, patterns may be absolute
    if not found:
        raise InputError(f"no file matches {text!r}")
    return [Path(path) for path in found]

"""The TOML file that describes your own data set; ``rue bench`` accepts it in place of a name.

::

    answers = "answers.csv"
    columns = { id = "item", label = "label", annotator = "worker" }
    classes = ["no", "maybe", "yes"]
    inputs = "texts.csv"

    [facts]                    # what the check found
    n_points = 200
    annotators = [3, 4.2, 9]
    splits = { train = 120, validation = 40, test = 40 }

    [checksums]                # of the files that were checked: others are refused
    "answers.csv" = "..."

Paths are relative to the TOML file, whose name is the data set's.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rue._schema import Count, build, plain, read_content
from rue.data.dataset import SPLITS, DataSet, TaskKind, counted
from rue.data.entry import Entry, make_data_set
from rue.data.files import Reader
from rue.data.own.answers import OwnAnswers, read_own_answers, table_with, values_of
from rue.data.own.inputs import OwnInputs, input_digests, read_inputs, source_digest, table_digest
from rue.data.splits import Splits, hashed_folds, named_splits, rotate
from rue.errors import FileError, InputError
from rue.io.atomic import replacing
from rue.truth.ratings import Ratings

NAME_RULE = "letters, digits, -, _ and ., no sign first"
_PARTS = {
    "train": "train",
    "training": "train",
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    "test": "test",
}


@dataclass(frozen=True, kw_only=True)
class OwnFacts:
    """What the check found, enough for an entry of the registry.

    Attributes
    ----------
    task : str
        The kind of the inputs.
    n_points, n_classes : int
        The numbers of points and of classes.
    annotators : tuple of int, float and int
        The least, mean and largest number of annotators per point.
    splits : mapping of str to int
        The sizes of train, validation and test.
    """

    task: TaskKind
    n_points: Count
    n_classes: Count
    annotators: tuple[int, float, int]
    splits: Mapping[str, Count]

    def __post_init__(self) -> None:
        if set(self.splits) != set(SPLITS):
            raise InputError(f"splits must be {', '.join(SPLITS)}, got {', '.join(self.splits)}")


@dataclass(frozen=True, kw_only=True)
class Description:
    """The content of the TOML file; paths are relative to it.

    Attributes
    ----------
    name, folder
        The file's stem, and where it is.
    answers, inputs, splits
        The file of answers; the file or folder of inputs, and a table of ids and splits, or "".
    columns
        What -> its column.
    classes
        The classes in their order; empty takes those that occur, or where answers are numbers.
    licence, citation
        As the user has them.
    facts
        What the check found, or None before it.
    checksums
        Path -> SHA-256 of what was checked.
    """

    name: str
    folder: Path
    answers: str
    columns: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    inputs: str = ""
    splits: str = ""
    licence: str = ""
    citation: str = ""
    facts: OwnFacts | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)


def valid_name(name: str) -> bool:
    """Return whether a name is valid for a data set or a suite: it becomes the name of a folder."""
    return name[:1].isalnum() and all(c.isalnum() or c in "-_." for c in name)


def read_description(path: Path) -> Description:
    """Read the TOML file; an error names the key that is unknown or has an invalid value."""
    context = {"name": path.stem, "folder": path.parent}
    return read_content(
        path,
        "a description of a data set",
        lambda content: build(Description, content, table="a table", given=context),
    )


def own_entry(path: Path) -> Entry:
    """Return the registry entry of your own data set, from its TOML file alone."""
    description = read_description(path)
    facts = description.facts
    if facts is None:
        raise FileError(f"{path}: the table facts is missing: run `rue data check` to write it")
    return Entry(
        name=description.name,
        task=facts.task,
        n_points=facts.n_points,
        n_classes=facts.n_classes,
        annotators=facts.annotators,
        splits=facts.splits,
        size=None,
        licence=description.licence or "none stated",
        citation=description.citation or "none stated",
        checksums=dict(description.checksums),
        load=functools.partial(load_own, description),
        by_hand=f"run `rue data check` again, which writes {path.name} anew",
    )


def load_own(
    description: Description, reader: Reader, entry: Entry, *, seed: int, size: int | None = None
) -> DataSet:
    """Load your own data set; its files must have the checksums that the check wrote."""
    answers, inputs, parts, notes = read_own(description, size=size)
    for path, digest in checksums(description, answers, inputs).items():
        file = description.folder / path
        if reader.verify and description.checksums.get(path) != digest:
            raise FileError(
                f"{file} is not the file that was checked: run `rue data check` again "
                "(verify=False reads it nevertheless)"
            )
        reader.note(path, digest, file)
    splits, further = assigned(entry.name, answers, inputs, parts, seed=seed)
    values = values_of(answers.class_names) or range(len(answers.class_names))
    return make_data_set(
        entry,
        reader,
        inputs=inputs.inputs,
        ids=np.array(answers.ids, dtype=np.str_),
        class_names=answers.class_names,
        extras={
            what: np.array(cells, dtype=np.str_)
            for what, cells in answers.attributes.items()
            if what == "group"
        },
        values=np.array(values, np.float64),
        annotations=answers.annotations,
        ratings=None if answers.ratings is None else Ratings(answers.ratings),
        notes=(*notes, *further),
        **splits,
    )


def read_own(
    description: Description, *, size: int | None = None, answers: OwnAnswers | None = None
) -> tuple[OwnAnswers, OwnInputs, list[str] | None, tuple[str, ...]]:
    """Read the files: answers, inputs, the split of each point (None without splits), and notes."""
    if answers is None:
        answers = read_own_answers(
            description.folder / description.answers,
            description.columns,
            description.classes or None,
        )
    path = description.folder / description.inputs if description.inputs else None
    inputs = read_inputs(answers, path, columns=description.columns, size=size)
    parts = answers.attributes.get("split")
    if description.splits:
        parts = _split_file(description.folder / description.splits, answers)
    left_out = counted(
        (answers.n_blank, "row", "without an answer left out"),
        (answers.n_silent, "point", "without any answer left out"),
    )
    return answers, inputs, _named(answers, parts), (*answers.notes, *left_out)


def assigned(
    name: str, answers: OwnAnswers, inputs: OwnInputs, parts: Sequence[str] | None, *, seed: int
) -> tuple[Splits, tuple[str, ...]]:
    """Return the given splits, or else folds of groups or inputs, rotated by the seed."""
    if parts is not None:
        return named_splits(parts), counted((list(parts).count(""), "point", "in no split"))
    groups = answers.attributes.get("group")
    if groups is None:
        groups = answers.ids if inputs.kind == "none" else input_digests(inputs)
    return rotate(hashed_folds(name, groups, seed=seed), seed), ()


def _named(answers: OwnAnswers, parts: Sequence[str] | None) -> list[str] | None:
    """Rename the splits to train, validation and test; "" is a point in none of them."""
    if parts is None:
        return None
    words = [part.strip().lower() for part in parts]
    for key, word, part in zip(answers.ids, words, parts, strict=True):
        if word and word not in _PARTS:
            raise FileError(
                f"{answers.path}: a split must be train, validation or test, {key!r} has {part!r}"
            )
    return [_PARTS.get(word, "") for word in words]


def _split_file(path: Path, answers: OwnAnswers) -> list[str]:
    table = table_with(path, {}, "id", "split")
    if len(set(table["id"])) < len(table["id"]):
        raise FileError(f"{path}: every id must have one split, but ids repeat")
    part_of = dict(zip(table["id"], table["split"], strict=True))
    return [part_of.get(key, "") for key in answers.ids]


def checksums(description: Description, answers: OwnAnswers, inputs: OwnInputs) -> dict[str, str]:
    """Return the checksum of each file that was read, by its path in the description."""
    digests = {description.answers: table_digest(answers.path)}
    if inputs.path is not None and description.inputs != description.answers:
        digests[description.inputs] = source_digest(inputs)
    if description.splits:
        digests[description.splits] = table_digest(description.folder / description.splits)
    return digests


_HEADER = "# Written by `rue data check`."


def save_description(description: Description, path: Path) -> None:
    """Write the TOML file; a file that the check did not write is not overwritten."""
    if path.suffix != ".toml":
        raise InputError(f"the description must be a .toml file, got {path}")
    if path.exists():
        try:
            ours = path.is_file() and path.read_text(encoding="utf-8").startswith(_HEADER)
        except (OSError, UnicodeDecodeError):
            ours = False
        if not ours:
            raise InputError(
                f"{path} exists and is not from `rue data check`",
                advice={"--out": "chooses another file"},
            )
    with replacing(path) as file:
        file.write(write_description(description).encode())


def write_description(description: Description) -> str:
    """Return the text of the TOML file."""
    lines = [
        _HEADER,
        f'# Use it in a suite: datasets = ["{description.name}.toml"]',
        f"answers = {_toml(description.answers)}",
    ]
    if description.columns:
        lines.append(f"columns = {_toml(description.columns)}")
    for key in ("classes", "inputs", "splits", "licence", "citation"):
        value = getattr(description, key)
        if value:
            lines.append(f"{key} = {_toml(value)}")
    for key, values in (
        ("facts", plain(description.facts) or {}),
        ("checksums", description.checksums),
    ):
        lines += ["", f"[{key}]"]
        lines += [f"{_key(k)} = {_toml(v)}" for k, v in values.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: str) -> str:
    bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if bare else _toml(name)

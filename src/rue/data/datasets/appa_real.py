"""APPA-REAL: about 38 annotators guessed the age of each face, from 0 to 100."""

import re
from pathlib import Path

import numpy as np

from rue.data.dataset import DataSet, counted
from rue.data.entry import Entry, entries, make_data_set
from rue.data.fetching import download, zip_check
from rue.data.files import Reader, content_digest, csv_rows, read_in
from rue.data.images import LazyImages
from rue.data.splits import named_splits
from rue.errors import FileError
from rue.truth.annotations import Annotations

ZIP = "appa-real/appa-real-release.zip"
URL = "https://data.chalearnlap.cvc.uab.cat/AppaRealAge/appa-real-release.zip"
N_AGES = 101

_PLACES = ("appa-real/appa-real-release", "appa-real-release", ZIP, "appa-real-release.zip")
_PARTS = {"train": "train", "validation": "valid", "test": "test"}
_COLUMNS = ("file_name", "apparent_age", "real_age")


def load(reader: Reader, entry: Entry, *, seed: int, size: int | None = None) -> DataSet:
    """Load the official split; the inputs are the cropped faces, decoded when they are used."""
    del seed
    source = reader.find(*_PLACES)
    prefix = "" if source.is_dir() else "appa-real-release/"
    names: list[str] = []
    images: list[str] = []
    guesses: list[list[int]] = []
    real: list[float | None] = []
    parts: list[str] = []
    n_clipped = n_empty = n_silent = 0
    for split, part in _PARTS.items():
        path = f"gt_{part}.csv"
        data = read_in(source, prefix + path)
        reader.note(path, content_digest("gt.txt", data), source / path)
        ratings, ages, empty, silent = _parse(data, path)
        n_empty += empty
        n_silent += silent
        for name, row in ratings.items():
            n_clipped += sum(age > N_AGES - 1 for age in row)
            names.append(name)
            images.append(f"{prefix}{part}/{name}_face.jpg")
            guesses.append([min(age, N_AGES - 1) for age in row])
            real.append(ages[name])
            parts.append(split)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise FileError(f"{source}: {twice} is in two of the csv files")
    return make_data_set(
        entry,
        reader,
        inputs=LazyImages(source, images, size=size),
        ids=np.array(names, dtype=np.str_),
        class_names=tuple(map(str, range(N_AGES))),
        annotations=Annotations.from_ratings(guesses, values=np.arange(N_AGES)),
        extras={"real_age": np.array(real, dtype=np.float64)},
        notes=counted(
            (n_clipped, "guess", f"above {N_AGES - 1} clipped to {N_AGES - 1}"),
            (n_empty, "row", "without a guess left out"),
            (n_silent, "face", "without any guess left out"),
        ),
        **named_splits(parts),
    )


def fetch(root: Path, progress: bool) -> None:
    """Fetch the official zip, which is read without unpacking."""
    download((URL,), root / ZIP, zip_check(), progress=progress)


def _parse(
    data: bytes, path: str
) -> tuple[dict[str, list[int]], dict[str, float | None], int, int]:
    """Collect the guesses and the real age of each face; the file has one row per guess."""
    guesses: dict[str, list[int]] = {}
    ages: dict[str, float | None] = {}
    silent: set[str] = set()
    n_empty = 0
    for line, row in csv_rows(data, path, _COLUMNS):
        try:
            name, guess, age = (cell.strip() for cell in row)
            if not guess:
                n_empty += 1
                silent.add(name)
                continue
            value, real = _number(guess), _number(age) if age else None
            if not name or value != int(value):
                raise ValueError
        except (ValueError, OverflowError):  # 400 digits are infinite
            raise FileError(
                f"{path}: line {line} must hold a name and whole ages, got {row}"
            ) from None
        if "/" in name or "\\" in name or name == "..":
            raise FileError(f"{path}: line {line} must name a file, got {name!r}")
        if ages.setdefault(name, real) != real:
            raise FileError(f"{path}: {name} has two real ages, {ages[name]} and {real}")
        guesses.setdefault(name, []).append(int(value))
    if not guesses:
        raise FileError(f"{path} holds no guess")
    return guesses, ages, n_empty, len(silent - guesses.keys())


def _number(text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d*)?", text, re.ASCII):  # float would take 1_0 and inf
        raise ValueError
    return float(text)


ENTRIES = entries("appa_real", needs=(_PLACES,), checksums={ZIP: None}, load=load, fetch=fetch)

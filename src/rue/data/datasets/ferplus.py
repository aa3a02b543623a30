"""FER+: ten annotators voted on the emotion of each of 35,710 faces (Barsoum et al. 2016)."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue._arrays import IntArray, require_whole
from rue.data.dataset import DataSet, counted
from rue.data.entry import Entry, entries, fetch_urls, make_data_set
from rue.data.files import Reader, csv_rows, file_digest, paths_in
from rue.data.images import ImageArray, LazyImages
from rue.errors import FileError, InputError
from rue.truth.annotations import Annotations

VOTES = "ferplus/fer2013new.csv"
FEATURES = "ferplus/efficientnet-lite0-pca192.npz"
CLASS_NAMES = (
    *("neutral", "happiness", "surprise", "sadness"),
    *("anger", "disgust", "fear", "contempt"),
)
LEAST_VOTES = 5

_SIDE = 48
_PARTS = {  # the votes' word -> ours, and the folder that the authors' script writes
    "Training": ("train", "FER2013Train"),
    "PublicTest": ("validation", "FER2013Valid"),
    "PrivateTest": ("test", "FER2013Test"),
}
_COLUMNS = ("Usage", "Image name", *CLASS_NAMES, "unknown", "NF")
_SET_ASIDE = 2  # the last two columns
_IMAGES = (
    "ferplus/images.zip",
    *("ferplus/FER2013Train", "ferplus/images/FER2013Train", "ferplus/data/FER2013Train"),
)
_PIXELS = "ferplus/images"


@dataclass(frozen=True)
class _Faces:
    """The faces that are used: names, votes (n, 10), splits, and notes on those left out."""

    names: NDArray[np.str_]
    votes: IntArray
    usage: NDArray[np.str_]
    notes: tuple[str, ...]

    def take(self, rows: IntArray, *notes: str) -> "_Faces":
        """Keep some of the faces, with further notes."""
        notes = (*self.notes, *notes)
        return _Faces(self.names[rows], self.votes[rows], self.usage[rows], notes)


def load(reader: Reader, entry: Entry, *, seed: int, n_faces: int | None = None) -> DataSet:
    """Load the faces, 48 x 48 grey, with the votes for eight emotions; the official split."""
    del seed
    faces = _some(_faces(reader), n_faces)
    source = reader.find(*_IMAGES)
    source = source if source.suffix == ".zip" else source.parent
    folders = [_PARTS[usage][1] for usage in faces.usage]
    inputs = _read_images(source, [f"{a}/{b}" for a, b in zip(folders, faces.names, strict=True)])
    digest = hashlib.sha256("\n".join(faces.names).encode() + inputs.tobytes()).hexdigest()
    reader.note(_PIXELS if n_faces is None else f"{_PIXELS} ({n_faces:,})", digest, source)
    return _data_set(reader, entry, faces, inputs=inputs)


def load_features(
    reader: Reader, entry: Entry, *, seed: int, n_faces: int | None = None
) -> DataSet:
    """Load FER+ with a frozen network's features for inputs; ``n_faces`` as for the images."""
    from rue.data.features import attach_features

    del seed
    faces = _some(_faces(reader), n_faces)
    path = reader.find(FEATURES)
    reader.note(FEATURES, file_digest(path, FEATURES), path)
    data = _data_set(reader, entry, faces, inputs=np.zeros((len(faces.names), 1)))
    return attach_features(data, path)


def fetch(root: Path, progress: bool) -> None:
    """Fetch the votes; the images can only be downloaded by hand."""
    _fetch_votes(root, progress)
    if not Reader("ferplus", root).has(*_IMAGES):
        advice = ENTRIES[0].by_hand
        raise FileError(f"the votes of ferplus are in {root}, its images are not: {advice}")


def _faces(reader: Reader) -> _Faces:
    rows: dict[str, tuple[str, tuple[int, ...]]] = {}
    twice: dict[str, bool] = {}  # whether both say the same
    n_unnamed = 0
    for line, cells in csv_rows(reader.read(VOTES), VOTES, _COLUMNS):
        usage, name = (cell.strip() for cell in cells[:2])
        if usage not in _PARTS:
            raise FileError(
                f"{VOTES}: line {line}: Usage must be one of {', '.join(_PARTS)}, got {usage!r}"
            )
        votes = tuple(_whole(cell, line) for cell in cells[2:])
        if not name:
            n_unnamed += 1
            continue
        if "/" in name or "\\" in name or not name.endswith(".png"):
            raise FileError(f"{VOTES}: line {line} must name a .png file, got {name!r}")
        if name in rows:
            twice[name] = twice.get(name, True) and rows[name] == (usage, votes)
        rows.setdefault(name, (usage, votes))
    different = [name for name, same in twice.items() if not same]
    table = np.array([votes for _, votes in rows.values()], np.int64).reshape(len(rows), -1)
    clear = np.array([name not in different for name in rows], bool)
    enough = table[:, :-_SET_ASIDE].sum(axis=1) >= LEAST_VOTES
    keep = np.flatnonzero(clear & enough)
    if not len(keep):
        raise FileError(f"{VOTES} holds no face with {LEAST_VOTES} votes")
    unknown, not_a_face = table[keep, -_SET_ASIDE:].sum(axis=0)
    unclear = f"with two different votes left out: {', '.join(different)}"
    few = f"with fewer than {LEAST_VOTES} votes for an emotion left out"
    notes = counted(
        (n_unnamed, "row", "without an image left out"),
        (len(twice) - len(different), "name", "with the same votes twice counted once"),
        (len(different), "name", unclear),
        ((~enough & clear).sum(), "face", few),
    )
    if unknown or not_a_face:
        aside = f"{unknown:,} votes for unknown and {not_a_face:,} for not a face set aside"
        notes = (*notes, aside)
    usages = np.array([part for part, _ in rows.values()])
    return _Faces(np.array(list(rows)), table, usages, ()).take(keep, *notes)


def _some(faces: _Faces, n_faces: int | None) -> _Faces:
    """Keep about ``n_faces`` faces, the same share of each part, in the order of the file."""
    if n_faces is None:
        return faces
    n_faces = require_whole("n_faces", n_faces, least=len(_PARTS))
    n_all = len(faces.names)
    if n_faces > n_all:
        raise InputError(f"n_faces must be at most {n_all:,}, the faces that there are: {n_faces}")
    hashes = np.array([hashlib.sha256(name.encode()).hexdigest() for name in faces.names])
    chosen_rows = []
    for part in _PARTS:
        rows = np.flatnonzero(faces.usage == part)
        n_kept = max(1, round(n_faces * len(rows) / n_all))
        chosen_rows.extend(rows[np.argsort(hashes[rows])[:n_kept]].tolist())
    note = f"{len(chosen_rows):,} of {n_all:,} faces kept (n_faces)"
    return faces.take(np.sort(chosen_rows), note)


def _whole(cell: str, line: int) -> int:
    if not re.fullmatch(r"\s*\d{1,9}\s*", cell, re.ASCII):
        raise FileError(f"{VOTES}: line {line}: votes must be whole numbers, got {cell!r}")
    return int(cell)


def _read_images(source: Path, names: list[str]) -> ImageArray:
    """Decode the named images, shape (n, 48, 48, 1), from a folder or straight from a zip."""
    paths = sorted(paths_in(source), key=len, reverse=True)  # of two with a name, the nearest
    path_of = {"/".join(path.split("/")[-2:]): path for path in paths}
    missing = next((name for name in names if name not in path_of), None)
    if missing is not None:
        raise FileError(f"{source} has no {missing}")
    grey = np.empty((len(names), _SIDE, _SIDE, 1), np.uint8)
    for row, image in enumerate(LazyImages(source, [path_of[name] for name in names])):
        if image.shape[:2] != (_SIDE, _SIDE):
            size = " x ".join(map(str, image.shape[:2]))
            raise FileError(
                f"{source}: {names[row]} must have {_SIDE} x {_SIDE} pixels, got {size}"
            )
        grey[row] = image[..., :1]  # the three channels are one
    return grey


def _data_set(reader: Reader, entry: Entry, faces: _Faces, **fields: Any) -> DataSet:
    counts, aside = faces.votes[:, :-_SET_ASIDE], faces.votes[:, -_SET_ASIDE:]
    splits = {part: np.flatnonzero(faces.usage == usage) for usage, (part, _) in _PARTS.items()}
    return make_data_set(
        entry,
        reader,
        ids=faces.names,
        class_names=CLASS_NAMES,
        annotations=Annotations(counts),
        extras={"unknown": aside[:, 0], "not_a_face": aside[:, 1]},
        notes=faces.notes,
        **splits,
        **fields,
    )


_fetch_votes = fetch_urls(
    {VOTES: ("https://raw.githubusercontent.com/microsoft/FERPlus/master/fer2013new.csv",)},
    {VOTES: "1ef9fd56de873a8c6dcb4b1b06cd050db103022f7f08ed1ccaa487ec7b4b46dc"},
)
ENTRIES = entries(
    "ferplus",
    {
        "ferplus": {"needs": ((VOTES,), _IMAGES), "load": load, "fetch": fetch},
        "ferplus-features": {"needs": ((VOTES,), (FEATURES,)), "load": load_features},
    },
)

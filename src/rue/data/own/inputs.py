"""The inputs of your own data set: texts, images or features, matched to the points by id."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rue.data.dataset import Inputs
from rue.data.features import as_features, features_by_id
from rue.data.files import paths_in
from rue.data.images import LazyImages
from rue.data.own.answers import TABLE_SUFFIXES, OwnAnswers, table_with
from rue.errors import AlignmentError, FileError
from rue.io.arrays import load_npz, npz_shapes
from rue.io.arrow import dataset_files, is_dataset_folder
from rue.io.atomic import sha256

InputKind = Literal["text", "image", "features", "none"]
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")


@dataclass(frozen=True)
class OwnInputs:
    """Inputs in the order of the points, their kind, and their file or folder."""

    kind: InputKind
    inputs: Inputs
    path: Path | None


def find_inputs(answers: OwnAnswers, *, beside: bool) -> Path | None:
    """Look for inputs in the answers, and ``beside``: features.npz, images, texts or items."""
    folder = answers.path.parent
    if answers.layout == "arrays" and "features" in npz_shapes(answers.path):
        return answers.path
    if beside and (folder / "features.npz").exists():
        return folder / "features.npz"
    if "text" in answers.attributes:
        return answers.path
    images = answers.attributes.get("image")
    if images and (folder / images[0].strip()).is_file():
        return folder
    if not beside:
        return None
    names = ["images", "images.zip"]
    names += [
        f"{stem}{suffix}" for stem in ("texts", "items", "inputs") for suffix in TABLE_SUFFIXES
    ]
    files = [folder / name for name in names if (folder / name).exists()]
    return next((path for path in files if path != answers.path), None)


def read_inputs(
    answers: OwnAnswers,
    path: Path | None,
    *,
    columns: Mapping[str, str | None],
    size: int | None = None,
) -> OwnInputs:
    """Read the inputs of all points."""
    if path is None:
        return OwnInputs("none", np.zeros((len(answers.ids), 0), np.float32), None)
    if not path.exists():
        raise FileError(f"no inputs at {path}")
    is_folder = path.is_dir() and not is_dataset_folder(path)
    if is_folder or path.suffix.lower() == ".zip":
        return OwnInputs("image", LazyImages(path, _image_names(answers, path), size=size), path)
    if path.suffix.lower() == ".npz":
        return OwnInputs("features", _features(answers, path), path)
    if path.is_file() and path.suffix.lower() not in TABLE_SUFFIXES:
        raise FileError(
            f"{path}: inputs must be a table of texts ({', '.join(TABLE_SUFFIXES)}), an .npz of "
            "features, or a folder or .zip of images"
        )
    return OwnInputs("text", _texts(answers, path, columns), path)


def input_digests(source: OwnInputs) -> list[str]:
    """Return a hash of each input; in texts, differences in white space are ignored."""
    inputs = source.inputs
    if isinstance(inputs, LazyImages):
        return [inputs.digest(row) for row in range(len(inputs))]
    if source.kind == "text":
        return [hashlib.sha256(" ".join(str(text).split()).encode()).hexdigest() for text in inputs]
    return [hashlib.sha256(np.ascontiguousarray(row).tobytes()).hexdigest() for row in inputs]


def source_digest(source: OwnInputs) -> str:
    """Return the checksum of the file; for images, that of their names and sizes in bytes."""
    assert source.path is not None
    if isinstance(source.inputs, LazyImages):
        names = source.inputs.names.tolist()
        lines = [f"{name}\t{source.inputs.n_bytes(row)}" for row, name in enumerate(names)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return table_digest(source.path)


def table_digest(path: Path) -> str:
    """Return the checksum of a file, or of all tables in a folder of `datasets`."""
    if path.is_file():
        return sha256(path)
    files = sorted(dataset_files(path))
    lines = [f"{file.relative_to(path).as_posix()}\t{sha256(file)}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _texts(answers: OwnAnswers, path: Path, columns: Mapping[str, str | None]) -> NDArray[Any]:
    if path == answers.path and "text" in answers.attributes:
        texts = dict(zip(answers.ids, answers.attributes["text"], strict=True))
    else:
        table, texts = table_with(path, columns, "id", "text"), {}
        for key, cell in zip(table["id"], table["text"], strict=True):
            if texts.setdefault(key, cell) != cell:
                raise FileError(f"{path}: {key} has a second text")
    _require_all(answers, texts, path, "text")
    empty = [key for key in answers.ids if not texts[key].strip()]
    if empty:
        raise FileError(f"{path}: {len(empty)} texts are empty, first that of {empty[0]!r}")
    return np.array([texts[key] for key in answers.ids], dtype=object)


def _features(answers: OwnAnswers, path: Path) -> NDArray[np.float32]:
    arrays = load_npz(path, ("features", "ids"))
    if "features" not in arrays:
        names = ", ".join(npz_shapes(path)) or "nothing"
        raise FileError(f"{path} needs an array features, it has {names}")
    arrays["features"] = matrix = as_features(arrays["features"], f"features of {path}")
    if path == answers.path:
        arrays.setdefault("ids", np.arange(len(matrix)).astype(np.str_))
    if "ids" not in arrays:
        raise FileError(f"{path} needs an array ids, one per row of features")
    rows = features_by_id(path, arrays)
    _require_all(answers, rows, path, "row of features")
    return np.stack([rows[key] for key in answers.ids])


def _image_names(answers: OwnAnswers, path: Path) -> list[str]:
    """Return the image file of each point: the one that its row names, or else its id."""
    files = {name for name in paths_in(path) if name.lower().endswith(IMAGES)}
    if not files:
        raise FileError(f"{path} holds no images ({', '.join(IMAGES)})")
    stated = answers.attributes.get("image")
    image_names = [name.strip() for name in stated] if stated else answers.ids
    by_name: dict[str, list[str]] = {}
    for file in files:
        stem = file.rsplit(".", 1)[0]
        for name in {file, stem, file.rsplit("/", 1)[-1], stem.rsplit("/", 1)[-1]}:
            by_name.setdefault(name, []).append(file)
    chosen = []
    for key, name in zip(answers.ids, image_names, strict=True):
        matches = [name] if name in files else by_name.get(name, [])
        if len(matches) > 1:
            raise AlignmentError(
                f"{path} has {len(matches)} images called {name!r} for the point {key!r}"
            )
        if not matches:
            n_missing = sum(other not in by_name for other in image_names)
            raise AlignmentError(
                f"{path} has no image for {n_missing} of {len(image_names)} points, first {name!r} "
                f"of the point {key!r}"
            )
        chosen.append(matches[0])
    return chosen


def _require_all(answers: OwnAnswers, places: Any, path: Path, what: str) -> None:
    missing = [key for key in answers.ids if key not in places]
    if missing:
        raise AlignmentError(
            f"{path} has no {what} for {len(missing)} of {len(answers.ids)} points, "
            f"first {missing[0]!r}"
        )

"""The eight data sets of DCIC (Schmarje et al. 2022): several annotators classified each image."""

import functools
import json
from pathlib import Path, PurePosixPath

import numpy as np

from rue._arrays import IntArray, require_one_of
from rue.data.dataset import DataSet, counted
from rue.data.entry import Entry, entries, make_data_set
from rue.data.fetching import download, get, zip_check
from rue.data.files import Reader, content_digest, paths_in, read_in
from rue.data.images import LazyImages
from rue.data.splits import N_FOLDS, rotate, split_as_published
from rue.errors import FileError
from rue.io.memory import require_memory
from rue.truth.annotations import Annotations

RECORD = "8115942"
_ZENODO = "https://zenodo.org"
_FOLDERS = {
    "dcic-benthic": "Benthic",
    "dcic-mice-bone": "MiceBone",
    "dcic-pig": "Pig",
    "dcic-plankton": "Plankton",
    "dcic-quality-mri": "QualityMRI",
    "dcic-treeversity-1": "Treeversity#1",
    "dcic-treeversity-6": "Treeversity#6",
    "dcic-turkey": "Turkey",
}
_SPLITS = {"dcic": rotate, "paper": split_as_published}
_PARSED = 10  # bytes of Python objects for a byte of JSON, more than measured


def load(
    reader: Reader, entry: Entry, *, seed: int, size: int | None = None, splits: str = "dcic"
) -> DataSet:
    """Load one data set from its zip or the folder it unpacks to."""
    require_one_of("splits", splits, _SPLITS)
    folder = _FOLDERS[entry.name]
    source = reader.find(*_places(folder))
    root = source.parent if source.is_dir() else source  # of paths that begin with the folder
    within = f"{folder}/" if source.is_dir() else ""
    files = {within + path for path in paths_in(source)}
    name = f"{folder}/annotations.json"
    annotations = read_in(root, name)
    n_bytes = len(annotations)
    on_disk = n_bytes if source.is_dir() else source.stat().st_size
    require_memory(source, _PARSED * n_bytes, on_disk)
    reader.note(name, content_digest(name, annotations), source)
    pairs, n_null = _parse(annotations, name)
    images = sorted({image for image, _ in pairs})
    folds = np.array([_fold(image, folder) for image in images])
    _require_files(source, images, folds, files)
    class_names = sorted({label for _, label in pairs})
    row_of = {image: row for row, image in enumerate(images)}
    class_of = {label: k for k, label in enumerate(class_names)}
    counts = np.zeros((len(images), len(class_names)), np.int64)
    np.add.at(
        counts, ([row_of[image] for image, _ in pairs], [class_of[label] for _, label in pairs]), 1
    )
    kinds = {PurePosixPath(image).suffix for image in images}  # Thumbs.db is no image
    in_folds = (PurePosixPath(file) for file in files if file.startswith(f"{folder}/fold"))
    unlabelled = sum(file.suffix in kinds for file in in_folds) - len(images)
    return make_data_set(
        entry,
        reader,
        inputs=LazyImages(root, images, size=size),
        ids=np.array(images, dtype=np.str_),
        class_names=tuple(class_names),
        annotations=Annotations(counts),
        notes=counted(
            (n_null, "answer", "without a label left out"),
            (unlabelled, "image", "without any label left out"),
        ),
        **_SPLITS[splits](folds, seed),
    )


def fetch(root: Path, progress: bool, *, folder: str) -> None:
    """Fetch the zip and check it against the MD5 that its Zenodo record publishes."""
    archive = _zip_name(folder)
    answer = get(f"{_ZENODO}/api/records/{RECORD}")
    try:
        record = json.loads(answer)
        md5 = {file["key"]: file["checksum"] for file in record["files"]}[archive]
    except (ValueError, KeyError, TypeError):
        raise FileError(f"Zenodo record {RECORD} publishes no checksum of {archive}") from None
    url = f"{_ZENODO}/records/{RECORD}/files/{archive}?download=1"
    check = zip_check(md5.removeprefix("md5:"))
    download((url,), root / "dcic" / archive, check, progress=progress)


def _zip_name(folder: str) -> str:
    return folder.replace("#", "") + ".zip"


def _places(folder: str) -> tuple[str, ...]:
    names = (folder, _zip_name(folder))
    return (*(f"dcic/{name}" for name in names), *names)


def _parse(data: bytes, name: str) -> tuple[list[tuple[str, str]], int]:
    """Return (image, label) for each answer, and how many answers have no label."""
    try:
        raters = json.loads(data.decode("utf-8-sig"))
        answers = [answer for rater in raters for answer in rater["annotations"]]
        pairs = [(answer["image_path"], answer["class_label"]) for answer in answers]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(
            f"{name} must be a list of objects with annotations of "
            f"image_path and class_label: {type(error).__name__} {error}"
        ) from None
    labelled = [(image, label) for image, label in pairs if label is not None]
    for image, label in labelled:
        if not isinstance(image, str) or not isinstance(label, str) or not label.strip():
            raise FileError(
                f"{name}: image_path and class_label must be words, got {label!r} of {image!r}"
            )
    labelled = [(image, label.strip()) for image, label in labelled]
    if len({label for _, label in labelled}) < 2:
        raise FileError(f"{name} must hold labels of at least two classes")
    return labelled, len(pairs) - len(labelled)


def _fold(image: str, folder: str) -> int:
    parts = image.split("/")
    folds = [f"fold{number}" for number in range(1, N_FOLDS + 1)]
    if len(parts) != 3 or parts[0] != folder or parts[1] not in folds:
        raise FileError(f"image paths must be {folder}/foldK/name with K 1..5, got {image!r}")
    return folds.index(parts[1])


def _require_files(source: Path, images: list[str], folds: IntArray, files: set[str]) -> None:
    absent = [f"fold{fold + 1}" for fold in range(N_FOLDS) if fold not in folds]
    if absent:
        raise FileError(f"{source} needs labelled images in all five folds, not in {absent}")
    missing = [image for image in images if image not in files]
    if missing:
        raise FileError(f"{source} lacks {len(missing)} labelled images, first {missing[0]}")


ENTRIES = entries(
    "dcic",
    {
        name: {
            "checksums": {f"dcic/{_zip_name(folder)}": None},
            "needs": (_places(folder),),
            "fetch": functools.partial(fetch, folder=folder),
        }
        for name, folder in _FOLDERS.items()
    },
    load=load,
)

"""HS-Brexit: six annotators said of each tweet about Brexit whether it is hate speech.

Akhtar, Basile and Patti (2021), as published by the shared task Learning With Disagreement 2023
(Leonardelli et al.). Three annotators belong to the group that the tweets are about.
"""

import json

import numpy as np

from rue._text import JsonObject
from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, make_data_set
from rue.data.files import Reader
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError
from rue.truth.annotations import Annotations

_PLACES = {
    f"HS-Brexit_{part}.json": tuple(
        f"{folder}/HS-Brexit_{part}.json"
        for folder in ("lewidi/2023/HS-Brexit_dataset", "hs-brexit")
    )
    for part in ("train", "dev", "test")
}


def load(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load the tweets of all three files; folds are hashed from the texts."""
    ids, texts, counts, parts = [], [], [], []
    for name, places in _PLACES.items():
        data = reader.member(name, *places)
        part = name.removeprefix("HS-Brexit_").removesuffix(".json")
        for key, item in _items(data, name).items():
            where = f"{name}: item {key!r}"
            text, answers = (
                item.get(field) if isinstance(item, dict) else None
                for field in ("text", "annotations")
            )
            if not isinstance(text, str) or not text.strip():
                raise FileError(f"{where} must have a text, got {str(text)[:40]!r}")
            labels = answers.split(",") if isinstance(answers, str) else []
            if not labels or set(labels) - {"0", "1"}:
                raise FileError(f"{where}: annotations must be 0 or 1, got {str(answers)[:40]!r}")
            ids.append(f"{part}-{key}")
            texts.append(text)
            counts.append([labels.count("0"), labels.count("1")])
            parts.append(part)
    return make_data_set(
        entry,
        reader,
        inputs=np.array(texts, dtype=object),
        ids=np.array(ids, dtype=np.str_),
        class_names=("no hate", "hate"),
        annotations=Annotations(np.array(counts, dtype=np.int64)),
        extras={"part": np.array(parts, dtype=np.str_)},
        **rotate(hashed_folds(entry.name, texts, seed=seed), seed),
    )


def _items(data: bytes, name: str) -> JsonObject:
    try:
        items = json.loads(data)
    except ValueError as error:
        raise FileError(f"{name} is not a JSON file: {error}") from None
    if not isinstance(items, dict) or not items:
        raise FileError(f"{name} must be an object from ids to items, got {str(items)[:40]}")
    return items


ENTRIES = entries("hs_brexit", needs=tuple(_PLACES.values()), load=load)

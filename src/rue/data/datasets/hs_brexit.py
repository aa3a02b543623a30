"""HS-Brexit: six annotators said of each tweet about Brexit whether it is hate speech.

Akhtar, Basile and Patti (2021), as published by the shared task Learning With Disagreement 2023
(Leonardelli et al.). Three annotators belong to the group that the tweets are about.
"""

import json

import numpy as np

from rue._text import JsonObject
from rue.data.dataset import DataSet
from rue.data.entry import Entry, make_data_set
from rue.data.files import Reader
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError
from rue.truth.annotations import Annotations

N_ANNOTATORS = 6
_CHECKSUMS = {
    "HS-Brexit_train.json": "d204d83c7b1a73f037b3aff36aac61357c08a96f96292a37ac7655eb562d81fb",
    "HS-Brexit_dev.json": "77c17f95985cbb6db47ffcda637e717a9074f2660e15b5c0c1f9006f50da60a7",
    "HS-Brexit_test.json": "24e5e1615818ff6e3b96e50245cfe10636ef8ec0ea51f2c2a60acb68858fd195",
}
_PLACES = {
    name: tuple(f"{folder}/{name}" for folder in ("lewidi/2023/HS-Brexit_dataset", "hs-brexit"))
    for name in _CHECKSUMS
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


ENTRIES = (
    Entry(
        name="hs-brexit",
        task="text",
        n_points=1_120,
        n_classes=2,
        annotators=(N_ANNOTATORS, float(N_ANNOTATORS), N_ANNOTATORS),
        splits={"train": 673, "validation": 236, "test": 211},
        size=952_773,
        licence="none stated",
        origin="https://le-wi-di.github.io",
        by_hand="download HS-Brexit_dataset of 2023 into lewidi/2023",
        citation=(
            "Akhtar, Basile and Patti (2021). Whose Opinions Matter? Perspective-aware Models to "
            "Identify Opinions of Hate Speech Victims in Abusive Language Detection. "
            "arXiv 2106.15896."
        ),
        checksums=_CHECKSUMS,
        needs=tuple(_PLACES.values()),
        load=load,
    ),
)

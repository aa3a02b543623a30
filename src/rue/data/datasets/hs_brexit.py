"""HS-Brexit: six annotators said of each tweet about Brexit whether it is hate speech.

Akhtar, Basile and Patti (2021), as published by the shared task Learning With Disagreement 2023
(Leonardelli et al.). Three annotators belong to the group that the tweets are about.
"""

import json
from dataclasses import dataclass

import numpy as np

from rue._schema import NotBlank, build
from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, make_data_set
from rue.data.files import Reader
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError
from rue.truth.annotations import Annotations

_PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class _Tweet:
    text: NotBlank
    annotations: str


def load(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load the tweets of all three files; folds are hashed from the texts."""
    ids, texts, counts, parts = [], [], [], []
    for part in _PARTS:
        name = f"HS-Brexit_{part}.json"
        content = reader.member(name, *_places(part))
        try:
            tweets = build(dict[str, _Tweet], json.loads(content), unknown="ignore")
        except ValueError as error:  # of JSON, or of the schema
            raise FileError(f"{name} is not a JSON file of tweets: {error}") from None
        for key, tweet in tweets.items():
            labels = tweet.annotations.split(",")
            if set(labels) - {"0", "1"}:
                raise FileError(
                    f"{name}: {key}.annotations must be 0 or 1, got {tweet.annotations!r:.40}"
                )
            ids.append(f"{part}-{key}")
            texts.append(tweet.text)
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


def _places(part: str) -> tuple[str, ...]:
    folders = ("lewidi/2023/HS-Brexit_dataset", "hs-brexit")
    return tuple(f"{folder}/HS-Brexit_{part}.json" for folder in folders)


ENTRIES = entries("hs_brexit", needs=tuple(map(_places, _PARTS)), load=load)

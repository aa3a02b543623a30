"""NLI variation: 15 to 45 annotators placed each pair of sentences on a scale from -50 to 50.

Pavlick and Kwiatkowski (2019): at -50 the hypothesis is certainly not true given the premise, at 50
it certainly is. The answers are real numbers, not classes.
"""

from typing import Any

import numpy as np

from rue._arrays import FloatArray
from rue._text import JsonObject
from rue.data.archives import read_member
from rue.data.dataset import DataSet, count
from rue.data.entry import Entry, fetch_urls, make_data_set
from rue.data.files import Reader, content_digest
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError
from rue.io.json_files import json_objects
from rue.truth.ratings import Ratings

LIMIT = 50.0
TOLERANCE = 1e-3  # the published numbers are whole ones with noise of up to 1e-4

_NAME = "preprocessed-data.jsonl"
_PLACES = (
    f"nli-variation/{_NAME}",
    f"nli-variation/sentence-pair-analysis/{_NAME}",
    f"NLI-variation-data-master/sentence-pair-analysis/{_NAME}",
    *("nli-variation/NLI-variation-data-master.zip", "NLI-variation-data-master.zip"),
)
_SHA256 = "ce1724dc0139e26d5e4769025e45fb1d4b6ccd4e5445d96825c34212f765dd13"


def load(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load the pairs with their answers as ``ratings``; pairs of one premise share a fold."""
    file = reader.find(*_PLACES)
    data = read_member(file, _NAME)
    reader.note(_NAME, content_digest(_NAME, data), file)
    rows: dict[str, JsonObject] = {}
    ratings: list[FloatArray] = []
    beyond: list[float] = []
    for number, row in json_objects(data, _NAME):
        where = f"{_NAME}: line {number}"
        for key in ("id", "premise", "hypothesis", "task"):
            if not isinstance(row.get(key), str) or not row[key].strip():
                raise FileError(f"{where} must have a text {key}, got {row.get(key)!r}")
        abstained = row.get("num-NA")
        if not isinstance(abstained, int | float) or not 0 <= abstained < 1e9 or abstained % 1:
            raise FileError(f"{where}: num-NA must be a whole number, got {abstained!r}")
        if row["id"] in rows:
            raise FileError(f"{where} repeats the id {row['id']!r}")
        rows[row["id"]] = row
        answers = _answers(row.get("labels"), where)
        beyond += (np.abs(answers) - LIMIT)[np.abs(answers) > LIMIT].tolist()
        ratings.append(answers.clip(-LIMIT, LIMIT))
    columns = {
        key: np.array([row[key] for row in rows.values()], dtype=object)
        for key in ("premise", "hypothesis")
    }
    notes = []
    if beyond:
        answers_beyond = count(len(beyond), "answer")
        notes.append(f"{answers_beyond} beyond 50 or -50, by up to {max(beyond):.1g}, clipped")
    return make_data_set(
        entry,
        reader,
        inputs=columns["premise"] + "\n" + columns["hypothesis"],
        ids=np.array(list(rows), dtype=np.str_),
        class_names=(),
        ratings=Ratings(ratings, range=(-LIMIT, LIMIT)),
        extras={
            **columns,
            "source": np.array([row["task"] for row in rows.values()], dtype=np.str_),
            "n_abstained": np.array([row["num-NA"] for row in rows.values()], dtype=np.int64),
        },
        notes=tuple(notes),
        **rotate(hashed_folds(entry.name, columns["premise"].tolist(), seed=seed), seed),
    )


def _answers(answers: Any, where: str) -> FloatArray:
    """Return a list of numbers from -50 to 50, up to the noise of the published file."""
    if (
        not isinstance(answers, list)
        or not answers
        or any(type(x) not in (int, float) for x in answers)
    ):
        raise FileError(f"{where}: labels must be a list of numbers, got {str(answers)[:40]}")
    wrong = [answer for answer in answers if not abs(answer) <= LIMIT + TOLERANCE]
    if wrong:
        bad = str(wrong[0])[:20]
        raise FileError(f"{where}: labels must be from {-LIMIT:g} to {LIMIT:g}, got {bad}")
    return np.array(answers, dtype=np.float64)


ENTRIES = (
    Entry(
        name="nli-variation",
        task="text",
        n_points=496,
        n_classes=0,
        annotators=(15, 19_360 / 496, 45),
        splits={"train": 285, "validation": 119, "test": 92},
        size=915_674,
        licence="none stated",
        origin="https://github.com/epavlick/NLI-variation-data",
        citation=(
            "Pavlick and Kwiatkowski (2019). Inherent Disagreements in Human Textual Inferences. "
            "TACL 7."
        ),
        checksums={_NAME: _SHA256},
        needs=(_PLACES,),
        load=load,
        fetch=fetch_urls(
            {
                _PLACES[0]: (
                    "https://raw.githubusercontent.com/epavlick/NLI-variation-data/master/"
                    f"sentence-pair-analysis/{_NAME}",
                )
            },
            {_PLACES[0]: _SHA256},
        ),
    ),
)

"""Sentence pairs that many annotators judged: ChaosNLI and the NLI variation data.

ChaosNLI (Nie et al. 2020): 100 annotators judged each pair of SNLI, MNLI and alphaNLI; test only.

NLI variation (Pavlick and Kwiatkowski 2019): 15 to 45 annotators placed each pair on a scale: at
-50 the hypothesis is certainly not true given the premise, at 50 it certainly is. The answers are
real numbers, not classes.
"""

from typing import Any

import numpy as np

from rue._arrays import FloatArray
from rue._text import JsonObject
from rue.data.dataset import DataSet, counted
from rue.data.entry import Entry, entries, make_data_set
from rue.data.files import Reader
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError
from rue.io.json_files import json_objects
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings

_ZIP = "chaosNLI_v1.0.zip"
_FOLDERS = ("chaosnli/chaosNLI_v1.0/", "chaosnli/", "chaosNLI_v1.0/", "")
_NLI = {"e": "entailment", "n": "neutral", "c": "contradiction"}
_FILES = {
    "chaosnli-snli": "chaosNLI_snli.jsonl",
    "chaosnli-mnli": "chaosNLI_mnli_m.jsonl",
    "chaosnli-alphanli": "chaosNLI_alphanli.jsonl",
}
LIMIT = 50.0
TOLERANCE = 1e-3  # the published numbers are whole ones with noise of up to 1e-4

_VARIATION = "preprocessed-data.jsonl"
_VARIATION_PLACES = (
    f"nli-variation/{_VARIATION}",
    f"nli-variation/sentence-pair-analysis/{_VARIATION}",
    f"NLI-variation-data-master/sentence-pair-analysis/{_VARIATION}",
    *("nli-variation/NLI-variation-data-master.zip", "NLI-variation-data-master.zip"),
)


def load_chaosnli(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load one part; ids are the published uids, and all items are in the test split."""
    del seed
    alpha = entry.name.endswith("alphanli")
    keys = ("obs1", "obs2", "hyp1", "hyp2") if alpha else ("premise", "hypothesis")
    classes = {"1": "1", "2": "2"} if alpha else _NLI
    name = _FILES[entry.name]
    data = reader.member(name, *_places(name))
    counts: dict[str, list[int]] = {}
    labels: list[int] = []
    sentences: list[list[str]] = []
    for number, row in json_objects(data, name):
        where = f"{name}: line {number}"
        uid = row.get("uid")
        if not isinstance(uid, str) or not uid:
            raise FileError(f"{where} must have a uid, got {uid!r}")
        if uid in counts:
            raise FileError(f"{where} repeats the uid {uid!r}")
        counts[uid] = _counts(row, list(classes), where)
        if str(row.get("old_label")) not in classes:
            raise FileError(
                f"{where}: old_label must be one of {', '.join(classes)}, "
                f"got {row.get('old_label')!r}"
            )
        labels.append(list(classes).index(str(row["old_label"])))
        sentences.append(_sentences(row, keys, where))
    return make_data_set(
        entry,
        reader,
        inputs=np.array(["\n".join(row) for row in sentences], dtype=object),
        ids=np.array(list(counts), dtype=np.str_),
        class_names=tuple(classes.values()),
        annotations=Annotations(list(counts.values())),
        labels=np.array(labels, dtype=np.int64),
        extras={
            key: np.array([row[column] for row in sentences], dtype=object)
            for column, key in enumerate(keys)
        },
        test=np.arange(len(counts)),
    )


def _counts(row: JsonObject, classes: list[str], where: str) -> list[int]:
    """Read label_counter by class name; the list label_count must say the same."""
    counter, listed = row.get("label_counter"), row.get("label_count")
    whole = isinstance(counter, dict) and all(
        type(n) is int and 0 <= n < 2**53 for n in counter.values()
    )
    if not isinstance(counter, dict) or not whole or not any(counter.values()):
        raise FileError(f"{where}: label_counter must count answers by class, got {counter!r}")
    unknown = [name for name in counter if name not in classes]
    if unknown:
        raise FileError(
            f"{where}: label_counter must count {', '.join(classes)}, got {unknown[0]!r}"
        )
    counts = [counter.get(name, 0) for name in classes]
    if listed != counts:
        raise FileError(
            f"{where}: label_count must be {counts}, as label_counter has it, got {listed!r}"
        )
    return counts


def _sentences(row: JsonObject, keys: tuple[str, ...], where: str) -> list[str]:
    example = row.get("example")
    texts = [example.get(key) if isinstance(example, dict) else None for key in keys]
    for key, text in zip(keys, texts, strict=True):
        if not isinstance(text, str) or not text.strip():
            raise FileError(f"{where}: example must have a text {key}, got {text!r}")
    return [str(text) for text in texts]


def _places(name: str) -> tuple[str, ...]:
    return (*(folder + name for folder in _FOLDERS), f"chaosnli/{_ZIP}", _ZIP)


def load_variation(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load the pairs with their answers as ``ratings``; pairs of one premise share a fold."""
    data = reader.member(_VARIATION, *_VARIATION_PLACES)
    rows: dict[str, JsonObject] = {}
    ratings: list[FloatArray] = []
    beyond: list[float] = []
    for number, row in json_objects(data, _VARIATION):
        where = f"{_VARIATION}: line {number}"
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
    clipped = f"beyond 50 or -50, by up to {max(beyond, default=0):.1g}, clipped"
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
        notes=counted((len(beyond), "answer", clipped)),
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
    *entries(
        "chaosnli",
        {name: {"needs": (_places(file),)} for name, file in _FILES.items()},
        load=load_chaosnli,
    ),
    *entries("nli_variation", load=load_variation, needs=(_VARIATION_PLACES,)),
)

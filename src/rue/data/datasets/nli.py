"""Sentence pairs that many annotators judged: ChaosNLI and the NLI variation data.

ChaosNLI (Nie et al. 2020): 100 annotators judged each pair of SNLI, MNLI and alphaNLI; test only.

NLI variation (Pavlick and Kwiatkowski 2019): 15 to 45 annotators placed each pair on a scale: at
-50 the hypothesis is certainly not true given the premise, at 50 it certainly is. The answers are
real numbers, not classes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeVar

import numpy as np

from rue._schema import Constraint, Count, NotBlank, build
from rue.data.dataset import DataSet, counted
from rue.data.entry import Entry, entries, make_data_set
from rue.data.files import Reader
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError, InputError
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

T = TypeVar("T")
_WHOLE = Constraint("a whole number", lambda value: 0 <= value < 1e9 and value % 1 == 0)


@dataclass(frozen=True)
class _Judged:
    """What a line of ChaosNLI says about a pair; ``label_count`` repeats ``label_counter``."""

    uid: NotBlank
    example: Mapping[str, object]
    label_counter: Mapping[str, Count]
    label_count: tuple[int, ...]
    old_label: int | str


@dataclass(frozen=True)
class _Placed:
    """What a line of the variation data says about a pair."""

    id: NotBlank
    premise: NotBlank
    hypothesis: NotBlank
    task: NotBlank
    labels: Annotated[tuple[float, ...], Constraint("a list of numbers", bool)]
    num_NA: Annotated[float, _WHOLE]  # noqa: N815


def _records(kind: type[T], data: bytes, file: str) -> Iterator[tuple[str, T]]:
    """Yield each object of a file, and where it is."""
    for number, row in json_objects(data, file):
        where = f"{file}: line {number}"
        try:
            record = build(kind, {k.replace("-", "_"): row[k] for k in row}, unknown="ignore")
        except InputError as error:
            raise FileError(f"{where}: {error}") from None
        yield where, record


def load_chaosnli(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load one part; ids are the published uids, and all items are in the test split."""
    del seed
    alpha = entry.name.endswith("alphanli")
    keys = ("obs1", "obs2", "hyp1", "hyp2") if alpha else ("premise", "hypothesis")
    classes = {"1": "1", "2": "2"} if alpha else _NLI
    file = _FILES[entry.name]
    items: dict[str, _Judged] = {}
    for where, item in _records(_Judged, reader.member(file, *_places(file)), file):
        counts = [item.label_counter.get(name, 0) for name in classes]
        if item.uid in items:
            raise FileError(f"{where} repeats the uid {item.uid!r}")
        if set(item.label_counter) - set(classes) or not any(counts):
            stated = dict(item.label_counter)
            raise FileError(f"{where}: label_counter must count {', '.join(classes)}, got {stated}")
        if list(item.label_count) != counts:
            raise FileError(
                f"{where}: label_count must be {counts}, as label_counter has it, "
                f"got {list(item.label_count)}"
            )
        if str(item.old_label) not in classes:
            names = ", ".join(classes)
            raise FileError(f"{where}: old_label must be one of {names}, got {item.old_label!r}")
        for key in keys:
            text = item.example.get(key)
            if not isinstance(text, str) or not text.strip():
                raise FileError(f"{where}: example must have a text {key}, got {text!r}")
        items[item.uid] = item
    sentences = {
        key: np.array([item.example[key] for item in items.values()], dtype=object) for key in keys
    }
    return make_data_set(
        entry,
        reader,
        inputs=np.array(
            ["\n".join(texts) for texts in zip(*sentences.values(), strict=True)], object
        ),
        ids=np.array(list(items), dtype=np.str_),
        class_names=tuple(classes.values()),
        annotations=Annotations([item.label_count for item in items.values()]),
        labels=np.array([list(classes).index(str(item.old_label)) for item in items.values()]),
        extras=sentences,
        test=np.arange(len(items)),
    )


def _places(name: str) -> tuple[str, ...]:
    return (*(folder + name for folder in _FOLDERS), f"chaosnli/{_ZIP}", _ZIP)


def load_variation(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load the pairs with their answers as ``ratings``; pairs of one premise share a fold."""
    rows: dict[str, _Placed] = {}
    data = reader.member(_VARIATION, *_VARIATION_PLACES)
    for where, row in _records(_Placed, data, _VARIATION):
        if row.id in rows:
            raise FileError(f"{where} repeats the id {row.id!r}")
        wrong = [answer for answer in row.labels if abs(answer) > LIMIT + TOLERANCE]
        if wrong:
            limits = f"from {-LIMIT:g} to {LIMIT:g}"
            raise FileError(f"{where}: labels must be {limits}, got {wrong[0]:g}")
        rows[row.id] = row
    answers = [np.array(row.labels) for row in rows.values()]
    beyond = np.abs(np.concatenate(answers)) - LIMIT
    beyond = beyond[beyond > 0]
    columns = {
        key: np.array([getattr(row, key) for row in rows.values()], dtype=object)
        for key in ("premise", "hypothesis")
    }
    clipped = f"beyond 50 or -50, by up to {max(beyond, default=0):.1g}, clipped"
    return make_data_set(
        entry,
        reader,
        inputs=columns["premise"] + "\n" + columns["hypothesis"],
        ids=np.array(list(rows), dtype=np.str_),
        class_names=(),
        ratings=Ratings([each.clip(-LIMIT, LIMIT) for each in answers], range=(-LIMIT, LIMIT)),
        extras={
            **columns,
            "source": np.array([row.task for row in rows.values()], dtype=np.str_),
            "n_abstained": np.array([row.num_NA for row in rows.values()], dtype=np.int64),
        },
        notes=counted((len(beyond), "answer", clipped)),
        **rotate(hashed_folds(entry.name, columns["premise"].tolist(), seed=seed), seed),
    )


ENTRIES = (
    *entries(
        "chaosnli",
        {name: {"needs": (_places(file),)} for name, file in _FILES.items()},
        load=load_chaosnli,
    ),
    *entries("nli_variation", load=load_variation, needs=(_VARIATION_PLACES,)),
)

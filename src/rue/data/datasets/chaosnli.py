"""ChaosNLI: 100 annotators judged each pair of sentences of SNLI, MNLI and alphaNLI; test only."""

import functools

import numpy as np

from rue._text import JsonObject
from rue.data.archives import read_member
from rue.data.dataset import DataSet
from rue.data.entry import Entry, make_data_set
from rue.data.files import Reader, content_digest
from rue.errors import FileError
from rue.io.json_files import json_objects
from rue.truth.annotations import Annotations

_ZIP = "chaosNLI_v1.0.zip"
_FOLDERS = ("chaosnli/chaosNLI_v1.0/", "chaosnli/", "chaosNLI_v1.0/", "")
_NLI = {"e": "entailment", "n": "neutral", "c": "contradiction"}
_FILES = {
    "chaosnli-snli": "chaosNLI_snli.jsonl",
    "chaosnli-mnli": "chaosNLI_mnli_m.jsonl",
    "chaosnli-alphanli": "chaosNLI_alphanli.jsonl",
}
_SHA256 = {
    "chaosnli-snli": "99f9015ddda7d85f66a087452bc30d53974314fe27e7d589e2f41ad44bd509c1",
    "chaosnli-mnli": "8eb49b589488e7b1a9ec95fb8a864bd50f0509b4f808eed0aed3f8167617664d",
    "chaosnli-alphanli": "f55817ecc11a02ba3030cd7d2c567d23843456809020723abad53f4fde024c9e",
}


def load(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load one part; ids are the published uids, and all items are in the test split."""
    del seed
    alpha = entry.name.endswith("alphanli")
    keys = ("obs1", "obs2", "hyp1", "hyp2") if alpha else ("premise", "hypothesis")
    classes = {"1": "1", "2": "2"} if alpha else _NLI
    name = _FILES[entry.name]
    file = reader.find(*_places(name))
    data = read_member(file, name)
    reader.note(name, content_digest(name, data), file)
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


_entry = functools.partial(
    Entry,
    task="text",
    annotators=(100, 100.0, 100),
    size=None,
    licence="CC BY-NC 4.0",
    origin="https://github.com/easonnie/ChaosNLI",
    citation=(
        "Nie, Zhou and Bansal (2020). What Can We Learn from Collective Human Opinions on Natural "
        "Language Inference Data? EMNLP."
    ),
    load=load,
    by_hand=(
        f"get https://www.dropbox.com/s/h4j7dqszmpt2679/{_ZIP} and put it, or its .jsonl files, in "
        "chaosnli/ of a data root"
    ),
)

ENTRIES = tuple(
    _entry(
        name=name,
        n_points=n_points,
        n_classes=n_classes,
        splits={"train": 0, "validation": 0, "test": n_points},
        checksums={_FILES[name]: _SHA256[name]},
        needs=(_places(_FILES[name]),),
    )
    for name, n_points, n_classes in (
        ("chaosnli-snli", 1_514, 3),
        ("chaosnli-mnli", 1_599, 3),
        ("chaosnli-alphanli", 1_532, 2),
    )
)

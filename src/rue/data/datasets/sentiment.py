"""Sentiment in four domains: 15 to 99 annotators rated each snippet from -4 to 4.

Hutto and Gilbert's (2014) ratings of film reviews, tweets, newspaper editorials and product
reviews, as contained in the sdist of vaderSentiment 0.5, which pip downloads.
"""

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rue._arrays import IntArray
from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, make_data_set
from rue.data.fetching import locked_target, pip_download
from rue.data.files import Reader, atomic_write, read_tar, read_zip
from rue.data.splits import hashed_folds, rotate
from rue.errors import FileError
from rue.io.arrow import open_parquet
from rue.io.memory import opened, reading
from rue.truth.annotations import Annotations

if TYPE_CHECKING:
    import pyarrow

SDIST = "sentiment/vaderSentiment-0.5.zip"
SDIST_SHA256 = "5d97c37f3ef6e24eef331122e055dbedafeb6a56abfce0608b326701116ea49a"
VALUES = np.arange(-4.0, 5.0)
VALUES.setflags(write=False)

_TAR = "vaderSentiment-0.5/additional_resources/hutto_ICWSM_2014.tar.gz"
_STEMS = {
    "movies": "movieReviewSnippets",
    "tweets": "tweets",
    "nyt": "nytEditorialSnippets",
    "amazon": "amazonReviewSnippets",
}
_RATINGS = "anonDataRatings"
# Increased whenever the result of parse changes, so that older tables are made again.
_FORMAT = b"2"


def load(reader: Reader, entry: Entry, *, seed: int) -> DataSet:
    """Load one domain; its splits are grouped by document where ids are document_snippet."""
    domain = entry.name.removeprefix("sentiment-")
    file = reader.find(_parquet(domain), SDIST)
    table = _read_parquet(file, domain) if file.suffix == ".parquet" else None
    if table is None:
        if not reader.has(SDIST):
            raise FileError(f"{file} is damaged or old: run `rue data fetch {entry.name}`")
        file = reader.find(SDIST)
        data = file.read_bytes()
        reader.require_digest(SDIST_SHA256, hashlib.sha256(data).hexdigest(), file)
        table = parse(data, domain)
    reader.note(_parquet(domain), _digest(table), file)
    ids = table.column("id").to_pylist()
    texts = np.array(table.column("text").to_pylist(), dtype=object)
    counts = np.array(table.column("counts").to_pylist(), dtype=np.int64)
    # Where ids do not name documents, equal texts are still in one fold.
    groups = [i.split("_")[0] if "_" in i else text for i, text in zip(ids, texts, strict=True)]
    return make_data_set(
        entry,
        reader,
        inputs=texts,
        ids=np.array(ids, dtype=np.str_),
        class_names=tuple(f"{value:g}" for value in VALUES),
        values=VALUES,
        annotations=Annotations(counts, VALUES),
        notes=tuple(json.loads(table.schema.metadata[b"notes"])),
        **rotate(hashed_folds(entry.name, groups, seed=seed), seed),
    )


def fetch(root: Path, progress: bool) -> None:
    """Fetch the sdist with pip, and keep all four domains as parquet."""
    import pyarrow.parquet as pq

    del progress  # pip takes a second
    data = pip_download("vaderSentiment==0.5", SDIST_SHA256, root / SDIST).read_bytes()
    for domain in _STEMS:
        target = root / _parquet(domain)
        with locked_target(target):
            if not target.exists() or _read_parquet(target, domain) is None:
                table = parse(data, domain)
                with atomic_write(target) as handle:
                    pq.write_table(table, handle)


def parse(sdist: bytes, domain: str) -> "pyarrow.Table":
    """Read one domain from the sdist: id, text and the counts of nine ratings."""
    import pyarrow as pa

    tar = read_zip(io.BytesIO(sdist), [_TAR], name="the sdist")[_TAR]
    names = [f"hutto_ICWSM_2014/{_STEMS[domain]}_{part}.txt" for part in ("GroundTruth", _RATINGS)]
    truth, ratings = read_tar(io.BytesIO(tar), names, name="hutto_ICWSM_2014.tar.gz").values()
    counts = {row[0]: _count(row, names[1]) for row in _rows(ratings, 4, names[1])}
    rows = list(_rows(truth, 3, names[0]))
    missing = [row[0] for row in rows if row[0] not in counts]
    if missing:
        raise FileError(f"{names[1]} has no ratings of {len(missing)} snippets, first {missing[0]}")
    stored = np.array([_mean(row, names[0]) for row in rows])
    tallies = np.array([counts[row[0]] for row in rows])
    differs = np.abs(tallies @ VALUES / tallies.sum(axis=1) - stored) > 1e-6
    silent = np.array([not row[2].strip() for row in rows])
    keep = np.flatnonzero(~differs & ~silent)
    notes = []
    if differs.any():
        notes.append(f"{differs.sum()} left out: the stored mean is not that of the ratings")
    if silent.any():
        notes.append(f"{silent.sum()} left out: no text")
    columns = {
        "id": pa.array([rows[i][0] for i in keep], pa.string()),
        "text": pa.array([rows[i][2] for i in keep], pa.string()),
        "counts": pa.array(tallies[keep].tolist(), pa.list_(pa.int16(), len(VALUES))),
    }
    return pa.table(columns, metadata={"notes": json.dumps(notes), "format": _FORMAT})


def _rows(data: bytes, n_columns: int, name: str) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{name} must be UTF-8: {error.reason} at byte {error.start}") from None
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if len(cells) == n_columns:
            yield cells
        elif cells != [""]:
            raise FileError(f"{name}: line {number} has {len(cells)} columns, not {n_columns}")


def _count(row: list[str], name: str) -> IntArray:
    try:
        ratings = json.loads(row[3])
    except (ValueError, RecursionError):
        ratings = None
    is_valid = isinstance(ratings, list) and all(type(r) is int and abs(r) <= 4 for r in ratings)
    if not ratings or not is_valid:
        got = row[3][:100]
        raise FileError(f"{name}: the ratings of {row[0]} must be from -4 to 4, got {got}")
    return np.bincount(np.array(ratings) + 4, minlength=len(VALUES))


def _mean(row: list[str], name: str) -> float:
    try:
        return float(row[1])
    except ValueError:
        raise FileError(f"{name}: the mean of {row[0]} must be a number, got {row[1]!r}") from None


def _parquet(domain: str) -> str:
    return f"sentiment/{domain}.parquet"


def _read_parquet(path: Path, domain: str) -> "pyarrow.Table | None":
    """Read the table of a domain; return None if another version wrote it."""
    try:
        with opened(path) as file, reading(path, ".parquet"):
            table = open_parquet(path, file).read()
            meta = table.schema.metadata or {}
            good = _digest(table) == _DIGESTS[_parquet(domain)] and meta[b"format"] == _FORMAT
            good = good and all(isinstance(note, str) for note in json.loads(meta[b"notes"]))
    except FileError:  # damaged, or something is missing
        return None
    return table if good else None


def _digest(table: "pyarrow.Table") -> str:
    columns = [table.column(name).to_pylist() for name in ("id", "text", "counts")]
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()


ENTRIES = entries(
    "sentiment",
    {f"sentiment-{domain}": {"needs": ((_parquet(domain), SDIST),)} for domain in _STEMS},
    load=load,
    fetch=fetch,
)
# Of the ids, texts and counts of each domain (_digest), from whichever file they are read.
_DIGESTS = {path: digest for entry in ENTRIES for path, digest in entry.checksums.items()}

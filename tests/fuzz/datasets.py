"""Data sets in the official layouts, feature files, and data of one's own."""

import functools
import gzip
import io
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rue.data
from fuzz import odd, worlds
from fuzz.archives import change_members, tarred, zipped
from fuzz.arrays import change_arrays, npy, write_npz
from fuzz.bytewise import change_bytes, change_lines, encode
from fuzz.kinds import Case, kind
from fuzz.tables import change_table
from fuzz.trees import change_tree, to_json

Files = dict[str, bytes]


@kind("DCIC")
def dcic(case: Case) -> Callable[[Path], Any]:
    images = [f"Benthic/fold{k}/x{k}.png" for k in range(1, 6)]
    labels = ("star", "coral")
    raters = [
        {
            "dataset_name": "Benthic",
            "annotations": [
                {"image_path": image, "class_label": labels[(i + r) % 2], "created_at": "x"}
                for i, image in enumerate(images)
            ],
        }
        for r in range(2)
    ]
    tree = case.changed(change_tree, raters)
    files: Files = {image: _png(i) for i, image in enumerate(images)}
    files["Benthic/annotations.json"] = to_json(tree).encode()
    if not case.valid and case.rng.random() < 0.2:
        files = change_members(case.rng, files)
    if case.rng.random() < 0.5:
        content = zipped(case.rng, files, odd_form=case.odd_form)
        (case.folder / "Benthic.zip").write_bytes(content)
    else:
        _write(case.folder, files)
    return _loading("dcic-benthic", inputs=True)


@kind("APPA-REAL")
def appa_real(case: Case) -> Callable[[Path], Any]:
    files: Files = {}
    header = ["file_name", "real_age", "apparent_age", "worker_age"]
    for part, first in (("train", 0), ("valid", 2), ("test", 4)):
        rows = [
            [f"{first + i}.jpg", "30", str(25 + i + w), "9"] for i in range(2) for w in range(3)
        ]
        table = case.changed(change_table, [header, *rows])
        files[f"appa-real-release/gt_{part}.csv"] = _csv(table)
        for i in range(2):
            for end in ("", "_face.jpg"):
                files[f"appa-real-release/{part}/{first + i}.jpg{end}"] = _png(i)
    if not case.valid and case.rng.random() < 0.2:
        files = change_members(case.rng, files)
    if case.rng.random() < 0.5:
        content = zipped(case.rng, files, odd_form=case.odd_form)
        (case.folder / "appa-real-release.zip").write_bytes(content)
    else:
        _write(case.folder, files)
    return _loading("appa-real", inputs=True)


@kind("sentiment sdist")
def sentiment(case: Case) -> Callable[[Path], Any]:
    from rue.data.datasets.sentiment import _STEMS, _TAR, parse

    domain = "movies"
    truth, ratings = [], []
    for i in range(6):
        said = case.numbers.integers(-4, 5, 15).tolist()
        truth.append([f"d{i}_1", repr(sum(said) / 15), f"a text {i}"])
        ratings.append([f"d{i}_1", repr(sum(said) / 15), "0.5", str(said)])
    names = [f"hutto_ICWSM_2014/{_STEMS[domain]}_{part}.txt" for part in ("GroundTruth",)]
    names.append(names[0].replace("GroundTruth", _ratings_name()))
    files: Files = {}
    for name, table in zip(names, (truth, ratings), strict=True):
        table = case.changed(change_table, table)
        text = "\r\n".join("\t".join(row) for row in table) + "\r\n"
        files[name] = encode(case.rng, text) if case.odd_form else text.encode("utf-8", "replace")
    inner = tarred(case.rng, files, odd_form=case.odd_form)
    sdist = zipped(case.rng, {_TAR: inner}, odd_form=case.odd_form)

    def use(folder: Path) -> Any:
        del folder
        return parse(sdist, domain)

    return use


@kind("CIFAR-10H")
def cifar(case: Case) -> Callable[[Path], Any]:
    n = 3
    batch = b"".join(bytes([i]) + bytes([40 * i]) * 3072 for i in range(n))
    counts = case.numbers.multinomial(50, np.ones(10) / 10, n)
    if not case.valid:
        if case.rng.random() < 0.5:
            batch = change_bytes(case.rng, batch)
        counts = np.asarray(case.changed(change_arrays, {"c": counts}).get("c", np.zeros(0)))
    for name in ("data_batch_1", "test_batch"):
        _write(case.folder, {f"cifar-10-batches-bin/{name}.bin": batch})
    content = npy(case.rng, counts, lies=case.odd_form)
    _write(case.folder, {"cifar-10h/cifar10h-counts.npy": content})
    return _loading("cifar10h")


@kind("Fashion-MNIST-H")
def fashion(case: Case) -> Callable[[Path], Any]:
    from rue.data.datasets import fashion_mnist as own

    n = 3
    images = struct.pack(">4B3i", 0, 0, 8, 3, n, 4, 4) + bytes(16 * n)
    labels = struct.pack(">4B1i", 0, 0, 8, 1, n) + bytes(range(n))
    files: Files = {}
    for path, content in (
        *((path, images) for path in (own._TRAIN_IMAGES, own._TEST_IMAGES)),
        *((path, labels) for path in (own._TRAIN_LABELS, own._TEST_LABELS)),
    ):
        if not case.valid and case.rng.random() < 0.3:
            content = change_bytes(case.rng, content)
        packed = gzip.compress(content, 1, mtime=0)
        if not case.valid and case.rng.random() < 0.15:
            packed = change_bytes(case.rng, packed)
        files[path] = packed
    rows = case.numbers.multinomial(60, np.ones(10) / 10, n).tolist()
    files[own.COUNTS] = _csv(case.changed(change_table, [list(map(str, row)) for row in rows]))
    _write(case.folder, files)
    return _loading("fashion-mnist-h")


@kind("FER+")
def ferplus(case: Case) -> Callable[[Path], Any]:
    header = (
        "Usage,Image name,neutral,happiness,surprise,sadness,anger,disgust,fear,contempt,unknown,NF"
    )
    parts = ("Training", "PublicTest", "PrivateTest") * 2
    rows = [[part, f"f{i}.png", "5", "3", *["0"] * 6, "1", "1"] for i, part in enumerate(parts)]
    folders = {"Training": "Train", "PublicTest": "Valid", "PrivateTest": "Test"}
    images: Files = {
        f"FER2013{folders[part]}/f{i}.png": _png(i, (48, 48), "L") for i, part in enumerate(parts)
    }
    table = case.changed(change_table, [header.split(","), *rows])
    _write(case.folder, {"ferplus/fer2013new.csv": _csv(table)})
    if not case.valid and case.rng.random() < 0.3:
        images = change_members(case.rng, images)
    if case.rng.random() < 0.5:
        content = zipped(case.rng, images, odd_form=case.odd_form)
        _write(case.folder, {"ferplus/images.zip": content})
    else:
        _write(case.folder / "ferplus", images)
    return _loading("ferplus")


@kind("ChaosNLI")
def chaosnli(case: Case) -> Callable[[Path], Any]:
    rows = []
    for i in range(4):
        counts = case.numbers.multinomial(100, [0.5, 0.3, 0.2]).tolist()
        named = {letter: n for letter, n in zip("enc", counts, strict=True) if n}
        texts = {"uid": f"u{i}", "premise": f"A dog {i}.", "hypothesis": "An animal."}
        rows.append(
            {
                "uid": f"u{i}",
                "label_counter": named,
                "label_count": counts,
                "example": texts,
                "old_label": "n",
            }
        )
    content = _lines(case, case.changed(change_tree, rows))
    _write(case.folder, {"chaosnli/chaosNLI_snli.jsonl": content})
    return _loading("chaosnli-snli")


@kind("EmoBank")
def emobank(case: Case) -> Callable[[Path], Any]:
    ids = [f"d{i}_{i}" for i in range(6)]
    parts = ("train", "dev", "test") * 2
    tables = {
        "emobank.csv": [
            ["id", "split", "V", "A", "D", "text"],
            *([key, part, "3", "3", "3", "One"] for key, part in zip(ids, parts, strict=True)),
        ],
        "raw.csv": [["id", "text"], *([key, f"Text of {key}"] for key in ids)],
        "individual_reader_ratings.csv": [
            ["id", "V", "A", "D"],
            *([key, str(1 + w), "2", "3"] for key in ids for w in range(3)),
        ],
        "individual_writer_ratings.csv": [
            ["id", "V", "A", "D"],
            *([key, str(5 - w), "2", "3"] for key in ids for w in range(2)),
        ],
    }
    meta = [["id", "document", "category"], *([key, key.split("_")[0], "blog"] for key in ids)]
    name = case.rng.choice([*tables, "meta.tsv"])
    if not case.valid and name != "meta.tsv":
        tables[name] = change_table(case.rng, tables[name])
    if not case.valid and name == "meta.tsv":
        meta = change_table(case.rng, meta)
    files = {key: _csv(table) for key, table in tables.items()}
    files["meta.tsv"] = _csv(meta, "\t")
    _write(case.folder / "emobank", files)
    return _loading("emobank-valence")


@kind("NLI variation")
def nli_variation(case: Case) -> Callable[[Path], Any]:
    rows = [
        {
            "premise": f"It rained on {i}.",
            "hypothesis": "It was wet.",
            "task": "mnli",
            "num-NA": 0.0,
            "id": f"k{i}",
            "labels": case.numbers.uniform(-50, 50, 5).round(2).tolist(),
        }
        for i in range(6)
    ]
    content = _lines(case, case.changed(change_tree, rows))
    _write(case.folder, {"nli-variation/preprocessed-data.jsonl": content})
    return _loading("nli-variation")


@kind("letter and OpenOOD")
def lists(case: Case) -> Callable[[Path], Any]:
    if case.rng.random() < 0.5:
        rows = [["AB"[i % 2], *map(str, case.numbers.integers(0, 16, 16))] for i in range(12)]
        from rue.data.datasets.letter import PATH

        _write(case.folder, {PATH: _csv(case.changed(change_table, rows))})
        return _loading("letter")
    names = [f"mnist/{i}.png" for i in range(3)]
    text = "\n".join(f"{name} {i}" for i, name in enumerate(names))
    if not case.valid:
        text = change_lines(case.rng, text, odd.WORDS[:40])
    content = encode(case.rng, text) if case.odd_form else text.encode("utf-8", "replace")
    files = {f"openood/images_classic/{name}": _png(i) for i, name in enumerate(names)}
    if not case.valid and case.rng.random() < 0.4:
        files = change_members(case.rng, files)
    files["openood/benchmark_imglist/cifar10/test_mnist.txt"] = content
    _write(case.folder, files)
    return _loading("openood-mnist")


@kind("features")
def features(case: Case) -> Callable[[Path], Any]:
    from rue.data.features import attach_features

    data = _points()
    if case.rng.random() < 0.5:
        parts = {split: len(getattr(data, split)) for split in ("train", "validation", "test")}
        arrays = {split: case.numbers.normal(0, 1, (n, 4)) for split, n in parts.items()}
    else:
        arrays = {"features": case.numbers.normal(0, 1, (20, 4)), "ids": data.ids}
    arrays = case.changed(change_arrays, arrays)
    write_npz(case.rng, case.folder / "features.npz", arrays, lies=case.odd_form)

    def use(folder: Path) -> Any:
        return attach_features(data, folder / "features.npz")

    return use


@kind("own data")
def own(case: Case) -> Callable[[Path], Any]:
    """Answers and inputs of one's own: checked, described in TOML, and loaded again."""
    from rue.data.own.description import save_description

    table = worlds.answers(case.numbers)
    texts = [["id", "text"], *([key, f"text {key}"] for key in worlds.IDS)]
    which = case.rng.randrange(3)
    if not case.valid and which == 0:
        table = change_table(case.rng, table)
    if not case.valid and which == 1:
        texts = change_table(case.rng, texts)
    _write(case.folder, {"answers.csv": _csv(table), "texts.csv": _csv(texts)})
    edit = which == 2 and not case.valid
    seed = case.rng.randrange(2**32)

    def use(folder: Path) -> Any:
        found = rue.data.check(folder, name="mine", folder=folder)
        description = folder / "mine.toml"
        save_description(found.description, description)
        if edit:
            rng = random.Random(seed)
            text = change_lines(rng, description.read_text(encoding="utf-8"), _TOML)
            description.write_bytes(encode(rng, text))
        return rue.data.load(str(description))

    return use


_TOML = (
    *("0", "1", "-1", "1e400", "nan", "true", '""', '"x"', '"../x"', "[]", "{}", "[1, 2]", "x"),
    *(
        '"/etc/passwd"',
        '["a", "a"]',
        "9" * 400,
        "1979-05-27",
        '"\\u0000"',
        "[[1]]",
        '"answers.csv"',
    ),
)


@functools.cache
def _points() -> Any:
    return rue.data.load("random-rbf", n_points=20, n_features=2)


def _ratings_name() -> str:
    from rue.data.datasets.sentiment import _RATINGS

    return str(_RATINGS)


def _loading(name: str, *, inputs: bool = False) -> Callable[[Path], Any]:
    """Return what loads a data set, and where it reads images late, an image."""

    def use(folder: Path) -> Any:
        data = rue.data.load(name, folder, verify=False)
        if inputs:
            np.asarray(data.inputs[np.arange(1)])
        return data

    return use


def _write(root: Path, files: Files) -> None:
    for name, content in files.items():
        path = root / name.replace("\x00", "0")[:200]
        inside = root in path.parents and ".." not in path.parts
        if inside and not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _csv(table: list[list[str]], separator: str = ",") -> bytes:
    import csv

    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, lineterminator="\n").writerows(table)
    return buffer.getvalue().encode("utf-8", "surrogatepass")


def _lines(case: Case, rows: Any) -> bytes:
    lines = [to_json(row) for row in (rows if isinstance(rows, list) else [rows])]
    content = "\n".join(lines)
    if case.odd_form:
        return change_bytes(case.rng, encode(case.rng, content))
    return content.encode()


_PNGS: dict[tuple[int, tuple[int, int], str], bytes] = {}


def _png(shade: int, size: tuple[int, int] = (6, 4), mode: str = "RGB") -> bytes:
    key = (shade, size, mode)
    if key not in _PNGS:
        from PIL import Image

        stream = io.BytesIO()
        Image.new(mode, size, shade if mode == "L" else (shade, 0, 0)).save(stream, "PNG")
        _PNGS[key] = stream.getvalue()
    return _PNGS[key]

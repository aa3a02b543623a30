"""Files of other tools, further layouts of answers, members of one method, maps and submissions."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import worlds
from fuzz.arrays import change_arrays, write_npz
from fuzz.bytewise import change_bytes
from fuzz.kinds import Case, kind
from fuzz.readers import evaluating, joining, whole_components, write_truth
from fuzz.tables import change_table, write_csv
from fuzz.trees import change_tree, to_json, write_json, write_json_lines
from rue.components import Components
from rue.deploy.recalibration_map import RecalibrationMap, fit_recalibration_map

Records = list[dict[str, Any]]


@kind("logs of other tools")
def logs(case: Case) -> Callable[[Path], Any]:
    """Predictions as other tools write them: lines, one object, a table or an archive."""
    write_truth(case)
    probs = case.numbers.dirichlet(np.ones(worlds.K), worlds.N).tolist()
    rows = list(zip(worlds.IDS, probs, strict=True))
    match case.rng.randrange(5):
        case 0:
            name, records = "a.jsonl", case.changed(change_tree, [_harness(*row) for row in rows])
            write_json_lines(case.rng, case.folder / name, records, odd_form=case.odd_form)
        case 1:
            name = "a.eval"
            _write_inspect(case, [_inspect(*row) for row in rows])
        case 2:
            name = "a.tsv"
            lines = [f"{point}\t{row}" for point, row in rows]
            content = "\n".join(lines).encode()
            (case.folder / name).write_bytes(case.changed(change_bytes, content))
        case 3:
            name = "a.json"
            items = {point: {"predicted_probabilities": row} for point, row in rows}
            _write_tree(case, name, {"bert": items})
            write_truth(case, classes=False)
        case _:
            name = "a.json"
            tree = [
                [{"label": c, "score": p} for c, p in zip(worlds.CLASSES, row, strict=True)]
                for _, row in rows
            ]
            _write_tree(case, name, tree)
            write_npz(
                case.rng,
                case.folder / "truth.npz",
                {"counts": worlds.counts(case.numbers), "classes": np.array(worlds.CLASSES)},
                lies=False,
            )
    return evaluating(case, name, truth="truth.npz")


@kind("layouts of answers")
def layouts(case: Case) -> Callable[[Path], Any]:
    """Answers as data sets have them: lists, objects, a column per annotator, shares."""
    answers = case.numbers.integers(0, worlds.K, (worlds.N, 5))
    words = [[worlds.CLASSES[k] for k in row] for row in answers]
    for k, word in enumerate(worlds.CLASSES):  # every class was chosen by somebody
        words[k][0] = word
    match case.rng.randrange(5):
        case 0:
            name = "t.jsonl"
            records: Any = [
                {"id": i, "labels": row} for i, row in zip(worlds.IDS, words, strict=True)
            ]
            records = case.changed(change_tree, records)
            write_json_lines(case.rng, case.folder / name, records, odd_form=case.odd_form)
        case 1:
            name = "t.jsonl"
            records = [
                {"uid": i, "label_counter": {word: row.count(word) for word in set(row)}}
                for i, row in zip(worlds.IDS, words, strict=True)
            ]
            records = case.changed(change_tree, [dict(sorted(r.items())) for r in records])
            write_json_lines(case.rng, case.folder / name, records, odd_form=case.odd_form)
        case 2:
            name = "t.json"
            tree = {
                i: {
                    "annotators": ",".join(f"Ann{j}" for j in range(len(row))),
                    "annotations": {f"Ann{j}": word for j, word in enumerate(row)},
                    "soft_label": {c: row.count(c) / len(row) for c in worlds.CLASSES},
                }
                for i, row in zip(worlds.IDS, words, strict=True)
            }
            _write_tree(case, name, tree)
        case 3:
            name = "t.csv"
            head = ["id", *(f"annotator_{j}" for j in range(5))]
            rows = [[i, *row] for i, row in zip(worlds.IDS, words, strict=True)]
            _write_table(case, name, [head, *rows])
        case _:
            name = "t.csv"
            shares = [[repr(row.count(c) / len(row)) for c in worlds.CLASSES] for row in words]
            rows = [[i, *row, "5"] for i, row in zip(worlds.IDS, shares, strict=True)]
            _write_table(case, name, [["id", *worlds.CLASSES, "n_annotators"], *rows])
    return joining(case, name, real=False, named=True)


@kind("members of a method")
def members(case: Case) -> Callable[[Path], Any]:
    """Three files of one method, the draws of the same points or further points."""
    from rue.io.answers import read_truth
    from rue.io.predictions import read_method
    from rue.io.runs import make_run
    from rue.metrics.evaluation import evaluate_run

    write_truth(case)
    parts = np.array_split(np.arange(worlds.N), 3)
    further = case.rng.random() < 0.5
    for number in range(3):
        points = parts[number] if further else np.arange(worlds.N)
        arrays: dict[str, Any] = {
            "probs": case.numbers.dirichlet(np.ones(worlds.K), len(points)),
            "ids": np.array(worlds.IDS)[points],
            "classes": np.array(worlds.CLASSES),
        }
        if number == 1:
            arrays = case.changed(change_arrays, arrays)
        lies = number == 1 and case.odd_form
        write_npz(case.rng, case.folder / f"m{number}.npz", arrays, lies=lies)

    def use(folder: Path) -> Any:
        belief = read_method(sorted(folder.glob("m*.npz")), name="mine")
        run = make_run(belief, read_truth(folder / "truth.npz"), "log")
        return json.dumps(evaluate_run(run, gap=False).to_dict(), allow_nan=False)

    return use


@kind("recalibration map")
def recalibration_map(case: Case) -> Callable[[Path], Any]:
    star, hat = (Components(*whole_components(case.numbers, 40)) for _ in range(2))
    tree = case.changed(change_tree, fit_recalibration_map(star, hat).to_dict())
    write_json(case.rng, case.folder / "map.json", tree, odd_form=case.odd_form)

    def use(folder: Path) -> Any:
        loaded = RecalibrationMap.load(folder / "map.json")
        json.dumps(loaded.to_dict(), allow_nan=False)
        return str(loaded), loaded.apply(hat)

    return use


@kind("submission")
def submission(case: Case) -> Callable[[Path], Any]:
    """A folder that somebody sends to a leaderboard, with its row or its predictions changed."""
    from rue.leaderboard.submission import read_submission
    from rue.leaderboard.verification import verify, write_submission

    arrays = {
        "probs": case.numbers.dirichlet(np.ones(worlds.K), (worlds.N, 2)),
        "counts": worlds.counts(case.numbers),
        "ids": np.array(worlds.IDS),
    }
    write_npz(case.rng, case.folder / "mine.npz", arrays, lies=False)
    sent = case.folder / "sent"
    write_submission(case.folder / "mine.npz", sent, data="coins", losses=["log", "brier"])
    if case.rng.random() < 0.7:
        row = json.loads((sent / "row.json").read_text())
        content = to_json(case.changed(change_tree, row)).encode()
        (sent / "row.json").write_bytes(
            change_bytes(case.rng, content) if case.odd_form else content
        )
    else:
        changed = case.changed(change_arrays, arrays)
        write_npz(case.rng, case.folder / "mine.npz", changed, lies=case.odd_form)
        if not case.valid:
            shutil.copy(case.folder / "mine.npz", sent / "predictions.npz")

    return lambda folder: verify(read_submission(folder / "sent"))


def _harness(point: str, probs: list[float]) -> dict[str, Any]:
    return {
        "doc_id": point,
        "doc": {"uid": point},
        "arguments": {
            f"gen_args_{i}": {"arg_0": "context", "arg_1": f" {choice}"}
            for i, choice in enumerate(worlds.CLASSES)
        },
        "filtered_resps": [[repr(float(np.log(p))), "False"] for p in probs],
        "filter": "none",
    }


def _inspect(point: str, probs: list[float]) -> dict[str, Any]:
    tokens = [
        {"token": letter, "logprob": float(np.log(p))}
        for letter, p in zip("ABC", probs, strict=True)
    ]
    output = {"choices": [{"logprobs": {"content": [{"top_logprobs": tokens}]}}]}
    return {"id": point, "epoch": 1, "choices": list(worlds.CLASSES), "output": output}


def _write_inspect(case: Case, samples: Records) -> None:
    samples = case.changed(change_tree, samples)
    path = case.folder / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("header.json"), "{}")
        for i, sample in enumerate(samples if isinstance(samples, list) else [samples]):
            archive.writestr(zipfile.ZipInfo(f"samples/{i}.json"), to_json(sample))
    if case.odd_form:
        path.write_bytes(change_bytes(case.rng, path.read_bytes()))


def _write_tree(case: Case, name: str, tree: Any) -> None:
    changed = case.changed(change_tree, tree)
    write_json(case.rng, case.folder / name, changed, odd_form=case.odd_form)


def _write_table(case: Case, name: str, table: list[list[str]]) -> None:
    changed = case.changed(change_table, table)
    write_csv(case.rng, case.folder / name, changed, odd_form=case.odd_form)

"""Layouts of other tools as the rows of a table.

- LeWiDi, truth: one object from id to ``annotations``, ``annotators``, ``text``, ``split``;
  submission: lines of an id, a tab and a list of probabilities, or of a label and probabilities.
- ChaosNLI, predictions: one object from model to uid to ``predicted_probabilities``.
- lm-evaluation-harness: lines with ``doc_id``, ``arguments`` and ``filtered_resps``.
- Inspect: a zip with ``header.json`` and ``samples/*.json``.
- JUDGE-BENCH: one object with a list ``instances``.
- Alt-Test: one object from annotator to an object from item to label.
- PyEvALL, EXIST: objects with ``test_case``, ``id`` and ``value``.
- pandas: one object by column, by row, split or with a schema.
- Pipelines of transformers: lists of objects with ``label`` and ``score``.
"""

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rue._text import JsonObject, are_numbers, sorted_names
from rue.errors import FileError
from rue.io.columns import is_number
from rue.io.memory import MemoryBudget, reading

Record = Mapping[str, Any]
PAIRS = "pairs of probabilities"
"""The column of a submission with two probabilities for each of several labels."""


@dataclass(frozen=True)
class OtherLayout:
    """The rows that a layout of another tool holds, and a note that names it.

    ``orders`` are the classes of columns whose classes the file states.
    """

    records: Sequence[JsonObject]
    note: str
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_HARNESS = ("doc_id", "arguments", "filtered_resps")


def known_layout(path: Path, records: Sequence[Record]) -> OtherLayout | None:
    """Return the rows of a layout that another tool writes, or None if it is none."""
    first = records[0]
    if all(name in first for name in _HARNESS):
        return _harness(path, records)
    if len(records) > 1:
        if "value" in first and "test_case" in first:
            key = "probs" if isinstance(first["value"], dict) else "label"
            rows = [{"id": record.get("id"), key: record.get("value")} for record in records]
            return OtherLayout(rows, f"{path} was read as a file of PyEvALL")
        return None
    if isinstance(first.get("instances"), list) and first["instances"]:
        rows = _judge_bench([row for row in first["instances"] if isinstance(row, dict)])
        return OtherLayout(rows, f"{path} was read as a file of JUDGE-BENCH")
    values = list(first.values())
    if not values or not all(isinstance(value, dict) for value in values):
        return _of_pandas(path, first)
    if all("annotations" in value for value in values):
        return _lewidi(path, first)
    items = [item for value in values for item in value.values()]
    if items and all(isinstance(item, dict) and _PROBABILITIES in item for item in items):
        return _chaosnli(path, first)
    table = _of_pandas(path, first)
    if table is not None:
        return table
    cells = [cell for value in values for cell in value.values()]
    if cells and all(isinstance(cell, str | int | float) for cell in cells):
        rows = [
            {"id": item, "annotator": annotator, "label": label}
            for annotator, labels in first.items()
            for item, label in labels.items()
        ]
        return OtherLayout(rows, f"{path} was read as labels by annotator and item")
    return None


def _of_pandas(path: Path, whole: Record) -> OtherLayout | None:
    from rue.io.json_files import rows_of_pandas

    rows = rows_of_pandas(whole)
    return OtherLayout(rows, f"{path} was read as a table of pandas") if rows else None


def _judge_bench(rows: Sequence[Record]) -> list[JsonObject]:
    """Return the instances; where they have one property, its scores are the answers."""
    scores = "individual_human_scores"
    annotations = [row.get("annotations") for row in rows]
    if not all(isinstance(one, dict) and len(one) == 1 for one in annotations):
        return [dict(row) for row in rows]
    properties = [next(iter(one.values())) for one in annotations if isinstance(one, dict)]
    if len({*(key for one in annotations for key in one or ())}) > 1 or not all(
        isinstance(one, dict) and scores in one for one in properties
    ):
        return [dict(row) for row in rows]
    return [{**row, scores: one[scores]} for row, one in zip(rows, properties, strict=True)]


def pipeline_scores(entries: Sequence[Any]) -> list[JsonObject] | None:
    """Return the rows of what a pipeline of transformers returned, or None if it is none."""
    if not entries or not all(
        isinstance(entry, list)
        and entry
        and all(isinstance(one, dict) and set(one) == {"label", "score"} for one in entry)
        for entry in entries
    ):
        return None
    return [{"probs": {str(one["label"]): one["score"] for one in entry}} for entry in entries]


_SARCASM = [str(k) for k in range(7)]
_PROBABILITIES = "predicted_probabilities"


def _chaosnli(path: Path, models: Record) -> OtherLayout:
    """Return the predictions of each model; probabilities are of the classes e, n and c."""
    rows = []
    for method, items in models.items():
        for key, item in items.items():
            probs = item[_PROBABILITIES]
            if not isinstance(probs, list) or len(probs) != 3:
                raise FileError(f"{path}: {key!r} must have 3 probabilities, got {str(probs)[:60]}")
            named = dict(zip("enc", probs, strict=True))
            rows.append({"id": key, "method": method, "probs": named})
    note = f"{path} was read as predictions of ChaosNLI, their classes as e, n, c"
    return OtherLayout(rows, note)


def _are_texts(cell: Any) -> bool:
    """Whether a list holds texts, and not a log likelihood and whether it is the greedy one."""
    if not isinstance(cell, list) or not all(isinstance(text, str) for text in cell):
        return False
    return not (len(cell) == 2 and cell[1] in ("True", "False") and is_number(cell[0]))


def _harness(path: Path, records: Sequence[Record]) -> OtherLayout:
    """Return a log of lm-evaluation-harness: log likelihoods of choices, or generated texts."""
    for number, record in enumerate(records, 1):
        absent = [name for name in _HARNESS if name not in record]
        if absent:
            raise FileError(f"{path}: record {number} of this log has no {absent[0]}")
    filters = list(dict.fromkeys(str(record.get("filter")) for record in records))
    chosen = [record for record in records if str(record.get("filter")) == filters[0]]
    rows: list[JsonObject] = []
    for record in chosen:
        responses = record["filtered_resps"]
        facts = {"id": record["doc_id"], "doc": record.get("doc"), "target": record.get("target")}
        if not isinstance(responses, list) or not responses:
            raise FileError(f"{path}: {record['doc_id']!r} has no filtered_resps")
        if len(responses) == 1 and _are_texts(responses[0]):
            responses = responses[0]  # all answers of an item, in a list of their own
        if all(isinstance(one, str) for one in responses):
            rows.append({**facts, "sampled_labels": [one.strip() for one in responses]})
            continue
        choices = _continuations(path, record)
        try:
            numbers = [float(one[0]) for one in responses]
        except (TypeError, ValueError, IndexError, KeyError):
            raise FileError(
                f"{path}: filtered_resps of {record['doc_id']!r} must be texts, or log likelihoods "
                f"such as ['-1.5', 'False'], got {str(responses)[:80]}"
            ) from None
        if len(choices) != len(numbers) or len(set(choices)) < len(choices):
            raise FileError(
                f"{path}: {record['doc_id']!r} must have a log likelihood for each of its choices, "
                f"got {len(numbers)} for {', '.join(choices)[:80]}"
            )
        rows.append({**facts, "logits": dict(zip(choices, numbers, strict=True))})
    kinds = {"logits" in row for row in rows}
    if len(kinds) > 1:
        raise FileError(f"{path}: holds log likelihoods and generated texts: write a file for each")
    what = "log likelihoods as logits" if kinds == {True} else "generated texts as sampled labels"
    note = f"{path} was read as a log of lm-evaluation-harness, {what}"
    if len(filters) > 1:
        note += f", filter {filters[0]} of {', '.join(map(str, filters))}"
    return OtherLayout(rows, note)


def _continuations(path: Path, record: Record) -> list[str]:
    """Return the choices: the second argument of each request, without blanks."""
    arguments = record["arguments"]
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments
    try:
        return [str(one["arg_1"] if isinstance(one, dict) else one[1]).strip() for one in requests]
    except (KeyError, IndexError, TypeError):
        raise FileError(
            f"{path}: arguments of {record['doc_id']!r} must hold a context and a continuation each"
        ) from None


def inspect_log(path: Path, max_memory: int | None = None) -> OtherLayout:
    """Return the samples of an Inspect log: log probabilities of choices, or sampled answers."""
    with reading(path, "a log of Inspect"), zipfile.ZipFile(path) as archive:
        budget = MemoryBudget(path, path.stat().st_size, max_memory)
        samples = []
        for entry in archive.infolist():
            if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
                budget.take(10 * entry.file_size)
                with archive.open(entry) as file:
                    samples.append(json.loads(file.read(entry.file_size + 1)))
    if not samples:
        raise FileError(f"{path}: holds no samples/*.json, as logs of Inspect do")
    if not all(
        isinstance(sample, dict)
        and isinstance(sample.get("id"), str | int)
        and isinstance(sample.get("epoch", 1), int)
        for sample in samples
    ):
        raise FileError(f"{path}: every sample must be an object with an id and a number as epoch")
    samples.sort(key=lambda sample: (str(sample["id"]), sample.get("epoch", 1)))
    logits = [_first_token(sample) for sample in samples]
    if all(row is not None for row in logits):
        rows = [
            {"id": sample["id"], "draw": sample.get("epoch", 1), "logits": row}
            for sample, row in zip(samples, logits, strict=True)
        ]
        return OtherLayout(rows, f"{path} was read as a log of Inspect, first tokens as logits")
    answers: dict[Any, list[str]] = {}
    for sample in samples:
        answers.setdefault(sample["id"], []).append(_answer(path, sample))
    rows = [{"id": key, "sampled_labels": labels} for key, labels in answers.items()]
    note = f"{path} was read as a log of Inspect, epochs as sampled labels"
    return OtherLayout(rows, note)


def _letters(choices: Sequence[Any]) -> list[str]:
    return [chr(ord("A") + place) for place in range(len(choices))]


def _first_token(sample: Record) -> dict[str, float] | None:
    """Return the log probability of each choice as the first token, or None if one is missing."""
    choices = sample.get("choices")
    try:
        tokens = sample["output"]["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        logprobs = {str(one["token"]).strip(): float(one["logprob"]) for one in reversed(tokens)}
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    if not isinstance(choices, list) or not choices:
        return None
    for tokens in (_letters(choices), [str(choice).strip() for choice in choices]):
        if all(token in logprobs for token in tokens):
            names = [str(choice) for choice in choices]
            return {name: logprobs[t] for name, t in zip(names, tokens, strict=True)}
    return None


def _answer(path: Path, sample: Record) -> str:
    """Return the answer of a sample: of its first score that has one, letters as choices."""
    scores = sample.get("scores")
    matches = [
        str(score["answer"]).strip()
        for score in (scores.values() if isinstance(scores, dict) else ())
        if isinstance(score, dict) and score.get("answer") is not None
    ]
    if not matches:
        raise FileError(
            f"{path}: sample {sample['id']!r} has neither log probabilities of its choices nor a "
            "score with an answer"
        )
    choices = sample.get("choices")
    if isinstance(choices, list) and matches[0] in (letters := _letters(choices)):
        return str(choices[letters.index(matches[0])])
    return matches[0]


def lewidi_submission(
    path: Path, lines: Sequence[tuple[int, list[str]]]
) -> tuple[dict[str, list[Any]], str] | None:
    """Return the columns of a submission to LeWiDi without a header, or None if it is none."""
    if all(len(row) == 2 and row[1].strip().startswith("[") for _, row in lines):
        lists = []
        for number, row in lines:
            try:
                lists.append(json.loads(row[1]))
            except ValueError:
                raise FileError(f"{path}: line {number} has no list: {row[1][:60]}") from None
            if all(isinstance(one, int) for one in lists[-1]) and sum(lists[-1]) != 1:
                raise FileError(
                    f"{path}: line {number} lists answers of annotators, one by one; give the file "
                    "of soft labels"
                )
        ids = [row[0].strip() for _, row in lines]
        several = any(isinstance(one, list) for row in lists for one in row)
        if not several and all(
            len(row) == len(_SARCASM) for row in lists
        ):  # the truth lacks 0, which nobody chose
            note = f"{path} was read as a submission to LeWiDi, its classes as 0, 1, ..., 6"
            return {"id": ids, "probs": lists, "classes": [_SARCASM] * len(lists)}, note
        note = f"{path} was read as a submission to LeWiDi, classes in the order of the truth's"
        return {"id": ids, PAIRS if several else "probs": lists}, note
    return _hard_and_soft(path, [row for _, row in lines])


def _hard_and_soft(
    path: Path, rows: Sequence[Sequence[str]]
) -> tuple[dict[str, list[Any]], str] | None:
    """Return the probabilities of lines with a label in front of them, as LeWiDi had it in 2023."""
    if not all(len(row) == len(rows[0]) > 2 and all(map(is_number, row)) for row in rows):
        return None
    hard, soft = [row[0].strip() for row in rows], [list(map(float, row[1:])) for row in rows]
    labels = {str(k) for k in range(len(soft[0]))}
    if not set(hard) <= labels or not all(abs(sum(row) - 1) < 1e-3 for row in soft):
        return None
    if all(abs(float(h) + sum(row) - 1) < 1e-3 for h, row in zip(hard, soft, strict=True)):
        return None  # the first column may be a class as well
    note = (
        f"{path} was read as a submission to LeWiDi: a label, which was not used, and "
        "probabilities, classes in the order of the truth's"
    )
    return {"probs": soft}, note


def _lewidi(path: Path, items: Record) -> OtherLayout:
    """Return one row per answer; 2023 writes annotations as text, 2025 as an object."""
    rows: list[JsonObject] = []
    classes: dict[str, None] = {}
    for key, item in items.items():
        annotations, text, soft = item["annotations"], item.get("text"), item.get("soft_label")
        if isinstance(soft, dict):
            classes |= dict.fromkeys(_whole(name) for name in soft)
        if isinstance(text, dict):
            text = "\n".join(str(part) for part in text.values())
        facts = {"id": key, "text": text if isinstance(text, str) else None}
        facts |= {name: item[name] for name in ("split", "lang") if isinstance(item.get(name), str)}
        if isinstance(annotations, dict):
            pairs = list(annotations.items())
        else:
            labels = [label.strip() for label in str(annotations).split(",")]
            names = [name.strip() for name in str(item.get("annotators", "")).split(",")]
            if len(names) != len(labels):
                raise FileError(
                    f"{path}: {key!r} has {len(labels)} annotations by {len(names)} annotators"
                )
            pairs = list(zip(names, labels, strict=True))
        for name, label in pairs:
            labels = [_whole(part.strip()) for part in str(label).split(",")]
            several = len(labels) > 1
            rows.append({**facts, "annotator": name, "label": labels if several else labels[0]})
    if not rows:
        raise FileError(f"{path}: holds no annotations")
    order = sorted_names(list(classes)) if are_numbers(list(classes)) else list(classes)
    cells = [row["label"] for row in rows]
    said = {name for cell in cells for name in (cell if isinstance(cell, list) else [cell])}
    orders = {"label": tuple(order)} if said <= set(order) else {}
    return OtherLayout(rows, f"{path} was read as a truth of LeWiDi", orders)


def _whole(name: str) -> str:
    """Return a class such as 1.0 as 1."""
    return name[:-2] if name.endswith(".0") and name[:-2].lstrip("-").isdigit() else name

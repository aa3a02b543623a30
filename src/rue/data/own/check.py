"""Check your own data set: how rue reads it, and what may be wrong with it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rue._arrays import FloatArray
from rue._text import JsonObject
from rue.data.dataset import SPLITS, count
from rue.data.own.answers import (
    TABLE_SUFFIXES,
    OwnAnswers,
    alpha_of_counts,
    alpha_of_ratings,
    pairwise_agreement,
    read_own_answers,
    values_of,
)
from rue.data.own.description import (
    NAME_RULE,
    Description,
    OwnFacts,
    assigned,
    checksums,
    read_own,
    valid_name,
)
from rue.data.own.inputs import OwnInputs, find_inputs, input_digests
from rue.data.splits import Splits, shared_groups
from rue.errors import FileError, InputError
from rue.io.answer_rows import Layout
from rue.io.arrow import is_dataset_folder
from rue.losses import get_loss

_ANSWERS = ("answers", "annotations", "labels", "votes", "ratings", "counts")
_LAYOUTS: dict[Layout, str] = {
    "long": "one row per answer",
    "wide": "one row per point, a column per class",
    "arrays": "arrays of counts",
}


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a check found.

    Attributes
    ----------
    name, answers, layout, inputs
        The name of the data set, and the files of its answers and inputs.
    n_points, n_answers, n_annotators
        Their numbers; ``n_annotators`` is None if the file does not name them.
    annotators_min, annotators_mean, annotators_max
        How many answers a point has.
    classes
        Each class's share of all answers; empty where answers are real numbers.
    agreement, alpha
        How often two annotators of a point agree, and Krippendorff's alpha; None where no point
        has two answers.
    entropy, bayes_error, unanimous
        Means over points of the entropy of the answers, in nats, and of 1 - max p*, and the share
        of points about which all annotators agree. None if answers are real numbers.
    spread
        The mean standard deviation of the answers about a point; None where they are classes.
    duplicates
        How many points have the same input as an earlier one.
    splits, official
        The sizes of train, validation and test at seed 0, and whether the files say so; else
        they are rue's own folds.
    leaks
        How many points have the same input as a point of another split.
    shared_groups
        How many groups have points in more than one split; None where there are no groups.
    notes, warnings
        What was left out, and what deserves a look.
    description
        What to write to a TOML file.
    """

    name: str
    answers: str
    layout: str
    inputs: str
    n_points: int
    n_answers: int
    n_annotators: int | None
    annotators_min: int
    annotators_mean: float
    annotators_max: int
    classes: Mapping[str, float]
    agreement: float | None
    alpha: float | None
    entropy: float | None
    bayes_error: float | None
    unanimous: float | None
    spread: float | None
    duplicates: int
    splits: Mapping[str, int]
    official: bool
    leaks: int
    shared_groups: int | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    description: Description


def check(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    inputs: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str | None] | None = None,
    classes: Sequence[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    max_memory: int | None = None,
) -> Check:
    r"""Read your own answers and inputs, and report how rue understands them.

    Parameters
    ----------
    path
        A file of answers (.csv, .tsv, .jsonl, .parquet or .npz), a folder that
        ``datasets.save_to_disk`` wrote, or a folder with a file called answers, annotations,
        labels, votes, ratings or counts.
    name
        What to call the data set; the file's or the folder's name by default.
    inputs
        Texts, images or features; by default those beside the answers.
    columns
        What -> its column, where it has an unusual name: ``id``, ``label``, ``rating``,
        ``annotator``, ``text``, ``image``, ``split``, ``group``.
    classes
        The classes in their order.
    folder
        Where the TOML file will be written: paths in the description are relative to it.
    max_memory
        How many bytes reading the answers may take; by default the larger of 1 GiB and 100 times
        the file.

    Returns
    -------
    Check
        The facts, and the description to write.

    Raises
    ------
    FileError
        If the files cannot be read as answers and inputs.
    AlignmentError
        If a point has no input.
    InputError
        If a column or a class is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rue.data import check
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "answers.csv").write_text("id,label\na,x\na,y\nb,x\nb,x\n")
    >>> found = check(folder, name="mine")
    >>> found.n_points, found.agreement, found.classes
    (2, 0.5, {'x': 0.75, 'y': 0.25})
    """
    path = Path(path)
    table = path.is_file() or is_dataset_folder(path)  # which is a table, and has no neighbours
    file = path if table or not path.is_dir() else _answers_file(path)
    if not file.exists():
        raise FileError(f"no file or folder {path}")
    stated = {what: column for what, column in (columns or {}).items() if column is not None}
    answers = read_own_answers(file, stated, classes, max_memory=max_memory)
    source = Path(inputs) if inputs is not None else find_inputs(answers, beside=not table)
    beside = () if table else (file.with_name(f"splits{suffix}") for suffix in TABLE_SUFFIXES)
    splits = next((each for each in beside if each.is_file()), None)
    name = name or (path.resolve().name if path.is_dir() else path.stem)
    if not valid_name(name):
        advice = {"--name": "gives another name"}
        raise InputError(f"name must be {NAME_RULE}, got {name!r}", advice=advice)
    home = Path() if folder is None else Path(folder)
    description = Description(
        name=name,
        folder=home,
        answers=_relative(file, home),
        columns=stated,
        classes=tuple(classes or ()),
        inputs="" if source is None else _relative(source, home),
        splits=_relative(splits, home) if splits and "split" not in answers.attributes else "",
    )
    return _summary(description, answers)


def _summary(description: Description, answers: OwnAnswers) -> Check:
    answers, inputs, parts, notes = read_own(description, answers=answers)
    splits, further = assigned(description.name, answers, inputs, parts, seed=0)
    digests = input_digests(inputs) if inputs.kind != "none" else answers.ids
    part = [""] * len(answers.ids)
    for split in SPLITS:
        for row in splits[split]:
            part[row] = split
    if answers.annotations is None:
        n = np.array(list(map(len, answers.ratings or ())), dtype=np.float64)
    else:
        n = answers.annotations.n_annotators
    duplicates, twin = find_duplicates(answers.ids, digests)
    leaks, leak = find_leaks(answers.ids, digests, part)
    groups = answers.attributes.get("group")
    shared = None if groups is None else shared_groups(groups, part)
    sizes: dict[str, int] = {split: len(splits[split]) for split in SPLITS}
    facts = OwnFacts(
        task="features" if inputs.kind == "none" else inputs.kind,
        n_points=len(n),
        n_classes=len(answers.class_names),
        annotators=(int(n.min()), float(n.mean()), int(n.max())),
        splits=sizes,
    )
    warnings = _warnings(answers, inputs, n, splits)
    if twin:
        warnings.append(f"{count(duplicates, 'point')} with the input of another, first {twin}")
    if leak:
        warnings.append(f"{count(leaks, 'point')} with an input of another split, first {leak}")
    if shared:
        warnings.append(f"{count(shared, 'group')} in more than one split")
    return Check(
        name=description.name,
        answers=str(answers.path),
        layout=_LAYOUTS[answers.layout],
        inputs="none" if inputs.path is None else f"{inputs.kind}, {inputs.path}",
        n_points=len(n),
        n_answers=int(n.sum()),
        n_annotators=answers.n_annotators,
        annotators_min=int(n.min()),
        annotators_mean=float(n.mean()),
        annotators_max=int(n.max()),
        duplicates=duplicates,
        splits=sizes,
        official=parts is not None,
        leaks=leaks,
        shared_groups=shared,
        notes=(*notes, *further),
        warnings=tuple(warnings),
        description=replace(
            description, facts=facts, checksums=checksums(description, answers, inputs)
        ),
        **_disagreement(answers),
    )


def _disagreement(answers: OwnAnswers) -> JsonObject:
    """Return the measures of disagreement about a point."""
    truth = answers.annotations
    if truth is None:
        assert answers.ratings is not None
        of_classes = ("agreement", "entropy", "bayes_error", "unanimous")
        return dict.fromkeys(of_classes) | {
            "classes": {},
            "alpha": alpha_of_ratings(answers.ratings),
            "spread": float(np.mean([row.std() for row in answers.ratings])),
        }
    counts, log, zero_one = truth.votes, get_loss("log"), get_loss("zero_one")
    shares = counts.sum(axis=0) / counts.sum()
    return {
        "classes": dict(zip(answers.class_names, shares.tolist(), strict=True)),
        "agreement": pairwise_agreement(counts),
        "alpha": alpha_of_counts(counts, values_of(answers.class_names)),
        "entropy": float(log.bayes_risk(truth.probs).mean()),
        "bayes_error": float(zero_one.bayes_risk(truth.probs).mean()),
        "unanimous": float(np.mean(truth.probs.max(axis=1) == 1)),
        "spread": None,
    }


def _warnings(answers: OwnAnswers, inputs: OwnInputs, n: FloatArray, splits: Splits) -> list[str]:
    sentences = []
    if (n == 1).all():
        sentences.append(
            "every point has one answer, so aleatoric and epistemic cannot be separated"
        )
    elif (n == 1).any():
        sentences.append(f"{count(int((n == 1).sum()), 'point')} with a single answer")
    if answers.repeated:
        again = count(len(answers.repeated), "answer")
        sentences.append(f"{again} repeated by the same annotator, first {answers.repeated[0]}")
    if answers.annotations is not None:
        unused = np.flatnonzero(~answers.annotations.votes.any(axis=0))
        if len(unused):
            names = ", ".join(answers.class_names[k] for k in unused)
            sentences.append(f"no annotator chose {names}")
    if inputs.kind == "none":
        sentences.append("no inputs found: it can be a truth, but nothing can be trained on it")
    empty = [split for split in SPLITS if len(splits[split]) == 0]
    if empty:
        sentences.append(f"no points in {' and '.join(empty)}")
    return sentences


def _answers_file(folder: Path) -> Path:
    """Return the file of answers in a folder: by its name, or else the only table."""
    suffixes = (*TABLE_SUFFIXES, ".npz")
    for stem in _ANSWERS:
        files = [folder / f"{stem}{suffix}" for suffix in suffixes]
        files = [file for file in files if file.is_file()]
        if len(files) > 1:
            raise InputError(
                f"{folder} has both {files[0].name} and {files[1].name}: give one of them"
            )
        if files:
            return files[0]
    others = sorted(
        file for file in folder.iterdir() if file.is_file() and file.suffix.lower() in suffixes
    )
    if len(others) == 1:
        return others[0]
    names = ", ".join(file.name for file in others[:5]) or "none"
    raise FileError(
        f"{folder} needs a file answers.csv, answers.jsonl or counts.csv, its tables: {names}"
    )


def _relative(path: Path, folder: Path) -> str:
    """Return a path as seen from a folder, with forward slashes."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def find_duplicates(ids: Sequence[str], digests: Sequence[str]) -> tuple[int, str]:
    """Return the number of points whose input equals an earlier one, and the first such pair."""
    first: dict[str, str] = {}
    pairs = [(key, first.setdefault(digest, key)) for key, digest in zip(ids, digests, strict=True)]
    twins = [f"{key} and {other}" for key, other in pairs if key != other]
    return len(twins), twins[0] if twins else ""


def find_leaks(ids: Sequence[str], digests: Sequence[str], part: Sequence[str]) -> tuple[int, str]:
    """Return the number of points whose input is also in another split, and the first such pair."""
    seen: dict[str, dict[str, str]] = {}
    for key, digest, split in zip(ids, digests, part, strict=True):
        if split:
            seen.setdefault(digest, {}).setdefault(split, key)
    shared = {digest: splits for digest, splits in seen.items() if len(splits) > 1}
    n_points = sum(bool(s) and d in shared for d, s in zip(digests, part, strict=True))
    if not shared:
        return 0, ""
    (one, first), (other, second) = list(next(iter(shared.values())).items())[:2]
    return n_points, f"{first} ({one}) and {second} ({other})"

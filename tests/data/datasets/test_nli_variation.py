"""NLI variation: real-valued answers, in a folder or the repository's zip, real and broken."""

import json
import zipfile

import numpy as np
import pytest

import rue.data
from rue import Gaussians
from rue.bench.tasks import require_criteria
from rue.errors import FileError, InputError
from rue.io.predictions import read_predictions

NAME = "preprocessed-data.jsonl"


def pair(key="73e", labels=(49.9, -50.00009, 0.0), **changes):
    return {
        "premise": f"It rained on {key}.",
        "hypothesis": "It was wet.",
        "task": "mnli",
        "original-dataset-label": "entailment",
        "id": key,
        "labels": list(labels),
        "normed-labels": [],
        "num-NA": 2.0,
        **changes,
    }


def write(root, *rows, folder="nli-variation"):
    (root / folder).mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (root / folder / NAME).write_text("\n".join(lines))
    return root


def lists(ratings):
    answers = ratings.answers
    return [row.tolist() for row in np.split(answers.values, answers.starts[1:-1])]


def load(root, **options):
    return rue.data.load("nli-variation", root, verify=False, **options)


@pytest.mark.parametrize(
    "folder",
    [
        *("nli-variation", "nli-variation/sentence-pair-analysis"),
        "NLI-variation-data-master/sentence-pair-analysis",
    ],
)
def test_layout(tmp_path, folder):
    data = load(write(tmp_path, pair(), pair("b", [1, 2]), folder=folder))
    assert data.ids.tolist() == ["73e", "b"]
    assert lists(data.ratings) == [[-50.0, 0.0, 49.9], [1.0, 2.0]]  # sorted
    assert data.ratings.range == (-50, 50)
    assert data.n_annotators.tolist() == [3, 2]
    assert data.inputs[0] == "It rained on 73e.\nIt was wet."
    assert data.extras["source"].tolist() == ["mnli", "mnli"]
    assert data.extras["n_abstained"].tolist() == [2, 2]
    assert (data.class_names, data.annotations) == ((), None)
    assert data.notes == ("1 answer beyond 50 or -50, by up to 9e-05, clipped",)


def test_the_zip_is_read_as_it_is(tmp_path):
    with zipfile.ZipFile(tmp_path / "NLI-variation-data-master.zip", "w") as archive:
        path = f"NLI-variation-data-master/sentence-pair-analysis/{NAME}"
        archive.writestr(path, json.dumps(pair()))
        archive.writestr("NLI-variation-data-master/context-analysis/other.jsonl", "")
    assert load(tmp_path).ids.tolist() == ["73e"]


def test_splits_keep_their_answers_and_premises_together(tmp_path):
    rows = [pair(str(n), [n], premise=f"Premise {n // 2}.") for n in range(40)]
    write(tmp_path, *rows)
    tested = []
    for seed in range(5):
        test = load(tmp_path, seed=seed, split="test")
        assert lists(test.ratings) == [[float(key)] for key in test.ids]
        premises = {int(key) // 2 for key in test.ids}
        assert {str(2 * p + d) for p in premises for d in (0, 1)} == set(test.ids.tolist())
        tested += test.ids.tolist()
    assert sorted(tested) == sorted(str(n) for n in range(40))


def test_it_has_no_classes(tmp_path):
    data = load(write(tmp_path, pair()))
    require_criteria(["regret"], data)
    for call in (data.targets, data.truth, lambda: require_criteria(["selective"], data)):
        with pytest.raises(InputError, match="nli-variation has real-valued answers"):
            call()


BAD = {
    "no id": (pair(id=None), "line 1: id must be text, not blank, got None"),
    "no premise": (pair(premise=" "), "line 1: premise must be text, not blank, got ' '"),
    "no answers": (pair(labels=[]), r"labels must be a list of numbers, got \[\]"),
    "words": (pair(labels=["a"]), r"labels\[0\] must be a finite number, got 'a'"),
    "beyond": (pair(labels=[50.002]), r"labels must be from -50 to 50, got 50\.002"),
    "nan": (pair(labels=[float("nan")]), "cannot read line 1 as JSON: NaN is no number"),
    "huge": (pair(labels=[10**400]), r"labels\[0\] must be a finite number, got 1000"),
    "abstained": (pair(**{"num-NA": -1}), "num_NA must be a whole number, got -1"),
    "too many": (pair(**{"num-NA": 10**30}), "num_NA must be a whole number, got 1000"),
    "no JSON": ("{", "cannot read as JSON"),
}


@pytest.mark.parametrize("case", BAD)
def test_broken_files_are_refused_in_one_line(tmp_path, case):
    row, message = BAD[case]
    with pytest.raises(FileError, match=message) as caught:
        load(write(tmp_path, row))
    assert "\n" not in str(caught.value)


def test_repeated_ids(tmp_path):
    with pytest.raises(FileError, match="line 2 repeats the id '73e'"):
        load(write(tmp_path, pair(), pair()))


def test_real(real):
    data = rue.data.load("nli-variation", real)
    assert data.notes == ("5,202 answers beyond 50 or -50, by up to 0.0001, clipped",)
    assert data.ids[0] == "73712e"
    assert 49.999903547520425 in data.ratings[0].answers.values  # the first of the first line
    assert abs(data.ratings.answers.values).max() == 50


def test_predictions_carry_the_ratings(tmp_path):
    data = load(write(tmp_path, pair(), pair("b", [1, 2])))
    belief = Gaussians([[0.0, 1.0], [2.0, 3.0]], np.ones((2, 2)))
    data.save_predictions(tmp_path / "m.npz", belief)
    found = read_predictions(tmp_path / "m.npz")
    assert found.ids.tolist() == ["73e", "b"]
    assert lists(found.truth) == lists(data.ratings)
    assert found.truth.range == (-50, 50)

"""--positive: one probability per point, of one of two classes."""

import json
from pathlib import Path

import numpy as np
import pytest

import rue
from rue.errors import AlignmentError, FileError
from rue.io.answers import read_truth
from rue.io.names import Matching
from rue.io.predictions import read_predictions
from rue.io.runs import read_run

N = 15
YES = Matching(positive="yes")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Answers yes or no, and three draws of the probability of yes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    q = rng.random(N)
    yes = rng.binomial(9, q)
    p = np.clip(q[:, None] + 0.1 * rng.normal(size=(N, 3)), 0.02, 0.98)
    ids = [f"x{i}" for i in range(N)]
    lines = ["id,yes,no", *(f"{i},{k},{9 - k}" for i, k in zip(ids, yes, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return ids, yes, p


def save(world, kind):
    ids, _, p = world
    if kind == "probs":
        np.savez("p.npz", probs=p, ids=ids)
    elif kind == "logits":
        np.savez("p.npz", logits=np.log(p / (1 - p)), ids=ids)
    elif kind == "csv":
        rows = [f"{d},{i},{float(p[r, d])!r},{r}" for r, i in enumerate(ids) for d in range(3)]
        Path("p.csv").write_text("\n".join(["draw,id,prob,length", *rows]))
        return "p.csv"
    else:
        rows = [{"id": i, "draw": d, "yes": p[r, d]} for d in range(3) for r, i in enumerate(ids)]
        Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return "p.jsonl"
    return "p.npz"


@pytest.mark.parametrize("loss", ["log", "zero_one", "squared", "rps"])
@pytest.mark.parametrize("kind", ["probs", "logits", "csv", "jsonl"])
def test_one_probability_is_two_classes(world, kind, loss):
    _, yes, p = world
    run = read_run(save(world, kind), read_truth("t.csv"), loss, matching=YES)
    truth = rue.Annotations(np.stack([9 - yes, yes], axis=1))
    expected = rue.Run.from_belief(truth, rue.Draws(np.stack([1 - p, p], axis=2)), loss)
    assert run.hat.epistemic == pytest.approx(expected.hat.epistemic, abs=1e-12)
    assert run.star.epistemic == pytest.approx(expected.star.epistemic, abs=1e-12)


def test_the_other_class_is_that_of_the_truth_or_stated(world):
    path = save(world, "probs")
    assert read_predictions(path, matching=YES).outcomes.names == ("not yes", "yes")
    stated = Matching(positive="yes", classes=("yes", "no"))
    assert set(read_predictions(path, matching=stated).outcomes.names) == {"yes", "no"}
    run = read_run(path, read_truth("t.csv"), "log", matching=YES)
    assert set(run.classes) == {"yes", "no"}


@pytest.mark.parametrize("column", ["no", "toxic"])
def test_a_column_of_the_other_class_is_refused(world, column):
    ids, _, p = world
    rows = [f"{i},{float(x)!r}" for i, x in zip(ids, p[:, 0], strict=True)]
    Path("p.csv").write_text("\n".join([f"id,{column}", *rows]))
    truth = read_truth("t.csv")
    if column == "no":
        with pytest.raises(AlignmentError, match=r"its column is called by, 'no', got 'yes'"):
            read_run("p.csv", truth, "log", matching=YES)
        return
    run = read_run("p.csv", truth, "log", matching=YES)
    assert "p.csv: the column 'toxic' was read as the probability of 'yes'" in run.notes


def test_a_class_that_the_truth_does_not_have_is_refused(world):
    path = save(world, "probs")
    with pytest.raises(AlignmentError, match=r"one of two classes, got 'maybe'; t.csv has yes, no"):
        read_run(path, read_truth("t.csv"), "log", matching=Matching(positive="maybe"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,a,b\nx,0.1,0.2\n", "must have one column with the probability of 'yes'"),
        ("id,prob\nx,1.5\n", "must be between 0 and 1, got 1.5 at row 0"),
    ],
)
def test_tables_without_one_probability_are_refused(tmp_path, text, message):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(FileError, match=message):
        read_predictions(tmp_path / "p.csv", matching=YES)


def test_arrays_of_several_classes_are_refused(tmp_path):
    np.savez(tmp_path / "p.npz", probs=np.full((3, 2, 2), 0.5))
    with pytest.raises(FileError, match=r"of shape \(n_points,\) .* got \(3, 2, 2\)"):
        read_predictions(tmp_path / "p.npz", matching=YES)


def test_a_table_with_one_number_advises_the_option(tmp_path):
    (tmp_path / "p.csv").write_text("id,prob\nx,0.5\n")
    with pytest.raises(FileError) as error:
        read_predictions(tmp_path / "p.csv")
    assert "--positive" in error.value.advice


@pytest.mark.parametrize("positive", ["1", "1.0", "+1"])
@pytest.mark.parametrize("name", ["prob", "1", "1.0"])
def test_a_number_is_the_positive_class_however_it_is_written(tmp_path, positive, name):
    (tmp_path / "t.csv").write_text("id,label\na,0\na,1\nb,1\nb,1\n")
    (tmp_path / "p.csv").write_text(f"id,{name}\na,0.25\nb,0.5\n")
    matching = Matching(positive=positive)
    run = read_run(tmp_path / "p.csv", read_truth(tmp_path / "t.csv"), "brier", matching=matching)
    assert run.classes == ("0", "1")
    # (1/4, 3/4) against (1/2, 1/2), and (1/2, 1/2) against (0, 1).
    assert run.star.epistemic.tolist() == [0.125, 0.5]

"""Multi-label answers: each label a binary problem, from every layout, with a mean row."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import rue
from rue.cli import main
from rue.errors import AlignmentError, FileError
from rue.inference.intervals import combined_row
from rue.io.answers import read_truth
from rue.io.names import Matching
from rue.io.several_truths import read_label_beliefs, read_label_truths

# Who chose what: u1 of q1 chose both, u2 of q2 nothing.
CHOICES = {"q1": {"u1": ["a", "b"], "u2": ["b"]}, "q2": {"u1": ["c"], "u2": []}}
COUNTS = {"a": [[1, 1], [2, 0]], "b": [[0, 2], [2, 0]], "c": [[2, 0], [1, 1]]}


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


LAYOUTS = {
    "objects.jsonl": lines({"id": i, "annotations": sets} for i, sets in CHOICES.items()),
    "lists.jsonl": lines({"id": i, "labels": [*sets.values()]} for i, sets in CHOICES.items()),
    "rows.jsonl": lines(
        {"id": i, "annotator": who, "label": own}
        for i, sets in CHOICES.items()
        for who, own in sets.items()
    ),
    "counted.csv": "id,a,b,c,n_annotators\nq1,1,2,0,2\nq2,0,0,1,2\n",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_has_the_same_counts(tmp_path, name):
    (tmp_path / name).write_text(LAYOUTS[name])
    truths = read_label_truths(tmp_path / name)
    assert {label: truth.counts.tolist() for label, truth in truths.items()} == COUNTS
    assert truths["b"].ids.tolist() == ["q1", "q2"]
    assert truths["b"].outcomes.names == ("not b", "b")


def test_texts_and_several_rows_of_one_annotator(tmp_path):
    rows = "id,worker,label\nq1,u1,a\nq1,u1,b\nq1,u2,b\nq2,u1,c\nq2,u2,c|b\n"
    (tmp_path / "t.csv").write_text(rows)
    truths = read_label_truths(tmp_path / "t.csv")
    assert truths["b"].counts.tolist() == [[0, 2], [1, 1]]
    assert truths["c"].counts.tolist() == [[2, 0], [0, 2]]


def test_an_empty_cell_of_an_annotator_is_a_choice_of_no_label(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id,annotator,label\nq1,u1,"a,b"\nq1,u2,b\nq2,u1,c\nq2,u2,""\nq2,u3,n/a\n')
    truths = read_label_truths(path)
    assert {label: truth.counts.tolist() for label, truth in truths.items()} == COUNTS
    assert truths["a"].notes == (
        f"{path}: 1 empty cells were read as a choice of no label",
        f"{path}: 1 rows without an answer were left out",
    )
    # Without annotators it may as well be that nobody was asked.
    path.write_text("id,label\nq1,a\nq1,b\nq1,\n")
    truths = read_label_truths(path)
    assert truths["a"].counts.tolist() == [[1, 1]]
    assert truths["a"].notes == (f"{path}: 1 rows without an answer were left out",)


def test_shares_of_varierr_are_the_published_soft_labels(lewidi):
    path = lewidi / "2025/VariErrNLI/VariErrNLI_dev.json"
    truths = read_label_truths(path)
    assert list(truths) == ["contradiction", "entailment", "neutral"]
    for label, truth in truths.items():
        items = json.loads(path.read_text())
        expected = [items[name]["soft_label"][label]["1"] for name in truth.ids]
        assert truth.probs[:, 1].tolist() == pytest.approx(expected, abs=5e-4)  # 3 digits


def test_one_answer_per_annotator_is_asked_for_without_the_option(lewidi):
    with pytest.raises(FileError, match="Ann2 gave several answers") as error:
        read_truth(lewidi / "2025/VariErrNLI/VariErrNLI_dev.json")
    assert "--multi-label" in error.value.advice


@pytest.fixture
def lewidi():
    folder = Path(os.environ.get("RUE_DATA", "")) / "lewidi"
    if not folder.is_dir():
        pytest.skip("needs lewidi in RUE_DATA")
    return folder


P = np.array([[0.6, 0.9, 0.2], [0.1, 0.3, 0.8]])


@pytest.mark.parametrize("kind", ["wide.csv", "objects.jsonl", "pairs.tsv", "probs.npz", "z.npz"])
def test_predictions_of_every_layout(tmp_path, kind):
    path = tmp_path / kind
    named = [dict(zip("abc", row, strict=True)) for row in P.tolist()]
    if kind == "wide.csv":
        path.write_text("id,c,a,b\n" + "".join(
            f"q{i + 1},{p['c']},{p['a']},{p['b']}\n" for i, p in enumerate(named)
        ))  # fmt: skip
    elif kind == "objects.jsonl":
        path.write_text(lines({"id": f"q{i + 1}", "probs": p} for i, p in enumerate(named)))
    elif kind == "pairs.tsv":
        pairs = [[[1 - x, x] for x in row] for row in P.tolist()]
        path.write_text("".join(f"q{i + 1}\t{json.dumps(x)}\n" for i, x in enumerate(pairs)))
    elif kind == "probs.npz":
        np.savez(path, probs=P, ids=["q1", "q2"], classes=list("abc"))
    else:
        np.savez(path, logits=np.log(P / (1 - P))[:, None], ids=["q1", "q2"])
    beliefs = read_label_beliefs(path, ["a", "b", "c"])
    for k, label in enumerate("abc"):
        assert beliefs[label].ids.tolist() == ["q1", "q2"]
        assert beliefs[label].mean()[:, 1] == pytest.approx(P[:, k])
    unnamed = kind in ("pairs.tsv", "z.npz")
    assert any("does not name its labels" in n for n in beliefs["a"].notes) == unnamed


def test_probabilities_of_labels_may_be_0_and_1(tmp_path):
    np.savez(tmp_path / "p.npz", probs=[[0.0, 1.0], [1.0, 0.0]], classes=["a", "b"])
    beliefs = read_label_beliefs(tmp_path / "p.npz", ["a", "b"])
    assert beliefs["b"].mean().tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("id,a,b\nq1,0.5,0.5\n", AlignmentError, "lacks the label 'c', which somebody chose"),
        ("id,a,b,c\nq1,0.5,1.5,0\n", FileError, "between 0 and 1, not at row 0"),
        ("q1\t[[0.2, 0.9], [1, 0], [1, 0]]\n", FileError, "two probabilities that sum to 1"),
    ],
)
def test_bad_predictions_are_refused(tmp_path, text, error, message):
    (tmp_path / "p.tsv").write_text(text)
    with pytest.raises(error, match=message):
        read_label_beliefs(tmp_path / "p.tsv", ["a", "b", "c"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,a,b,n_annotators\nq1,3,1,2\n", "a must be from 0 to n_annotators, got 3 of 2"),
        ("id,label\nq1,a\nq2,\n", "every point needs at least one answer, 1 of 2 have none"),
        ("id,label\nq1,a\nq1,z\n", "must hold labels of a, b, got 'z'"),
        ("id,x\nq1,1\n", "must have a column of labels"),
    ],
)
def test_bad_answers_are_refused(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    stated = Matching(classes=("a", "b")) if "z" in text else Matching()
    with pytest.raises(FileError, match=message):
        read_label_truths(tmp_path / "t.csv", matching=stated)


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """Sixty items with three labels; return the rows that a command prints."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    q = rng.random((60, 3))
    probs = np.clip(q[:, None] + 0.15 * rng.normal(size=(60, 4, 3)), 0.01, 0.99)
    chosen = rng.binomial(8, q)
    np.savez("p.npz", probs=probs, ids=[f"q{i}" for i in range(60)], classes=list("abc"))
    rows = [f"q{i},{a},{b},{c},8" for i, (a, b, c) in enumerate(chosen)]
    Path("t.csv").write_text("\n".join(["id,a,b,c,n_annotators", *rows]))

    def call(*options):
        with pytest.raises(SystemExit) as stop:
            main(["evaluate", "p.npz", "--truth", "t.csv", "--multi-label", "--quick", *options])
        out, err = capsys.readouterr()
        return (stop.value.code, err) if stop.value.code else json.loads(out)

    return call, probs, chosen


def test_a_row_for_each_label_and_their_mean(printed):
    call, probs, chosen = printed
    *labels, mean = call("--format", "json", "--loss", "brier")
    assert [row["group"] for row in (*labels, mean)] == ["a", "b", "c", "(mean)"]
    for k, row in enumerate(labels):
        p, n = probs[:, :, k], chosen[:, k]
        expected = rue.evaluate(
            rue.Annotations(np.stack([8 - n, n], axis=1)),
            rue.Draws(np.stack([1 - p, p], axis=2)),
            loss="brier",
        )
        assert row["aurec"] == pytest.approx(expected.aurec, rel=1e-12)
    for key in ("aurec", "n_aurec", "risk", "pareto_gap"):
        assert mean[key] == pytest.approx(np.mean([row[key] for row in labels]), rel=1e-12)
    assert mean["n_points"] == 60
    assert "the mean of 3 labels (a, b, c)" in mean["notes"][0]


def test_intervals_of_the_mean_resample_items(printed):
    """Replicates of one label of the same items, thrice, are those of the label itself."""
    call, probs, chosen = printed
    *labels, mean = call("--format", "json", "--ci", "0.9", "--replicates", "300", "--no-gap")
    assert mean["aurec_ci_low"] < mean["aurec"] < mean["aurec_ci_high"]
    n, p = chosen[:, 0], probs[:, :, 0]
    belief = rue.Draws(np.stack([1 - p, p], axis=2))
    run = rue.Run.from_belief(rue.Annotations(np.stack([8 - n, n], axis=1)), belief)
    row = rue.metrics.evaluation.evaluate_run(run, group="a", gap=False, references=False)
    options = {"level": 0.9, "n_replicates": 300, "gap": False}
    once, thrice = (combined_row([run] * k, [row] * k, **options) for k in (1, 3))
    assert thrice.intervals.low == pytest.approx(once.intervals.low, nan_ok=True)
    widths = [row["aurec_ci_high"] - row["aurec_ci_low"] for row in labels]
    assert mean["aurec_ci_high"] - mean["aurec_ci_low"] < max(widths)


def test_options_without_a_meaning_are_refused(printed):
    call, _, _ = printed
    assert "leave out --by" in call("--by", "class")[1]
    assert "leave out --positive" in call("--positive", "a")[1]
    assert "--resample-annotators" in call("--ci", "0.9", "--resample-annotators")[1]


def test_an_index_beside_ids_is_no_label(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"",id,a,b,n_annotators\n2,x,1,2,3\n1,y,3,0,3\n')
    truths = read_label_truths(path)
    assert list(truths) == ["a", "b"]
    assert f"{path}: Unnamed: 0 was not used" in truths["a"].notes

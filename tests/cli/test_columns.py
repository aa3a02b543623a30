"""Columns that a user states: --id, --truth-id, --label, --annotator and --classes."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rue

N = 12
TABLES = ("csv", "tsv", "jsonl", "json", "parquet")
NESTED = ("jsonl", "json", "parquet")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Six votes for a or b about each of twelve points, and predictions that also know c."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    votes = np.where(rng.random((N, 6)) < rng.random((N, 1)), "a", "b")
    return [f"q{i}" for i in range(N)], votes, rng.dirichlet(np.ones(3), N)


@pytest.fixture
def expected(world):
    _, votes, probs = world
    counts = np.stack([(votes == name).sum(axis=1) for name in "abc"], axis=1)
    return rue.evaluate(rue.Annotations(counts), rue.Draws(probs[:, None]), gap=False).aurec


@pytest.fixture
def aurec(run):
    def call(*arguments):
        done = run("evaluate", "--quick", "--no-gap", "--format", "json", *arguments)
        assert done.code == 0, done.err
        (row,) = json.loads(done.out)
        return row["aurec"]

    return call


def write(records, name, kind):
    """Write rows in a format; return the file."""
    path = Path(f"{name}.{kind}")
    table = pd.DataFrame(records)
    if kind == "parquet":
        table.to_parquet(path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif kind == "json":
        path.write_text(json.dumps(records))
    else:
        table.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return path


@pytest.mark.parametrize("kind", TABLES)
def test_stated_columns_in_every_format(world, expected, aurec, kind):
    ids, votes, probs = world
    answers = [
        {"document": ids[i], "verdict": str(votes[i, j]), "who": f"w{j}", "year": 2000 + j}
        for i in reversed(range(N))
        for j in range(6)
    ]
    beliefs = [
        {"length": 3 * i, "name": ids[i], **dict(zip("abc", probs[i].tolist(), strict=True))}
        for i in range(N)
    ]
    options = ["--id", "name", "--truth-id", "document", "--label", "verdict"]
    options += ["--annotator", "who", "--classes", "a,b,c"]
    found = aurec(write(beliefs, "p", kind), "--truth", write(answers, "t", kind), *options)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", NESTED)
def test_paths_into_objects_in_every_format_that_has_them(world, expected, aurec, kind):
    ids, votes, probs = world
    answers = [
        {"doc": {"uid": ids[i]}, "human": {"votes": votes[i].tolist(), "who": list("uvwxyz")}}
        for i in reversed(range(N))
    ]
    beliefs = [
        {"meta": {"key": ids[i]}, "probs": dict(zip("abc", probs[i].tolist(), strict=True))}
        for i in range(N)
    ]
    options = ["--id", "meta.key", "--truth-id", "doc.uid", "--label", "human.votes"]
    options += ["--annotator", "human.who"]
    found = aurec(write(beliefs, "p", kind), "--truth", write(answers, "t", kind), *options)
    assert found == pytest.approx(expected, rel=1e-12)


def test_stated_arrays(world, expected, aurec):
    ids, votes, probs = world
    counts = np.stack([(votes == name).sum(axis=1) for name in "ab"], axis=1)
    np.savez("p.npz", probs=probs, key=ids, classes=list("abc"))
    np.savez("t.npz", counts=counts[::-1], document=ids[::-1], classes=list("ab"))
    found = aurec("p.npz", "--truth", "t.npz", "--id", "key", "--truth-id", "document")
    assert found == pytest.approx(expected, rel=1e-12)


def test_classes_choose_columns_and_need_not_all_have_been_chosen(world, expected, aurec, run):
    ids, votes, probs = world
    answers = [
        {"id": ids[i], "year": 1990 + i, "words": i, "b": 6 - n, "a": n}
        for i, n in enumerate((votes == "a").sum(axis=1).tolist())
    ]
    beliefs = [
        {"id": ids[i], "length": 7, **dict(zip("abc", probs[i].tolist(), strict=True))}
        for i in range(N)
    ]
    files = [write(beliefs, "p", "csv"), "--truth", write(answers, "t", "csv")]
    assert aurec(*files, "--classes", "a,b,c") == pytest.approx(expected, rel=1e-12)
    done = run("evaluate", *files)
    assert done.code == 2
    assert "the columns taken for classes are length, a, b, c; --classes states" in done.err


def test_a_class_that_nobody_chose_needs_no_option(world, expected, aurec):
    ids, votes, probs = world
    answers = [{"id": ids[i], "label": str(label)} for i in range(N) for label in votes[i]]
    beliefs = [{"id": ids[i], **dict(zip("cab", probs[i][[2, 0, 1]].tolist(), strict=True))}
               for i in range(N)]  # fmt: skip
    files = [write(beliefs, "p", "csv"), "--truth", write(answers, "t", "csv")]
    assert aurec(*files) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--truth-id", "doc.udi"], "has no column 'doc.udi', only doc (lists or objects)"),
        (["--truth-id", "doc.uid", "--label", "vote"], "has no column 'vote'"),
        (["--truth-id", "doc.uid", "--annotator", "whom"], "has no column 'whom'"),
    ],
)
def test_a_column_that_is_not_there_is_named_beside_those_that_are(world, run, options, message):
    ids, votes, probs = world
    answers = [
        {"doc": {"uid": i}, "label": str(v[0]), "who": "w"} for i, v in zip(ids, votes, strict=True)
    ]
    beliefs = [{"id": i, "probs": p.tolist()} for i, p in zip(ids, probs, strict=True)]
    truth = write(answers, "t", "jsonl")
    done = run("evaluate", write(beliefs, "p", "jsonl"), "--truth", truth, *options)
    assert done.code == 2
    assert message in done.err


@pytest.fixture
def sparse(world):
    """Counts of which every third point has one answer."""
    ids, votes, probs = world
    counts = np.stack([(votes == name).sum(axis=1) for name in "abc"], axis=1)
    counts[::3] = [1, 0, 0]
    np.savez("p.npz", probs=probs, ids=ids, classes=list("abc"))
    np.savez("t.npz", counts=counts[::-1], ids=ids[::-1], classes=list("abc"))
    rows = np.arange(N) % 3 > 0
    return rue.Annotations(counts[rows]), rue.Draws(probs[rows][:, None])


def test_points_with_one_answer_are_left_out_and_counted(sparse, run):
    done = run("evaluate", "p.npz", "--truth", "t.npz", "--quick", "--no-gap")
    assert "4 of 12 points have one annotator: the bracket has no lower end" in done.out
    assert "(--min-annotators 2 leaves them out)" in done.out
    options = ["--min-annotators", "2", "--quick", "--format", "json"]
    done = run("evaluate", "p.npz", "--truth", "t.npz", *options)
    (row,) = json.loads(done.out)
    expected = rue.evaluate(*sparse)
    assert row["n_points"] == len(sparse[0]) == 8
    assert row["aurec_low"] == pytest.approx(expected.aurec_low, rel=1e-12)
    assert "4 of 12 points have one answer and were left out" in " ".join(row["notes"])


def test_no_point_with_so_many_answers(sparse, run):
    done = run("evaluate", "p.npz", "--truth", "t.npz", "--min-annotators", "7")
    assert done.code == 2
    assert "--min-annotators must leave some points, got 7: no point of t.npz" in done.err


def test_a_rule_is_compared_with_answers_of_the_truth(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(3), 90)
    probs, counts = np.stack([rng.dirichlet(9 * q + 0.3, 3) for q in p]), rng.multinomial(8, p)
    ids = [f"x{i}" for i in range(90)]
    np.savez("cal.npz", probs=probs[:60], ids=ids[:60])
    np.savez("new.npz", probs=probs[60:], ids=ids[60:])
    np.savez("t.npz", counts=counts, ids=ids)
    options = ["--truth", "t.npz", "--loss", "zero_one", "--risk-max", "0.2", "--format", "json"]
    done = run("rule", "fit", "cal.npz", *options, "--compare", "new.npz")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["comparison"]
    everything = next(row for row in rows if row["name"] == "accept all")
    new = rue.evaluate(rue.Annotations(counts[60:]), rue.Draws(probs[60:]), loss="zero_one")
    assert everything["risk"] == pytest.approx(new.risk, rel=1e-12)


def test_shares_have_no_bracket_beside_the_note_that_there_is_none(world, run):
    ids, _, probs = world
    shares = [{"id": i, "a": 0.25, "b": 0.25, "c": 0.5} for i in ids]
    beliefs = [{"id": i, **dict(zip("abc", p.tolist(), strict=True))}
               for i, p in zip(ids, probs, strict=True)]  # fmt: skip
    files = [write(beliefs, "p", "csv"), "--truth", write(shares, "t", "csv")]
    done = run("evaluate", *files, "--quick", "--no-gap", "--columns", "aurec")
    assert "there is no bracket" in done.out
    assert "[" not in done.out

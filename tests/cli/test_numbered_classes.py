"""Classes whose names are numbers: 10 comes after 2, and a column without a name has its number."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

N, K = 40, 12
NAMES = [str(k) for k in range(K)]
TURNED = np.random.default_rng(7).permutation(K)


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(9, np.ones(K) / K, N)
    probs, ids = rng.dirichlet(np.ones(K), (N, 3)), np.array([f"p{i}" for i in range(N)])
    np.savez("whole.npz", probs=probs, ids=ids, classes=NAMES, counts=counts)
    np.savez("bare.npz", probs=probs, ids=ids)
    np.savez("named.npz", probs=probs, ids=ids, classes=NAMES)
    np.savez("counts.npz", counts=counts, ids=ids)
    answers = [
        {"id": ids[i], "annotator": f"a{j}", "label": int(k)}
        for i in range(N)
        for j, k in enumerate(np.repeat(np.arange(K), counts[i]))
    ]
    _lines("answers.jsonl", answers)
    pd.DataFrame(answers).astype({"label": str}).to_parquet("answers.parquet")
    of = [{"id": ids[i], "counts": {NAMES[k]: int(counts[i, k]) for k in TURNED}} for i in range(N)]
    _lines("objects.jsonl", of)
    long = [
        {"id": ids[i], "draw": d, "class": int(k), "prob": probs[i, d, k]}
        for i in range(N)
        for d in range(3)
        for k in TURNED
    ]
    pd.DataFrame(long).to_csv("long.csv", index=False)
    turned = pd.DataFrame(counts, columns=NAMES).iloc[:, TURNED]
    turned.insert(0, "id", ids)
    turned.to_csv("turned.csv", index=False)
    mean = pd.DataFrame(probs[:, 0], columns=NAMES)
    mean.insert(0, "id", ids)
    mean.to_csv("wide.csv", index=False)
    np.savez("first.npz", probs=probs[:, 0], ids=ids, counts=counts)
    labels = np.array([[rng.choice(K, p=p) for _ in range(30)] for p in probs[:, 0]])
    labels[0, :K] = np.arange(K)  # every class occurs
    np.savez("sampled.npz", sampled_labels=labels, ids=ids, counts=counts)
    np.savez("words.npz", sampled_labels=labels.astype(str), ids=ids)


def _lines(path, records):
    Path(path).write_text("".join(json.dumps(record) + "\n" for record in records))


def _row(run, *arguments):
    done = run("evaluate", *arguments, "--no-gap", "--format", "json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)
    return row


@pytest.mark.parametrize("loss", ["log", "squared"])
@pytest.mark.parametrize(
    ("truth", "files"),
    [
        ("answers.jsonl", ("bare.npz", "named.npz")),
        ("answers.parquet", ("bare.npz", "named.npz")),
        ("objects.jsonl", ("bare.npz", "named.npz", "long.csv")),
        ("counts.npz", ("long.csv",)),
    ],
)
def test_numbers_are_classes_in_the_order_of_their_values(world, run, truth, files, loss):
    whole = _row(run, "whole.npz", "--loss", loss)
    for file in files:
        found = _row(run, file, "--truth", truth, "--loss", loss)
        assert found["aurec"] == pytest.approx(whole["aurec"], rel=1e-12), file
        assert found["notes"] == whole["notes"]


def test_columns_without_names_have_their_numbers(world, run):
    whole = _row(run, "first.npz")
    found = _row(run, "wide.csv", "--truth", "turned.csv")
    assert found["risk"] == pytest.approx(whole["risk"], rel=1e-12)


def test_sampled_labels_that_are_numbers_as_text(world, run):
    whole = _row(run, "sampled.npz", "--loss", "squared")
    for truth in ("counts.npz", "objects.jsonl"):
        found = _row(run, "words.npz", "--truth", truth, "--loss", "squared")
        assert found["risk"] == pytest.approx(whole["risk"], rel=1e-12)


def test_numbers_in_another_order_are_their_own_scale(world, run):
    whole = _row(run, "whole.npz", "--loss", "squared")
    for more in ((), ("--classes", ",".join(NAMES))):
        row = _row(run, "named.npz", "--truth", "turned.csv", "--loss", "squared", *more)
        assert row["aurec"] == pytest.approx(whole["aurec"], rel=1e-12)


@pytest.mark.parametrize("kind", ["npz", "npy"])
def test_labels_that_are_numbers_are_names_of_classes(world, run, kind):
    rng = np.random.default_rng(1)
    probs, ids = rng.dirichlet(np.ones(K), N), np.array([f"p{i}" for i in range(N)])
    labels = probs.argmax(axis=1)
    np.savez("turned.npz", probs=probs[:, TURNED], ids=ids, classes=np.array(NAMES)[TURNED])
    np.savez("labels.npz", labels=labels, ids=ids)
    np.save("labels.npy", labels)
    how = ("--by-position",) if kind == "npy" else ()
    done = run("proxies", "turned.npz", "--labels", f"labels.{kind}", *how, "--format", "json")
    assert json.loads(done.out)["rows"][0]["auac_labels"] == 1
    np.savez("from1.npz", probs=probs, ids=ids, classes=[str(k + 1) for k in range(K)])
    np.savez("labels.npz", labels=labels + 1, ids=ids)
    done = run("proxies", "from1.npz", "--labels", "labels.npz", "--format", "json")
    assert json.loads(done.out)["rows"][0]["auac_labels"] == 1
    np.savez("labels.npz", labels=0 * labels, ids=ids)
    done = run("proxies", "from1.npz", "--labels", "labels.npz")
    assert "labels must be of the classes 1, 2, 3, 4, 5, 6, 7, 8, ..., got 0 at row 0" in done.err


@pytest.mark.parametrize("loss", ["squared", "rps", "pinball:0.8"])
def test_values_are_of_the_sorted_numbers_in_whichever_order_columns_stand(world, run, loss):
    wide = pd.read_csv("wide.csv")
    wide[["id", *reversed(NAMES)]].to_csv("reversed.csv", index=False)
    scale = ["--loss", loss, "--values", ",".join(str(k * k) for k in range(K))]
    first, second = (
        _row(run, name, "--truth", "answers.parquet", *scale)
        for name in ("wide.csv", "reversed.csv")
    )
    for key in ("aurec", "aurc", "regret"):
        assert second[key] == pytest.approx(first[key], rel=1e-12)

"""What a file holds and rue does not use, or uses in place of something else, is in a note."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

N = 12
CLASSES = ["low", "medium", "high"]
IDS = [f"q{i}" for i in range(N)]


@pytest.fixture
def world(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.ones(3), (N, 4))
    counts = rng.multinomial(7, np.ones(3) / 3, N)
    monkeypatch.chdir(tmp_path)
    np.savez("p.npz", probs=probs, ids=IDS, classes=CLASSES)
    np.savez("t.npz", counts=counts, ids=IDS, classes=CLASSES)
    return probs, counts


def notes(run, *arguments, command="evaluate"):
    done = run(command, *arguments, "--no-gap", "--quick", "--format", "json")
    assert done.code == 0, done.err
    return [note for row in json.loads(done.out) for note in row["notes"]]


def with_extra(name, probs):
    """Write predictions with a score under a wrong name and a column of topics."""
    score, topic = np.linspace(0, 1, N), np.array(list("ab") * (N // 2))
    if name == "p.npz":
        np.savez(name, probs=probs[:, 0], ids=IDS, classes=CLASSES, uncertainty=score, topic=topic)
    elif name == "p.jsonl":
        lines = [
            {"id": i, "probs": dict(zip(CLASSES, p.tolist(), strict=True))}
            | {"uncertainty": s, "topic": t}
            for i, p, s, t in zip(IDS, probs[:, 0], score, topic, strict=True)
        ]
        with Path(name).open("w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    else:
        table = pd.DataFrame(
            [
                (i, c, p[k], s, t)
                for i, p, s, t in zip(IDS, probs[:, 0], score, topic, strict=True)
                for k, c in enumerate(CLASSES)
            ],
            columns=["id", "class", "prob", "uncertainty", "topic"],
        )
        writer = table.to_parquet if name.endswith(".parquet") else table.to_csv
        writer(name, index=False)


@pytest.mark.parametrize("name", ["p.npz", "p.jsonl", "p.csv", "p.parquet"])
def test_a_misnamed_score_is_named_in_a_note(world, run, name):
    with_extra(name, world[0])
    wanted = (
        f"{name}: uncertainty, topic were not used; a score of epistemic uncertainty must be "
        "called epistemic"
    )
    assert wanted in notes(run, name, "--truth", "t.npz")
    if name in ("p.npz", "p.jsonl"):
        assert any(
            note.startswith(f"{name}: uncertainty was not used")
            for note in notes(run, name, "--truth", "t.npz", "--by", "topic")
        )


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_columns_of_answers_that_are_not_used_are_named(world, run, suffix):
    table = pd.DataFrame(world[1], columns=CLASSES).assign(id=IDS, year=1999, text="x")
    table["doc"] = ["a", "b"] * (N // 2)
    match suffix:
        case "csv":
            table.to_csv("t.csv", index=False)
        case "parquet":
            table.to_parquet("t.parquet")
        case "jsonl":
            table.to_json("t.jsonl", orient="records", lines=True)
    truth = f"t.{suffix}"
    assert f"{truth}: year, text, doc were not used" in notes(run, "p.npz", "--truth", truth)
    grouped = notes(run, "p.npz", "--truth", truth, "--by", "doc")
    assert f"{truth}: year, text were not used" in grouped


def test_nothing_is_said_where_everything_is_used(world, run):
    assert not any("not used" in note for note in notes(run, "p.npz", "--truth", "t.npz"))


def test_identical_members_are_noted(world, run):
    probs, _ = world
    for j, draw in enumerate((0, 1, 0)):
        np.savez(f"m{j}.npz", probs=probs[:, draw], ids=IDS, classes=CLASSES)
    wanted = "m0.npz and 2 more: predictions of m2.npz and m0.npz are identical"
    assert wanted in notes(run, "e=m0.npz,m1.npz,m2.npz", "--truth", "t.npz")
    np.savez("s.npz", probs=probs[:, [0, 1, 0]], ids=IDS, classes=CLASSES)
    wanted = "s.npz: predictions of draw 3 and draw 1 are identical"
    assert wanted in notes(run, "s.npz", "--truth", "t.npz")
    assert not any("identical" in note for note in notes(run, "p.npz", "--truth", "t.npz"))


@pytest.mark.parametrize("order", [1, -1], ids=["same order", "other order"])
def test_one_method_under_two_names_is_noted(world, run, order):
    probs, _ = world
    turned = {"ids": IDS[::order], "classes": CLASSES[::order]}
    np.savez("copy.npz", probs=probs[::order, :, ::order], **turned)
    found = notes(run, "p.npz", "copy.npz", "--truth", "t.npz")
    assert "copy.npz: its predictions are identical to those of p.npz" in found
    np.savez("copy.npz", probs=probs[::-order, :, ::order], **turned)
    assert not any("identical" in n for n in notes(run, "p.npz", "copy.npz", "--truth", "t.npz"))


def test_answers_that_a_truth_overrides_are_noted(world, run):
    probs, counts = world
    np.savez("own.npz", probs=probs, counts=counts[::-1], ids=IDS, classes=CLASSES)
    wanted = "own.npz: its own answers differ from t.npz and were not used"
    assert wanted in notes(run, "own.npz", "--truth", "t.npz")
    order = {"ids": IDS[::-1], "classes": CLASSES[::-1]}
    np.savez("turned.npz", counts=counts[::-1, ::-1], **order)
    np.savez("own.npz", probs=probs, counts=counts, ids=IDS, classes=CLASSES)
    assert not any("its own" in note for note in notes(run, "own.npz", "--truth", "turned.npz"))

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


def percentages(name, counts):
    """Write counts as percentages, whole numbers that sum to 100."""
    shares = np.floor(100 * counts / counts.sum(axis=1, keepdims=True)).astype(int)
    shares[:, 0] += 100 - shares.sum(axis=1)
    table = pd.DataFrame(shares, columns=CLASSES).assign(id=IDS)
    match name:
        case "pct.npz":
            np.savez(name, counts=shares, ids=IDS, classes=CLASSES)
        case "pct.parquet":
            table.to_parquet(name)
        case "pct.jsonl":
            rows = zip(IDS, shares.tolist(), strict=True)
            lines = [{"id": i, "counts": dict(zip(CLASSES, s, strict=True))} for i, s in rows]
            Path(name).write_text("\n".join(map(json.dumps, lines)))
        case _:
            table.to_csv(name, index=False, sep="\t" if name.endswith("tsv") else ",")


@pytest.mark.parametrize("name", ["pct.csv", "pct.tsv", "pct.npz", "pct.parquet", "pct.jsonl"])
def test_percentages_are_not_100_answers_without_a_word(world, run, name):
    percentages(name, world[1])
    words = "all counts of a point sum to 100: if they are percentages"
    call = ("p.npz", "--truth", name)
    assert any(words in note for note in notes(run, *call))
    plain, scaled, exact = (
        json.loads(run("evaluate", *c, "--no-gap", "--quick", "--format", "json").out)[0]
        for c in (("p.npz", "--truth", "t.npz"), (*call, "--n-answers", "7"), (*call, "--shares"))
    )
    for key in ("risk", "aurec", "aurec_low", "aurec_high"):  # 7 answers, as there were
        assert scaled[key] == pytest.approx(plain[key], rel=1e-12), key
    assert any("scaled to 7 answers per point" in note for note in scaled["notes"])
    assert exact["aurec_low"] is None or exact["aurec_low"] == exact["aurec"]
    assert exact["risk"] == pytest.approx(plain["risk"], abs=0.02)
    assert any("p* is exact and there is no bracket" in note for note in exact["notes"])
    done = run("evaluate", *call, "--shares", "--n-answers", "7")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_counts_with_a_common_divisor_are_noted(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    counts = rng.multinomial(5, np.ones(3) / 3, 30)
    probs = rng.dirichlet(np.ones(3), 30)
    np.savez("p.npz", probs=probs, counts=20 * counts + 0)
    assert any("sum to 100" in note for note in notes(run, "p.npz"))
    np.savez("p.npz", probs=probs, counts=3 * counts)
    assert any("all counts are multiples of 3" in note for note in notes(run, "p.npz"))
    np.savez("p.npz", probs=probs, counts=counts)
    assert not any("counts" in note for note in notes(run, "p.npz"))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "npz"])
def test_probabilities_that_do_not_sum_to_1_have_a_way_out(world, run, suffix):
    probs = 100 * world[0][:, 0]
    table = pd.DataFrame(probs, columns=CLASSES).assign(id=IDS)
    name = f"pct.{suffix}"
    match suffix:
        case "npz":
            np.savez(name, probs=probs, ids=IDS, classes=CLASSES)
        case "parquet":
            table.to_parquet(name)
        case "jsonl":
            table.to_json(name, orient="records", lines=True, double_precision=15)
        case _:
            table.to_csv(name, index=False, sep="," if suffix == "csv" else "\t")
    np.savez("one.npz", probs=world[0][:, 0], ids=IDS, classes=CLASSES)
    done = run("evaluate", name, "--truth", "t.npz")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--normalize divides" in done.err
    more = ("--truth", "t.npz", "--no-gap", "--quick", "--format", "json")
    row, wanted = (
        json.loads(run("evaluate", *c, *more).out)[0] for c in ((name, "--normalize"), ("one.npz",))
    )
    assert row["risk"] == pytest.approx(wanted["risk"], rel=1e-12)
    assert any("were divided by their sums, 100" in n for n in row["notes"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_answers_group_and_show_their_points(world, run, suffix):
    """Every column of a table of answers that is the same for a point groups and clusters."""
    rows = [
        (i, CLASSES[k], "ab"[n % 3 == 0])
        for n, (i, row) in enumerate(zip(IDS, world[1], strict=True))
        for k in np.repeat(np.arange(3), row)
    ]
    table = pd.DataFrame(rows, columns=["id", "label", "doc"])
    writer = table.to_csv if suffix == "csv" else table.to_parquet
    writer(f"long.{suffix}", index=False)
    out = run("evaluate", "p.npz", "--truth", f"long.{suffix}", "--by", "doc", "--no-gap").out
    assert [line.split()[:4] for line in out.splitlines() if line.startswith("p ")] == [
        ["p", "log", "a", "8"],
        ["p", "log", "b", "4"],
    ]
    more = ("--cluster", "doc", "--ci", "0.9", "--replicates", "20")
    assert run("evaluate", "p.npz", "--truth", f"long.{suffix}", *more, "--no-gap").code == 0


def test_rounded_percentages_and_rounded_answers_are_noted(run, tmp_path):
    """Seven answers as rounded percentages sum to 99 to 101; 3 answers cannot be 7 answers."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(7, [0.5, 0.3, 0.2], 30)
    percentages = np.rint(100 * counts / 7).astype(int)
    assert (percentages.sum(axis=1) != 100).any()
    np.savez(tmp_path / "p.npz", probs=rng.dirichlet(np.ones(3), 30), counts=percentages)
    result = run("evaluate", tmp_path / "p.npz", "--no-gap", "--format", "json")
    assert "sum to about 100: if they are percentages" in result.out
    result = run("evaluate", tmp_path / "p.npz", "--no-gap", "--n-answers", 3, "--format", "json")
    assert "scaled to 3 answers per point and rounded by up to 0." in result.out
    result = run("evaluate", tmp_path / "p.npz", "--no-gap", "--n-answers", 7, "--format", "json")
    assert "rounded by" not in result.out

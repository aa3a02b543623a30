"""Any real prediction file in, matched by name or refused: as a new user would type it."""

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import rue

N, K = 60, 3
CLASSES = ("yes", "no", "maybe")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Predictions and counts of one world; every test writes them in its own format."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(K), N)
    probs = np.stack([rng.dirichlet(20 * row + 0.3, 4) for row in p])
    counts = rng.multinomial(12, p)
    monkeypatch.chdir(tmp_path)
    return [f"q{i}" for i in range(N)], probs, counts


@pytest.fixture
def aurec(world):
    """What every way in must give."""
    _, probs, counts = world
    return rue.evaluate(rue.Annotations(counts), rue.Draws(probs), gap=False).aurec


@pytest.fixture
def rows(run):
    def call(*arguments):
        done = run("evaluate", "--no-gap", "--format", "json", *arguments)
        assert done.code == 0, done.err
        return json.loads(done.out)

    return call


def shuffled(n=N, seed=1):
    return np.random.default_rng(seed).permutation(n)


def write_counts(ids, counts, name="truth.csv", column="uid", order=(0, 1, 2)):
    with Path(name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column, *(CLASSES[k] for k in order)])
        for i in shuffled():
            writer.writerow([ids[i], *(counts[i][k] for k in order)])


def write_lines(records, name):
    with Path(name).open("w") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("column", ["id", "ids", "uid", "item", "item_id", "UID"])
def test_rows_are_matched_by_any_usual_name(world, rows, aurec, column):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, ids=ids, classes=CLASSES)
    write_counts(ids, counts, column=column)
    assert rows("p.npz", "--truth", "truth.csv")[0]["aurec"] == pytest.approx(aurec, abs=1e-12)


def test_an_unusual_name_is_given(world, rows, run, aurec):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, key=ids, classes=CLASSES)
    write_counts(ids, counts, column="key")
    found = rows("p.npz", "--truth", "truth.csv", "--id", "key")
    assert found[0]["aurec"] == pytest.approx(aurec, abs=1e-12)


def test_ids_on_one_side_only_are_refused(world, run, rows):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, ids=ids)
    np.save("t.npy", counts)
    done = run("evaluate", "p.npz", "--truth", "t.npy")
    assert done.code == 2
    assert "t.npy has no ids but p.npz has" in done.err
    assert "--by-position" in done.err
    assert rows("p.npz", "--truth", "t.npy", "--by-position")[0]["n_points"] == N


def test_missing_ids_name_the_way_out(world, run, rows):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs[:50], ids=ids[:50])
    np.savez("t.npz", counts=counts[10:], ids=ids[10:])
    done = run("evaluate", "p.npz", "--truth", "t.npz")
    assert done.code == 2
    assert "lacks 10 of the ids in p.npz, first 'q0' (its own are like 'q10')" in done.err
    assert "; --common keeps the 40 of 50" in done.err
    (row,) = rows("p.npz", "--truth", "t.npz", "--common")
    both = slice(10, 50)
    want = rue.evaluate(rue.Annotations(counts[both]), rue.Draws(probs[both]), gap=False)
    assert row["n_points"] == 40
    assert row["aurec"] == pytest.approx(want.aurec, abs=1e-12)
    assert any("kept 40 points and dropped 10 of the 50" in note for note in row["notes"])


def test_classes_are_matched_by_name(world, rows, run, aurec):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, ids=ids, classes=CLASSES)
    write_counts(ids, counts, order=(2, 0, 1))
    assert rows("p.npz", "--truth", "truth.csv")[0]["aurec"] == pytest.approx(aurec, abs=1e-12)
    np.savez("q.npz", probs=probs, ids=ids, classes=["yes", "no", "never"])
    done = run("evaluate", "q.npz", "--truth", "truth.csv")
    assert done.code == 2
    assert "q.npz lacks the class 'maybe', which somebody chose in truth.csv" in done.err


def test_classes_without_names_are_ordered_by_the_user_and_else_noted(world, rows, aurec):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs[..., [1, 2, 0]], ids=ids)
    write_counts(ids, counts)
    (row,) = rows("p.npz", "--truth", "truth.csv", "--classes", "no,maybe,yes")
    assert row["aurec"] == pytest.approx(aurec, abs=1e-12)
    (row,) = rows("p.npz", "--truth", "truth.csv")
    assert row["aurec"] != pytest.approx(aurec, abs=1e-6)
    assert any("p.npz does not name its classes" in note for note in row["notes"])


@pytest.mark.parametrize("kind", ["list", "object"])
def test_json_lines_whatever_the_file_is_called(world, rows, aurec, kind):
    ids, probs, counts = world
    records = [
        {"id": ids[i], "draw": d, "probs": _as(kind, probs[i, d])}
        for d in range(4)
        for i in shuffled(seed=d)
    ]
    write_lines(records, "model.json")
    write_lines([{"item": ids[i], "counts": _as(kind, counts[i])} for i in range(N)], "truth.txt")
    (row,) = rows("model.json", "--truth", "truth.txt")
    assert row["aurec"] == pytest.approx(aurec, abs=1e-12)
    assert row["method"] == "model"


def _as(kind, numbers):
    values = [float(x) for x in numbers]
    return values if kind == "list" else dict(zip(CLASSES, values, strict=True))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_long_and_wide_tables(world, rows, aurec, suffix):
    import pandas as pd

    ids, probs, counts = world
    long = pd.DataFrame(
        [
            {"uid": ids[i], "draw": d, "class": CLASSES[k], "prob": probs[i, d, k]}
            for i in range(N)
            for d in range(4)
            for k in range(K)
        ]
    ).sample(frac=1, random_state=0)
    wide = pd.DataFrame(
        [
            {"uid": ids[i], "draw": d} | dict(zip(CLASSES, probs[i, d], strict=True))
            for i in shuffled()
            for d in range(4)
        ]
    )
    answers = pd.DataFrame(
        [
            {"item_id": ids[i], "annotator": f"a{n}", "label": label}
            for i in shuffled(seed=5)
            for n, label in enumerate(np.repeat(CLASSES, counts[i]))
        ]
    )
    for name, frame in (("long", long), ("wide", wide), ("answers", answers)):
        file = f"{name}.{suffix}"
        frame.to_csv(file, index=False) if suffix == "csv" else frame.to_parquet(file)
    for name in ("long", "wide"):
        (row,) = rows(f"{name}.{suffix}", "--truth", f"answers.{suffix}")
        assert row["aurec"] == pytest.approx(aurec, abs=1e-9)


def test_members_in_files_of_their_own(world, rows, run, aurec):
    ids, probs, counts = world
    for d in range(4):
        for part, keep in (("dev", slice(0, 25)), ("test", slice(25, N))):
            order = np.arange(N)[keep][::-1] if d % 2 else np.arange(N)[keep]
            np.savez(
                f"{part}_{d}.npz",
                probs=probs[order, d],
                ids=[ids[i] for i in order],
                classes=CLASSES,
            )
    write_counts(ids, counts)
    (row,) = rows("net=*_?.npz", "--truth", "truth.csv")
    assert (row["method"], row["n_points"]) == ("net", N)
    assert row["aurec"] == pytest.approx(aurec, abs=1e-12)
    (row,) = rows(
        "net=" + ",".join(f"dev_{d}.npz" for d in range(4)), "--truth", "truth.csv", "--common"
    )
    assert row["n_points"] == 25
    done = run("evaluate", "net=dev_0.npz,test_0.npz,dev_1.npz", "--truth", "truth.csv")
    assert done.code == 2
    assert (
        "same number of draws, got 2 about those of dev_0.npz, 1 about those of test_0.npz"
        in done.err
    )
    np.savez("odd.npz", probs=probs[20:30, 0], ids=ids[20:30], classes=CLASSES)
    done = run("evaluate", "net=dev_0.npz,odd.npz", "--truth", "truth.csv")
    assert "shares some of its ids with dev_0.npz" in done.err
    done = run("evaluate", "net=nothing_*.npz", "--truth", "truth.csv")
    assert "no file matches 'nothing_*.npz'" in done.err


def test_sampled_labels(world, rows):
    ids, _, counts = world
    rng = np.random.default_rng(0)
    labels = rng.choice(["yes", "no"], (N, 2, 20))  # maybe was never sampled
    np.savez("llm.npz", sampled_labels=labels, ids=ids)
    write_lines(
        [{"id": ids[i], "sampled_labels": labels[i].tolist()} for i in range(N)], "llm.jsonl"
    )
    write_counts(ids, counts)
    shares = np.stack([(labels == name).mean(axis=2) for name in CLASSES], axis=2)
    want = rue.evaluate(rue.Annotations(counts), rue.Draws(shares), gap=False).aurec
    for file in ("llm.npz", "llm.jsonl"):
        assert rows(file, "--truth", "truth.csv")[0]["aurec"] == pytest.approx(want, abs=1e-12)


def test_one_hot_draws_are_noted(world, rows):
    _, _, counts = world
    rng = np.random.default_rng(0)
    np.savez("p.npz", probs=np.eye(K)[rng.integers(0, K, (N, 5))], counts=counts)
    assert any("sampled_labels" in note for note in rows("p.npz")[0]["notes"])


def test_a_method_named_in_the_file(world, rows):
    _, probs, counts = world
    np.savez("a.npz", probs=probs, counts=counts, method="ensemble")
    np.savez("b.npz", probs=probs, counts=counts)
    assert [row["method"] for row in rows("a.npz", "b.npz")] == ["ensemble", "b"]
    shutil.copy("a.npz", "c.npz")
    assert [row["method"] for row in rows("a.npz", "c.npz")] == ["a", "c"]


def test_probs_win_over_logits(world, rows, aurec):
    _, probs, counts = world
    np.savez("p.npz", probs=probs, logits=np.zeros_like(probs), counts=counts)
    assert rows("p.npz")[0]["aurec"] == pytest.approx(aurec, abs=1e-12)


def test_draws_first_blames_the_axes(world, run):
    ids, probs, counts = world
    turned = probs.swapaxes(0, 1)
    np.savez("p.npz", probs=turned, ids=ids)
    np.savez("q.npz", probs=turned)
    np.savez("t.npz", counts=counts, ids=ids)
    np.save("t.npy", counts)
    for file, truth in (("p.npz", "t.npz"), ("q.npz", "t.npy")):
        done = run("evaluate", file, "--truth", truth)
        assert done.code == 2
        assert "probs.swapaxes(0, 1)" in done.err


def test_object_ids_say_how_to_save_them(world, run):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, counts=counts, ids=np.array(ids, dtype=object))
    done = run("evaluate", "p.npz")
    assert done.code == 2
    assert "ids" in done.err
    assert "astype(str)" in done.err


def test_points_without_answers(world, run):
    ids, probs, counts = world
    counts[[4, 9]] = 0
    np.savez("p.npz", probs=probs, ids=ids)
    np.savez("t.npz", counts=counts, ids=ids)
    done = run("evaluate", "p.npz", "--truth", "t.npz")
    assert done.code == 2
    assert "2 of 60 have none, first 'q4'" in done.err


def test_shares_are_said_to_be_exact(world, rows):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, ids=ids)
    np.savez("t.npz", counts=counts / 12, ids=ids)
    assert any(
        "p* is taken as exact" in note for note in rows("p.npz", "--truth", "t.npz")[0]["notes"]
    )


def test_squared_loss_without_values_says_its_scale(world, rows):
    _, probs, counts = world
    np.savez("p.npz", probs=probs, counts=counts)
    (row,) = rows("p.npz", "--loss", "squared")
    assert any("count as 0, 1, 2 under" in note for note in row["notes"])
    (row,) = rows("p.npz", "--loss", "squared", "--values", "0", "1", "2")
    assert not any("count as" in note for note in row["notes"])


def test_shuffling_a_table_of_components_changes_no_p_value(world, run):
    import pandas as pd

    ids, probs, counts = world
    truth = rue.Annotations(counts)
    for name, belief in (("a", rue.Draws(probs)), ("b", rue.Draws(probs[:, :2]))):
        star, hat = rue.realize(truth, belief), rue.decompose(belief)
        pd.DataFrame(
            {
                "uid": ids,
                "aleatoric": hat.aleatoric,
                "epistemic": hat.epistemic,
                "risk": star.total,
                "regret": star.epistemic,
            }
        ).to_csv(f"{name}.csv", index=False)
    more = ["--criterion", "aurec", "--replicates", "200", "--format", "json"]
    plain = json.loads(run("compare", "a.csv", "b.csv", *more).out)
    pd.read_csv("b.csv").sample(frac=1, random_state=1).to_csv("b.csv", index=False)
    mixed = json.loads(run("compare", "a.csv", "b.csv", *more).out)
    one, other = (x[0]["criteria"]["aurec"]["differences"][0]["p_value"] for x in (plain, mixed))
    assert one == pytest.approx(other)
    pd.read_csv("b.csv").drop(columns="uid").to_csv("b.csv", index=False)
    assert "b.csv has no ids but a.csv has" in run("compare", "a.csv", "b.csv", *more).err


def test_a_table_of_components_keeps_its_own_loss(world, run):
    import pandas as pd

    table = {"aleatoric": [0.1, 0.2], "epistemic": [0.0, 0.1], "risk": [0.3, 0.4]}
    pd.DataFrame(table | {"regret": [0.1, 0.0], "loss": "brier"}).to_csv("c.csv", index=False)
    done = run("evaluate", "c.csv", "--no-gap", "--format", "json")
    assert json.loads(done.out)[0]["loss"] == "brier"
    assert "cannot be zero_one" in run("evaluate", "c.csv", "--loss", "zero_one").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["p.npz", "--truth", "no-such-set"], "no such file or data set"),
        (["p.npz", "--truth", "letter"], "letter (has one label per point|needs )"),
        (["p.npz", "--classes", "a,b"], "has 3 columns, and 2 classes are named"),
        (["p.npz", "--classes", "a,a,b"], "two or more different names"),
        (["p.npz", "--common", "--by-position"], "cannot be matched by position"),
        (["p.npz", "--id", "who"], "no column 'who'"),
        (["a=p.npz", "a=q.npz"], "got 'a' twice"),
        (["a=p.npz,p.npz"], "names a file twice"),
        (["gone.jsonl"], "no such file"),
        (["gone.txt"], "no such file"),
    ],
)
def test_broken_calls_are_one_line(world, run, arguments, words):
    _, probs, counts = world
    np.savez("p.npz", probs=probs, counts=counts)
    np.savez("q.npz", probs=probs, counts=counts)
    done = run("evaluate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.strip().splitlines()) == 1
    assert re.search(words, done.err), done.err


def test_values_for_reordered_classes_name_the_order(world, rows, run):
    """Values are those of the order that is resolved; two files that state two need --classes."""
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, ids=ids, classes=CLASSES)
    write_counts(ids, counts, order=(2, 0, 1))
    call = ("p.npz", "--truth", "truth.csv", "--loss", "squared", "--values", "0", "1", "5")
    done = run("evaluate", *call)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "needs one order of the classes, got maybe, yes, no and yes, no, maybe" in done.err
    (row,) = rows(*call, "--classes", "maybe,yes,no")
    assert row["notes"][0] == "classes count as maybe = 0, yes = 1, no = 5 under squared"
    truth = rue.Annotations(counts[:, [2, 0, 1]], values=[0.0, 1.0, 5.0])
    want = rue.evaluate(truth, rue.Draws(probs[..., [2, 0, 1]]), loss="squared", gap=False)
    assert row["aurec"] == pytest.approx(want.aurec, abs=1e-12)

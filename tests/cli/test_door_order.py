"""Classes in other orders, members of one method, and notes: in every command that reads files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rue
from rue.errors import InputError

N, K = 60, 3
CLASSES = np.array(["dog", "cat", "horse"])
TURNED = [2, 0, 1]
COSTS = [[0, 5, 1], [1, 0, 1], [9, 1, 0]]


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Predictions and counts in two orders of the classes, and the costs of the first order."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(K), N)
    probs = np.stack([rng.dirichlet(4 * row + 0.3, 4) for row in p])
    counts, ids = rng.multinomial(12, p), np.array([f"q{i}" for i in range(N)])
    monkeypatch.chdir(tmp_path)
    np.savetxt("cost.csv", COSTS, delimiter=",")
    np.savez("p.npz", probs=probs, ids=ids, classes=CLASSES)
    np.savez("bare.npz", probs=probs, ids=ids)
    np.savez("t.npz", counts=counts, ids=ids, classes=CLASSES)
    np.savez("turned.npz", counts=counts[:, TURNED], ids=ids, classes=CLASSES[TURNED])
    return ids, probs, counts


def found(run, *arguments):
    done = run(*arguments, "--format", "json")
    assert done.code in (0, 1), done.err
    return json.loads(done.out)


@pytest.mark.parametrize(
    "loss", [("cost", "--cost", "cost.csv"), ("squared", "--values", "0,1,10")], ids=["cost", "v"]
)
def test_a_rule_keeps_its_order_of_the_classes(world, run, loss):
    """Costs and values are those of the rule's classes, whatever the order in the answers."""
    run(
        *("rule", "fit", "p.npz", "--truth", "t.npz", "--loss", *loss),
        *("--regret-max", "0.4", "--save", "r.json"),
    )
    wanted = found(run, "rule", "apply", "r.json", "p.npz", "--truth", "t.npz")
    assert found(run, "rule", "apply", "r.json", "p.npz", "--truth", "turned.npz") == wanted


def test_costs_belong_to_one_order_for_all_methods(world, run):
    """Files with answers of their own, in different orders of the same classes."""
    ids, probs, counts = world
    np.savez("a.npz", probs=probs, counts=counts, ids=ids, classes=CLASSES)
    np.savez(
        "b.npz",
        probs=probs[..., TURNED],
        counts=counts[:, TURNED],
        ids=ids,
        classes=CLASSES[TURNED],
    )
    call = ("evaluate", "a.npz", "b.npz", "--loss", "cost", "--cost", "cost.csv", "--no-gap")
    done = run(*call)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "needs one order of the classes, got dog, cat, horse and horse, dog, cat" in done.err
    rows = found(run, *call, "--classes", ",".join(CLASSES))
    assert rows[0]["risk"] == pytest.approx(rows[1]["risk"], rel=1e-12)
    assert run("compare", "a.npz", "b.npz", "--replicates", "20").code == 0


@pytest.mark.parametrize("side", ["predictions", "truth"])
def test_rules_are_fitted_by_position_where_the_user_says_so(world, run, side):
    ids, probs, counts = world
    np.savez("p.npz", probs=probs, **({"ids": ids} if side == "predictions" else {}))
    np.savez("t.npz", counts=counts, **({"ids": ids} if side == "truth" else {}))
    arguments = ("rule", "fit", "p.npz", "--truth", "t.npz", "--regret-max", "0.2")
    assert "--by-position" in run(*arguments).err
    assert found(run, *arguments, "--by-position")["rule"]["calibration"]["n_points"] == N


FIT = ("rule", "fit", "{}", "--truth", "t.npz", "--regret-max", "0.2")
SELECT = ("select", "{}", "--truth", "t.npz", "--maximize", "coverage", "--regret-max", "0.2")
PLAN = ("plan", "{}", "--truth", "t.npz", "--annotators", "5")
COMPARE = ("compare", "p.npz", "{}", "--truth", "t.npz", "--replicates", "20")


@pytest.mark.parametrize("command", [FIT, SELECT, PLAN, COMPARE], ids=lambda c: c[0])
def test_notes_are_in_what_every_command_prints(world, run, command):
    words = "bare.npz does not name its classes"
    arguments = [word.format("bare.npz") for word in command]
    assert f"{words}" in run(*arguments).out
    assert words in json.dumps(found(run, *arguments))
    assert "note" not in run(*[word.format("p.npz") for word in FIT]).out


def test_points_that_common_drops_are_reported_by_rules(world, run):
    ids, probs, _ = world
    np.savez("some.npz", probs=probs[:50], ids=ids[:50], classes=CLASSES)
    out = run(*[word.format("some.npz") for word in FIT], "--common").out
    assert "kept 50 points and dropped 10 of the 60 points of t.npz" in out


def test_an_applied_rule_notes_what_was_taken_on_trust(world, run):
    run(*[word.format("p.npz") for word in FIT], "--save", "r.json")
    assert "taken as dog, cat, horse" in run("rule", "apply", "r.json", "bare.npz").out


@pytest.mark.parametrize("format", ["csv", "latex", "markdown"])
def test_notes_do_not_mix_with_other_formats(world, run, format):
    done = run("evaluate", "bare.npz", "--truth", "t.npz", "--no-gap", "--format", format)
    assert "note" not in done.out
    assert done.err.startswith("note: bare log: bare.npz does not name its classes")


@pytest.mark.parametrize("command", [FIT, SELECT], ids=lambda c: c[0])
def test_one_method_of_several_files_in_every_command(world, run, command):
    ids, probs, _ = world
    for j in range(4):
        rows = np.random.default_rng(j).permutation(N) if j else np.arange(N)
        np.savez(f"m{j}.npz", probs=probs[rows, j], ids=ids[rows], classes=CLASSES)
    np.savez("p.npz", probs=probs, ids=ids, classes=CLASSES, method="p")
    whole = found(run, *[word.format("p.npz") for word in command])
    assert found(run, *[word.format("p=m*.npz") for word in command]) == whole
    done = run(*[word.format("m*.npz") for word in command])
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "matches 4 files and this command takes one method; NAME=m*.npz" in done.err


def members(world, **other):
    """Write two members of a method, the second with some keys that differ."""
    ids, probs, counts = world
    for j, more in enumerate(({}, other)):
        keys = {"ids": ids, "classes": CLASSES, "counts": counts} | more
        kept = {key: value for key, value in keys.items() if value is not None}
        np.savez(f"m{j}.npz", probs=probs[:, j], **kept)


def test_members_that_do_not_all_name_their_classes_are_refused(world, run):
    members(world, classes=None)
    done = run("evaluate", "m=m0.npz,m1.npz", "--no-gap")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "m1.npz: does not name its classes but m0.npz does" in done.err
    assert "--classes" in done.err
    arguments = ("evaluate", "m=m0.npz,m1.npz", "--no-gap", "--classes", "dog,cat,horse")
    assert found(run, *arguments)[0]["n_points"] == N


def test_members_whose_answers_differ_are_refused(world, run):
    members(world, counts=world[2][::-1])
    done = run("evaluate", "m=m0.npz,m1.npz", "--no-gap")
    assert "m1.npz: the annotators' answers differ from m0.npz, first at row 0" in done.err


def test_members_whose_values_differ_are_refused(world, run):
    members(world, values=np.array([0.0, 1.0, 5.0]))
    done = run("evaluate", "m=m0.npz,m1.npz", "--no-gap")
    assert "m1.npz: its values differ from those of m0.npz" in done.err


def test_members_with_answers_of_their_own_in_other_orders(world, run):
    """The second member has other rows and other columns, and so have its answers."""
    ids, probs, counts = world
    rows = np.random.default_rng(0).permutation(N)
    members(world)
    np.savez(
        "m1.npz",
        probs=probs[rows, 1][:, TURNED],
        ids=ids[rows],
        classes=CLASSES[TURNED],
        counts=counts[rows][:, TURNED],
    )
    wanted = rue.evaluate(rue.Annotations(counts), rue.Draws(probs[:, :2]), gap=False).aurec
    (row,) = found(run, "evaluate", "m=m0.npz,m1.npz", "--no-gap")
    assert row["aurec"] == pytest.approx(wanted, rel=1e-9)


def test_parts_with_answers_of_their_own(world, run):
    ids, probs, counts = world
    for name, part in (("x", slice(0, 25)), ("y", slice(25, N))):
        np.savez(f"{name}.npz", probs=probs[part], ids=ids[part], counts=counts[part])
    wanted = rue.evaluate(rue.Annotations(counts), rue.Draws(probs), gap=False).aurec
    (row,) = found(run, "evaluate", "m=x.npz,y.npz", "--no-gap")
    assert (row["n_points"], row["aurec"]) == (N, pytest.approx(wanted, rel=1e-9))


def test_a_point_of_components_is_a_number_away():
    hat = rue.decompose(rue.Draws([[[0.5, 0.5], [0.9, 0.1]], [[0.2, 0.8], [0.3, 0.7]]]))
    assert len(hat[1]) == 1
    assert hat[-1].total == hat.total[1]
    with pytest.raises(InputError, match="from 0 to 1"):
        hat[2]


def test_a_row_without_a_label_is_no_class(world, run):
    """It counted as a class named nothing."""
    ids, _, _ = world
    lines = [f"{name},{a},{CLASSES[a % 2]}" for name in ids for a in (1, 2)]
    lines[2] = f"{ids[1]},1,"
    Path("answers.csv").write_text("\n".join(["id,annotator,label", *lines]))
    done = run("evaluate", "p.npz", "--truth", "answers.csv", "--no-gap")
    assert done.code == 2 or "answers.csv: 1 rows without an answer were left out" in done.out


def test_a_class_of_another_case_is_named(world, run):
    ids, _, counts = world
    answers = [f"{i},{c}" for i, n in zip(ids, counts, strict=True) for c in np.repeat(CLASSES, n)]
    Path("answers.csv").write_text("\n".join(["id,label", *answers[:-1], f"{ids[-1]},Cat"]))
    done = run("evaluate", "p.npz", "--truth", "answers.csv", "--no-gap")
    assert "lacks the class 'Cat', which somebody chose in answers.csv" in done.err


def test_names_in_bytes_are_names(world, run):
    ids, probs, _ = world
    np.savez("bytes.npz", probs=probs, ids=ids.astype("S"), classes=CLASSES.astype("S"))
    assert found(run, "evaluate", "bytes.npz", "--truth", "t.npz", "--no-gap")[0]["notes"] == []


@pytest.mark.parametrize("layout", ["header", "actions", "turned", "parquet", "semicolons"])
def test_costs_with_names_are_matched_by_name(world, run, layout):
    """The class names of a cost matrix decide, whatever the order of its columns and rows."""
    table = pd.DataFrame(np.array(COSTS, float), columns=CLASSES)
    match layout:
        case "header":
            table.to_csv("named.csv", index=False)
        case "actions":
            table.set_index(CLASSES).to_csv("named.csv")
        case "turned":
            table.set_index(CLASSES).iloc[TURNED, TURNED].to_csv("named.csv")
        case "parquet":
            table[CLASSES[TURNED]].to_parquet("named.parquet")
        case "semicolons":
            table[CLASSES[TURNED]].to_csv("named.csv", sep=";", decimal=",", index=False)
    file = "named.parquet" if layout == "parquet" else "named.csv"
    call = ("evaluate", "p.npz", "--truth", "turned.npz", "--no-gap", "--quick", "--loss", "cost")
    named = found(run, *call, "--cost", file)
    call = tuple("t.npz" if word == "turned.npz" else word for word in call)
    (wanted,), (row,) = found(run, *call, "--cost", "cost.csv"), named
    assert (row["risk"], row["aurec"]) == pytest.approx((wanted["risk"], wanted["aurec"]))


@pytest.mark.parametrize("first", ["0,1,2", "1,2,3"])
def test_a_first_line_of_numbers_above_costs_is_refused(world, run, first):
    rows = "\n".join(",".join(map(str, row)) for row in COSTS)
    Path("numbered.csv").write_text(f"{first}\n{rows}\n")
    done = run("evaluate", "p.npz", "--truth", "t.npz", "--loss", "cost", "--cost", "numbered.csv")
    assert done.code == 2
    assert "it may name the classes or be an action" in done.err


@pytest.mark.parametrize("column", ["method", "model"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_several_methods_in_one_file(world, run, column, suffix):
    """Rows of two methods are two methods, not draws of one, in every format."""
    ids, probs, _ = world
    parts = [
        pd.DataFrame(probs[:, d], columns=CLASSES).assign(id=ids, **{column: name})
        for d, name in enumerate("AB")
    ]
    for name, part in zip("AB", parts, strict=True):
        part.drop(columns=column).to_csv(f"{name}.csv", index=False)
    both = pd.concat(parts).sort_values("id")
    match suffix:
        case "csv":
            both.to_csv("both.csv", index=False)
        case "parquet":
            both.to_parquet("both.parquet", index=False)
        case "jsonl":
            both.to_json("both.jsonl", orient="records", lines=True, double_precision=15)
    more = ("--truth", "t.npz", "--no-gap", "--quick")
    alone = found(run, "evaluate", "A.csv", "B.csv", *more)
    rows = found(run, "evaluate", f"both.{suffix}", *more)
    assert [row["method"] for row in rows] == ["A", "B"]
    for row, wanted in zip(rows, alone, strict=True):
        assert row["risk"] == pytest.approx(wanted["risk"], rel=1e-12)
    done = run("select", f"both.{suffix}", *more[:2], "--maximize", "coverage", "--risk-max", "1")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "must hold one method, got A, B" in done.err


def test_costs_without_numbers_are_one_line(world, run):
    Path("words.csv").write_text("dog\nx\ny\n")
    done = run("evaluate", "p.npz", "--truth", "t.npz", "--loss", "cost", "--cost", "words.csv")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "must have a column for each class" in done.err

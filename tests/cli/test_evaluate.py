"""rue evaluate: files in, rows out."""

import csv
import gc
import importlib
import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rue import Annotations, CostMatrix, Dirichlet, Draws, Run, Scored, decompose, evaluate, realize
from rue.inference.intervals import intervals
from rue.losses import LOSSES
from rue.metrics import columns, corrected

N, K = 30, 3
VALUES = [-1.0, 0.0, 2.0]


@pytest.fixture
def world(tmp_path, rng):
    """Predictions and truth on disk, and the arrays they were made of."""
    counts = rng.multinomial(12, rng.dirichlet(np.ones(K), N))
    logits = rng.normal(size=(N, 4, K))
    probs = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    alpha = rng.gamma(2.0, size=(N, K)) + 0.1
    np.save(tmp_path / "counts.npy", counts)
    np.savez(tmp_path / "draws.npz", probs=probs)
    np.savez(tmp_path / "logits.npz", logits=logits)
    np.savez(tmp_path / "evidential.npz", alpha=alpha)
    np.savez(tmp_path / "ddu.npz", probs=probs[:, 0], epistemic=np.arange(N) * 1.0)
    return tmp_path, counts, probs, alpha


def rows_of(result):
    assert result.code == 0, result.err
    return json.loads(result.out)


def assert_same(row, evaluation):
    expected = evaluation.to_dict()
    for key, value in row.items():
        if key not in ("method", "group", "notes"):
            assert value == pytest.approx(expected[key], abs=1e-12), key


@pytest.mark.parametrize("loss", [*LOSSES, "pinball:0.8"])
def test_each_kind_of_belief_gives_the_library_s_row(world, run, loss):
    folder, counts, probs, alpha = world
    names = ("draws", "logits", "evidential", "ddu")
    files = [folder / f"{name}.npz" for name in names]
    truth = folder / "counts.npy"
    rows = rows_of(run("evaluate", *files, "--truth", truth, "--loss", loss, "--format", "json"))
    beliefs = [Draws(probs), Draws(probs), Dirichlet(alpha), Scored(probs[:, 0], np.arange(N))]
    assert [row["method"] for row in rows] == list(names)
    for row, belief in zip(rows, beliefs, strict=True):
        assert_same(row, evaluate(Annotations(counts), belief, loss))


def test_predictions_are_freed_before_the_gap_and_the_intervals(world, run, monkeypatch):
    folder, left = world[0], []

    def counted(function):
        def call(*args, **options):
            gc.collect()
            left.append(sum(isinstance(thing, Draws) for thing in gc.get_objects()))
            return function(*args, **options)

        return call

    command = importlib.import_module("rue.cli.evaluate")
    for name in ("pareto_gap", "intervals"):
        monkeypatch.setattr(command, name, counted(getattr(command, name)))
    gc.collect()
    before = sum(isinstance(thing, Draws) for thing in gc.get_objects())
    base = ["evaluate", folder / "draws.npz", "--truth", folder / "counts.npy", "--ci", "0.9"]
    rows_of(run(*base, "--replicates", "20", "--format", "json"))
    assert left == [before, before]


def test_values_in_every_spelling(world, run):
    folder, counts, probs, _ = world
    expected = evaluate(Annotations(counts), Draws(probs), "squared", values=VALUES, gap=False)
    base = ["evaluate", folder / "draws.npz", "--truth", folder / "counts.npy"]
    base += ["--loss", "squared", "--no-gap", "--format", "json"]
    for spelling in (["--values", "-1,0,2"], ["--values", "-1", "0", "2"], ["--values=-1 0 2"]):
        assert_same(rows_of(run(*base, *spelling))[0], expected)
    np.savez(folder / "draws.npz", probs=probs, values=VALUES)
    assert_same(rows_of(run(*base))[0], expected)


def test_several_losses_stand_together(world, run):
    folder = world[0]
    files = [folder / "draws.npz", folder / "ddu.npz"]
    losses = ["--loss", "zero_one", "--loss", "log"]
    result = run(
        "evaluate", *files, "--truth", folder / "counts.npy", *losses, "--format", "csv", "--no-gap"
    )
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [(r["loss"], r["method"]) for r in rows] == [
        ("zero_one", "draws"),
        ("zero_one", "ddu"),
        ("log", "draws"),
        ("log", "ddu"),
    ]
    assert rows[0]["pareto_gap"] == ""


def test_a_cost_matrix(world, run):
    folder, counts, probs, _ = world
    C = np.array([[0, 1, 5], [1, 0, 1], [2, 2, 0], [0.7, 0.7, 0.7]])
    np.save(folder / "C.npy", C)
    np.savetxt(folder / "C.csv", C, delimiter=",")
    expected = evaluate(Annotations(counts), Draws(probs), CostMatrix(C), gap=False)
    for file in ("C.npy", "C.csv"):
        result = run(
            *("evaluate", folder / "draws.npz", "--truth", folder / "counts.npy", "--no-gap"),
            *("--loss", "cost", "--cost", folder / file, "--format", "json"),
        )
        assert_same(rows_of(result)[0], expected)


def test_ids_align_rows(world, run, rng):
    folder, counts, probs, _ = world
    names = np.array([f"point-{i}" for i in range(N)])
    order = rng.permutation(N)
    np.savez(folder / "named.npz", probs=probs, ids=names)
    np.savez(folder / "truth.npz", counts=counts[order], ids=names[order])
    with (folder / "truth.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(["id", "a", "b", "c"])
        writer.writerows([names[i], *counts[i]] for i in order)
    columns = {"ids": names[order]} | {f"k{j}": counts[order, j] for j in range(K)}
    pq.write_table(pa.table(columns), folder / "truth.parquet")
    expected = evaluate(Annotations(counts), Draws(probs), "log", gap=False)
    for truth in ("truth.npz", "truth.csv", "truth.parquet"):
        result = run(
            *("evaluate", folder / "named.npz", "--truth", folder / truth),
            *("--no-gap", "--format", "json"),
        )
        assert_same(rows_of(result)[0], expected)


def test_whole_numbers_and_text_are_the_same_ids(world, run):
    folder, counts, probs, _ = world
    np.savez(folder / "n.npz", probs=probs, ids=np.arange(N))
    text = "id,a,b,c\n" + "\n".join(f"{i},{','.join(map(str, counts[i]))}" for i in range(N))
    (folder / "t.csv").write_text(text)
    assert run("evaluate", folder / "n.npz", "--truth", folder / "t.csv", "--no-gap").code == 0


def test_counts_in_the_prediction_file_and_actions(world, run):
    folder, counts, probs, _ = world
    actions = np.zeros(N, int)
    np.savez(folder / "own.npz", probs=probs, counts=counts, actions=actions)
    row = rows_of(
        run("evaluate", folder / "own.npz", "--loss", "zero_one", "--format", "json", "--no-gap")
    )[0]
    assert_same(
        row, evaluate(Annotations(counts), Draws(probs), "zero_one", actions=actions, gap=False)
    )


def test_known_probabilities_as_truth(world, run, rng):
    folder, _, probs, _ = world
    known = rng.dirichlet(np.ones(K), N)
    np.save(folder / "known.npy", known)
    row = rows_of(
        run(
            *("evaluate", folder / "draws.npz", "--truth", folder / "known.npy"),
            *("--format", "json", "--no-gap"),
        )
    )[0]
    assert_same(row, evaluate(Annotations.from_probs(known), Draws(probs), "log", gap=False))


def test_csv_without_a_header(world, run):
    folder, counts, probs, _ = world
    np.savetxt(folder / "plain.csv", counts, fmt="%d", delimiter=",")
    result = run(
        *("evaluate", folder / "draws.npz", "--truth", folder / "plain.csv"),
        *("--format", "json", "--no-gap"),
    )
    assert_same(rows_of(result)[0], evaluate(Annotations(counts), Draws(probs), "log", gap=False))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_components_computed_elsewhere(world, run, kind):
    folder, counts, probs, _ = world
    people, belief = Annotations(counts), Draws(probs)
    star, hat = realize(people, belief, "log"), decompose(belief, "log")
    columns = {
        "aleatoric": hat.aleatoric,
        "epistemic": hat.epistemic,
        "risk": star.total,
        "regret": star.epistemic,
    }
    file = folder / f"own.{kind}"
    if kind == "csv":
        lines = [
            ",".join(columns),
            *(",".join(map(repr, map(float, r))) for r in zip(*columns.values(), strict=True)),
        ]
        file.write_text("\n".join(lines))
    else:
        pq.write_table(pa.table(columns), file)
    row = rows_of(run("evaluate", file, "--loss", "log", "--format", "json"))[0]
    expected = evaluate(people, belief, "log").to_dict()
    for key in ("aurec", "n_aurec", "aurc", "aurc_total", "spearman_hat", "spearman_star"):
        assert row[key] == pytest.approx(expected[key], abs=1e-9)


def test_by_gives_a_row_for_each_group(world, run):
    folder, counts, probs, _ = world
    group = np.where(np.arange(N) % 3 == 0, "x", "y")
    np.savez(folder / "grouped.npz", probs=probs, group=group)
    rows = rows_of(
        run(
            *("evaluate", folder / "grouped.npz", "--truth", folder / "counts.npy"),
            *("--by", "group", "--format", "json"),
        )
    )
    assert [(row["group"], row["n_points"]) for row in rows] == [("x", 10), ("y", 20)]
    part = group == "x"
    assert_same(rows[0], evaluate(Annotations(counts[part]), Draws(probs[part]), "log"))
    classes = rows_of(
        run(
            *("evaluate", folder / "draws.npz", "--truth", folder / "counts.npy"),
            *("--by", "class", "--format", "json", "--no-gap"),
        )
    )
    majority = np.bincount(counts.argmax(axis=1), minlength=K)
    assert {int(row["group"]): row["n_points"] for row in classes} == {
        k: n for k, n in enumerate(majority) if n
    }


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_plot_writes_a_figure(world, run, suffix):
    folder = world[0]
    figure = folder / f"curves.{suffix}"
    files = [folder / "draws.npz", folder / "ddu.npz"]
    truth = ["--truth", folder / "counts.npy", "--no-gap"]
    assert run("evaluate", *files, *truth, "--plot", figure).code == 0
    head = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix]
    assert figure.read_bytes().startswith(head)
    assert not list(folder.glob(".*"))


def test_names_are_no_longer_than_it_takes(tmp_path):
    from rue.cli.inputs import shortest_names as named

    files = [tmp_path / method / "0" / "predictions.npz" for method in ("ddu", "dropout")]
    assert list(named(files).values()) == ["ddu/0/predictions", "dropout/0/predictions"]
    assert list(named([tmp_path / "a.npz", tmp_path / "a.csv"]).values()) == [
        str(tmp_path / "a.npz"),
        str(tmp_path / "a.csv"),
    ]


def test_files_of_the_same_name_are_told_apart(world, run):
    folder, _, probs, _ = world
    (folder / "sub").mkdir()
    np.savez(folder / "sub" / "draws.npz", probs=probs)
    truth = ["--truth", folder / "counts.npy", "--no-gap", "--format", "json"]
    rows = rows_of(run("evaluate", folder / "draws.npz", folder / "sub" / "draws.npz", *truth))
    assert [row["method"] for row in rows] == [f"{folder.name}/draws", "sub/draws"]


def test_a_pipe_gets_no_colour_and_a_note_is_printed(world, run):
    folder, _, probs, _ = world
    np.savez(folder / "one.npz", probs=probs[:, 0])
    files = [folder / "one.npz", folder / "draws.npz"]
    result = run("evaluate", *files, "--truth", folder / "counts.npy", "--no-gap")
    assert "\x1b" not in result.out
    assert "note: one log: all epistemic estimates are equal" in result.out


def test_real_counts_from_the_shell(cifar10h, tmp_path, rng):
    """CIFAR-10H's real counts, 10,000 x 5 x 10 draws, in a process of its own."""
    counts = np.load(cifar10h)
    p = (counts + 0.3) / (counts + 0.3).sum(axis=1, keepdims=True)
    draws = np.exp(np.log(p)[:, None] + rng.normal(0, 1.0, (10_000, 5, 10)))
    np.savez(tmp_path / "noisy.npz", probs=(draws / draws.sum(axis=2, keepdims=True)))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "rue", "evaluate", str(tmp_path / "noisy.npz")),
            *("--truth", str(cifar10h), "--loss", "log", "--loss", "zero_one"),
            *("--no-gap", "--format", "json"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    log, zero_one = json.loads(done.stdout)
    # The people's own entropy under log loss, 1 - majority share under 0/1, from the counts.
    q = counts / counts.sum(axis=1, keepdims=True)
    entropy = -(q * np.log(np.where(q > 0, q, 1))).sum(axis=1).mean()
    assert log["risk"] - log["regret"] == pytest.approx(entropy, abs=1e-9)
    disagreement = (1 - q.max(axis=1)).mean()
    assert zero_one["risk"] - zero_one["regret"] == pytest.approx(disagreement, abs=1e-9)
    assert 0 < log["n_aurec"] < 1
    # Under 0/1 loss nearly all regrets are exact ties.
    people = Annotations(counts)
    star = realize(people, Draws(np.load(tmp_path / "noisy.npz")["probs"]), "zero_one")
    assert (star.epistemic == 0).mean() > 0.9
    assert done.stderr == ""


@pytest.mark.parametrize("dtype", ["u1", "i1", "i4", "f2", "f4"])
def test_logits_of_any_type(world, run, dtype):
    folder, counts, _, _ = world
    logits = np.random.default_rng(1).integers(0, 100, (N, 2, K)).astype(dtype)
    np.savez(folder / "typed.npz", logits=logits)
    exact = np.exp(logits.astype(float) - logits.astype(float).max(axis=2, keepdims=True))
    belief = Draws(exact / exact.sum(axis=2, keepdims=True))
    truth = ["--truth", folder / "counts.npy", "--no-gap", "--format", "json"]
    row = rows_of(run("evaluate", folder / "typed.npz", *truth))[0]
    assert_same(row, evaluate(Annotations(counts), belief, "log", gap=False))


@pytest.mark.parametrize("first", ["000000", "9007199254740993", "1_0", "12e4"])
def test_ids_that_look_like_numbers_stay_what_they_are(world, run, first):
    folder, counts, probs, _ = world
    ids = [first, *(f"{i:06d}" for i in range(1, N))]
    np.savez(folder / "n.npz", probs=probs, ids=ids)
    lines = [f"{i},{','.join(map(str, row))}" for i, row in zip(ids, counts, strict=True)]
    (folder / "t.csv").write_text("ID,a,b,c\n" + "\n".join(reversed(lines)))
    truth = ["--truth", folder / "t.csv", "--no-gap", "--format", "json"]
    row = rows_of(run("evaluate", folder / "n.npz", *truth))[0]
    assert_same(row, evaluate(Annotations(counts), Draws(probs), "log", gap=False))


@pytest.mark.parametrize("kind", ["pandas", "trailing", "index.parquet"])
def test_tables_as_other_tools_write_them(world, run, kind):
    folder, counts, probs, _ = world
    truth = folder / "t.csv"
    lines = [",".join(map(str, row)) for row in counts]
    if kind == "pandas":
        rows = [f"{i},{line}" for i, line in enumerate(lines)]
        truth.write_text("\n".join([",0,1,2", *rows]) + "\n\n")
    elif kind == "trailing":
        truth.write_text("".join(f"{line},\n" for line in lines))
    else:
        truth = folder / "t.parquet"
        columns = {name: counts[:, j] for j, name in enumerate("abc")}
        pq.write_table(pa.table(columns | {"__index_level_0__": np.arange(N)}), truth)
    arguments = ["--truth", truth, "--no-gap", "--format", "json"]
    row = rows_of(run("evaluate", folder / "draws.npz", *arguments))[0]
    assert_same(row, evaluate(Annotations(counts), Draws(probs), "log", gap=False))


def test_large_numbers_are_groups_of_their_own_in_order(world, run):
    folder, _, probs, _ = world
    days = 20230900.0 + np.arange(N) % 12
    np.savez(folder / "dated.npz", probs=probs, day=days)
    truth = ["--truth", folder / "counts.npy", "--by", "day", "--no-gap", "--format", "json"]
    rows = rows_of(run("evaluate", folder / "dated.npz", *truth))
    assert [row["group"] for row in rows] == [str(20230900 + i) for i in range(12)]


def test_floored_points_are_counted_in_each_group(world, run):
    folder, counts, _, _ = world
    sure = np.zeros((N, 1, K))
    sure[..., 0] = 1
    np.savez(folder / "sure.npz", probs=sure, half=np.arange(N) % 2)
    arguments = ["evaluate", folder / "sure.npz", "--truth", folder / "counts.npy", "--no-gap"]
    whole = rows_of(run(*arguments, "--format", "json"))[0]["n_floored"]
    parts = rows_of(run(*arguments, "--format", "json", "--by", "half"))
    assert whole == (counts[:, 1:].sum(axis=1) > 0).sum()
    assert sum(row["n_floored"] for row in parts) == whole


def test_a_name_with_a_dollar_is_drawn(world, run):
    folder, _, probs, _ = world
    np.savez(folder / "m$^$.npz", probs=probs)
    truth = ["--truth", folder / "counts.npy", "--no-gap"]
    result = run("evaluate", folder / "m$^$.npz", *truth, "--plot", folder / "x.png")
    assert (result.code, result.err) == (0, "")


def test_an_archive_may_hold_more_than_arrays(world, run):
    folder = world[0]
    with zipfile.ZipFile(folder / "draws.npz", "a") as archive:
        archive.writestr("README.txt", "made by hand")
    truth = ["--truth", folder / "counts.npy", "--no-gap"]
    assert run("evaluate", folder / "draws.npz", *truth).code == 0


def test_intervals(world, run):
    folder, counts, probs, _ = world
    base = ["evaluate", folder / "draws.npz", "--truth", folder / "counts.npy", "--loss", "brier"]
    plain = rows_of(run(*base, "--format", "json", "--seed", "3"))[0]
    ci = ["--ci", "0.9", "--replicates", "200", "--seed", "3"]
    row = rows_of(run(*base, *ci, "--format", "json"))[0]
    assert {key: row[key] for key in plain} == plain  # nothing but more keys
    people, belief = Annotations(counts), Draws(probs)
    expected = Run.from_belief(people, belief, "brier", with_answers=True)
    found = intervals(expected, level=0.9, n_replicates=200, seed=3)
    assert {key: row[key] for key in row if "ci" in key.split("_")} == found.to_dict()
    table = run(*base, *ci).out
    assert f"[{found.low['n_aurec']:.3f}".replace("[0.", "[.") in table
    again = rows_of(run(*base, *ci, "--resample-annotators", "--no-gap", "--format", "json"))[0]
    found = intervals(expected, level=0.9, n_replicates=200, seed=3, resample_annotators=True)
    assert again["aurec_ci_low"] == found.low["aurec"]
    assert again["pareto_gap_ci_low"] is None


def counted(module, name, calls):
    """Wrap a function of the evaluation: calls are noted."""
    original = getattr(module, name)

    def wrapped(*parts, **options):
        calls.append(name)
        return original(*parts, **options)

    return wrapped


@pytest.mark.parametrize("ci", [[], ["--ci", "0.9", "--replicates", "20"]])
def test_a_row_and_its_pareto_gap_are_computed_once(world, run, monkeypatch, ci):
    folder, counts, probs, _ = world
    group = np.array(["x"] * 12 + ["y"] * 18)
    np.savez(folder / "grouped.npz", probs=probs, group=group, counts=counts)
    calls = []
    for module, name in ((corrected, "pareto_gap"), (columns, "regret_calibration")):
        monkeypatch.setattr(module, name, counted(module, name, calls))
    base = ["evaluate", folder / "grouped.npz", "--by", "group", "--format", "json"]
    rows = rows_of(run(*base, *ci))
    assert ("aurec_ci_low" in rows[0]) == bool(ci)
    assert sorted(calls) == ["pareto_gap"] * 2 + ["regret_calibration"] * 2  # a row for each group


def test_intervals_of_groups_are_those_of_their_points(world, run):
    folder, counts, probs, _ = world
    group = np.array(["x"] * 12 + ["y"] * 18)
    np.savez(folder / "grouped.npz", probs=probs, group=group, counts=counts)
    rows = rows_of(
        run(
            *("evaluate", folder / "grouped.npz", "--by", "group", "--no-gap", "--ci", "0.95"),
            *("--replicates", "50", "--resample-annotators", "--format", "json"),
        )
    )
    people, belief = Annotations(counts[group == "y"]), Draws(probs[group == "y"])
    expected = Run.from_belief(people, belief, with_answers=True)
    found = intervals(expected, n_replicates=50, resample_annotators=True)
    assert rows[1]["aurec_ci_high"] == pytest.approx(found.high["aurec"], abs=1e-12)


def shell(command, **more):
    return subprocess.run(command, shell=True, capture_output=True, text=True, **more)


def test_pipes_that_close_and_consoles_without_arrows(world):
    folder = world[0]
    rue = (
        f"{sys.executable} -m rue evaluate {folder}/draws.npz --truth {folder}/counts.npy --no-gap"
    )
    assert shell(f"{rue} | true").stderr == ""
    narrow = shell(rue, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (narrow.returncode, narrow.stderr) == (0, "")
    assert "AuReC" in narrow.stdout


def test_rue_alone_shows_its_help(run):
    result = run()
    assert result.code == 0
    assert len(result.out.splitlines()) > 5
    assert "evaluate" in result.out


def test_a_row_has_the_name_that_its_table_says(tmp_path, run):
    head = "method,aleatoric,epistemic,risk,regret\n"
    (tmp_path / "c.csv").write_text(head + "mine,0.1,0.2,0.3,0.1\nmine,0.2,0.1,0.4,0.2\n")
    (row,) = rows_of(run("evaluate", tmp_path / "c.csv", "--no-gap", "--format", "json"))
    assert row["method"] == "mine"


def test_a_fee_shows_what_the_team_costs(tmp_path, run, rng):
    counts = rng.multinomial(6, rng.dirichlet(np.ones(3), 50))
    np.savez(tmp_path / "a.npz", probs=rng.dirichlet(np.ones(3), (50, 3)), counts=counts)
    asked = ["evaluate", tmp_path / "a.npz", "--loss", "zero_one", "--no-gap"]
    (row,) = json.loads(run(*asked, "--defer-fee", "0.1", "--format", "json").out)
    (free,) = json.loads(run(*asked, "--format", "json").out)
    assert (row["defer_fee"], free["defer_fee"]) == (0.1, 0.0)
    assert row["person_kind"] == "person"
    assert row["team_risk"] >= free["team_risk"]
    table = run(*asked, "--defer-fee", "0.1").out
    assert "for a fee of 0.1" in table
    assert f"{row['team_risk']:.4f}" in table
    assert "defer all" not in run(*asked).out


def test_limits_are_columns(world, run):
    folder, counts, probs, _ = world
    base = ["evaluate", folder / "draws.npz", "--truth", folder / "counts.npy", "--no-gap"]
    asked = ["--at", "0.8", "--coverage-at", "risk=0.05", "--coverage-at", "regret=0.01"]
    limits = {"risk": 0.05, "regret": 0.01}
    expected = evaluate(Annotations(counts), Draws(probs), gap=False, at=0.8, coverage_at=limits)
    row = rows_of(run(*base, *asked, "--format", "json"))[0]
    assert_same(row, expected)
    assert (row["at_coverage"], row["at_risk"], row["at_regret"]) == (0.8, 0.05, 0.01)
    assert row["coverage_at_risk"] is not None
    shown = run(*base, *asked).out
    assert "risk at 0.8" in shown
    assert "cov. at regret 0.01" in shown
    assert max(map(len, shown.splitlines())) <= 100
    header = run(*base, *asked, "--format", "csv").out.splitlines()[0]
    assert "regret_at_coverage" in header
    for wrong in ("risk", "cost=1", "risk=-1", "risk=x"):
        result = run(*base, "--coverage-at", wrong)
        assert result.code == 2
        assert "--coverage-at must be" in result.err


def test_compare_has_the_intervals_of_evaluate(world, run):
    folder, *_ = world
    criteria = ["aurec", "n_aurec", "pair_log_loss", "team_risk", "risk_at_coverage", "r_aurec"]
    files = [folder / "draws.npz", folder / "evidential.npz", "--truth", folder / "counts.npy"]
    both = ["--loss", "brier", "--seed", "3", "--replicates", "60", "--at", "0.7", "--ci", "0.9"]
    alone = rows_of(run("evaluate", *files, *both, "--no-gap", "--format", "json"))
    named = [part for key in criteria for part in ("--criterion", key)]
    compared = rows_of(run("compare", *files, *both, *named, "--format", "json"))[0]["criteria"]
    for row in alone:
        for key in criteria:
            one = compared[key]["methods"][row["method"]]
            assert (one["low"], one["high"]) == (row[f"{key}_ci_low"], row[f"{key}_ci_high"]), key
            assert one["low"] is not None


@pytest.mark.parametrize("format", ["table", "latex", "markdown"])
def test_every_format_has_the_same_columns_and_the_notes_about_them(world, run, format):
    inputs = (world[0] / "draws.npz", "--truth", world[0] / "counts.npy", "--format", format)
    printed = run("evaluate", *inputs, "--corrected")
    both = printed.out.split("Corrected for finitely many annotators")
    assert len(both) == 2
    assert all(word in both[0] for word in ("floor", "P-gap", "AuRC"))
    assert "corr." not in both[0]
    assert "floor" not in both[1].partition("note:")[0]
    printed = run("evaluate", *inputs, "--columns", "aurec,regret")
    assert "n-AuReC" not in printed.out + printed.err

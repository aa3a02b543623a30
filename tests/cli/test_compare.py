"""rue compare: files in, the library's comparison out."""

import csv
import json
import re

import numpy as np
import pytest

from rue import Annotations, Draws, Run
from rue.inference.comparison import compare

N, K = 40, 3


@pytest.fixture
def world(tmp_path, rng):
    counts = rng.multinomial(12, rng.dirichlet(np.ones(K), N))
    probs = {name: rng.dirichlet(np.ones(K), (N, 4)) for name in "ab"}
    np.save(tmp_path / "counts.npy", counts)
    for name, array in probs.items():
        np.savez(tmp_path / f"{name}.npz", probs=array)
    return tmp_path, counts, probs


def test_prints_the_library_s_comparison(world, run):
    folder, counts, probs = world
    files = [folder / "a.npz", folder / "b.npz", "--truth", folder / "counts.npy"]
    more = ["--loss", "log", "--loss", "brier", "--replicates", "100", "--seed", "2"]
    more += ["--criterion", "aurec", "--criterion", "n_aurec"]
    result = run("compare", *files, *more, "--format", "json", "--plot", folder / "r.png")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert (folder / "r.png").stat().st_size > 1000
    for loss, part in zip(("log", "brier"), found, strict=True):
        runs = [
            Run.from_belief(Annotations(counts), Draws(p), loss, method=name)
            for name, p in probs.items()
        ]
        expected = compare(runs, criteria=["aurec", "n_aurec"], n_replicates=100, seed=2)
        assert part == {"loss": loss, "notes": {}} | json.loads(json.dumps(expected.to_dict()))
    table = run("compare", *files, *more).out
    assert str(expected["n_aurec"]) in table
    assert "a - b" in table
    assert "rank 2" in table


def test_csv_and_latex_have_the_numbers_of_the_json(world, run):
    folder, _, _ = world
    files = [folder / "a.npz", f"b_2={folder / 'b.npz'}", "--truth", folder / "counts.npy"]
    more = ["--replicates", "50", "--criterion", "aurec", "--loss", "squared"]
    (found,) = json.loads(run("compare", *files, *more, "--format", "json").out)
    rows = list(csv.DictReader(run("compare", *files, *more, "--format", "csv").out.splitlines()))
    assert [(row["method"], row["against"]) for row in rows] == [
        ("a", ""),
        ("b_2", ""),
        ("a", "b_2"),
    ]
    assert {row["loss"] for row in rows} == {"squared"}
    ranking = found["criteria"]["aurec"]
    estimates = [own["estimate"] for own in ranking["methods"].values()]
    assert [float(row["value"]) for row in rows[:2]] == estimates
    assert float(rows[2]["p_holm"]) == ranking["differences"][0]["p_holm"]
    latex = run("compare", *files, *more, "--format", "latex").out
    assert latex.count(r"\begin{tabular}") == latex.count(r"\bottomrule") == 2
    assert rf"a - b\_2 & {float(rows[2]['value']):+.4f} & [" in latex
    table = run("compare", *files, *more).out
    assert "note: a squared: " in table  # which scale is assumed


def test_rows_are_matched_by_ids(world, run, rng):
    folder, counts, probs = world
    ids = np.array([f"p{i}" for i in range(N)])
    order = rng.permutation(N)
    np.savez(folder / "a.npz", probs=probs["a"], counts=counts, ids=ids)
    np.savez(folder / "b.npz", probs=probs["b"][order], counts=counts[order], ids=ids[order])
    more = ["--criterion", "aurec", "--replicates", "50", "--format", "json"]
    mixed = json.loads(run("compare", folder / "a.npz", folder / "b.npz", *more).out)
    np.savez(folder / "b.npz", probs=probs["b"], counts=counts)
    refused = run("compare", folder / "a.npz", folder / "b.npz", *more)
    assert refused.code == 2
    assert "--by-position" in refused.err
    more.append("--by-position")
    plain = json.loads(run("compare", folder / "a.npz", folder / "b.npz", *more).out)
    for one, other in zip(
        *(p[0]["criteria"]["aurec"]["differences"] for p in (mixed, plain)), strict=True
    ):
        assert one == pytest.approx(other)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.npz"], "at least two methods"),
        (["a.npz", "b.npz", "--criterion", "spearman_hat"], "criteria must be"),
        (["a.npz", "b.npz", "--ci", "95"], "--ci must be"),
        (["a.npz", "b.npz", "--loss", "hinge"], "loss must be"),
        (["a.npz", "b.npz", "--loss", "cost"], "--cost FILE"),
        (["a.npz", "short.npz"], "has 40 points but short.npz has 39"),
        (["a.npz", "other.npz"], "answers differ from .*first at row 3"),
        (["a.npz", "named.npz", "--loss", "brier"], "a.npz has no ids but named.npz has"),
    ],
)
def test_broken_calls_are_one_line(world, run, monkeypatch, arguments, words):
    folder, counts, probs = world
    monkeypatch.chdir(folder)
    np.savez("a.npz", probs=probs["a"], counts=counts)
    np.savez("b.npz", probs=probs["b"], counts=counts)
    np.savez("short.npz", probs=probs["b"][1:], counts=counts[1:])
    changed = counts.copy()
    changed[3] = [1, 1, 1]
    np.savez("other.npz", probs=probs["b"], counts=changed)
    np.savez("named.npz", probs=probs["b"][:9], counts=counts[:9], ids=np.arange(9))
    result = run("compare", *arguments)
    assert (result.code, result.out) == (2, "")
    lines = result.err.strip().splitlines()
    assert len(lines) == 1
    assert re.search(words, lines[0]), lines[0]


def test_names_with_line_breaks_and_escapes_stay_on_their_line(world, run):
    folder, _, probs = world
    for name in "ab":
        np.savez(folder / f"{name}.npz", probs=probs[name], method=f"x\n{name}\x1b[31m")
    files = [folder / "a.npz", folder / "b.npz", "--truth", folder / "counts.npy"]
    result = run("compare", *files, "--replicates", "20", "--criterion", "aurec")
    assert result.code == 0, result.err
    assert r"x\na\u001b[31m and x\nb\u001b[31m" in result.out
    assert not re.search(r"^[ab]", result.out, re.MULTILINE)


@pytest.mark.parametrize("command", ["evaluate", "compare", "plan"])
def test_a_cost_matrix_without_its_loss_is_not_ignored(world, run, command):
    folder, _, _ = world
    np.save(folder / "c.npy", 1 - np.eye(K))
    files = [folder / "a.npz", folder / "b.npz", "--truth", folder / "counts.npy"]
    for options in (["--cost", folder / "c.npy"], ["--loss", "cost"]):
        result = run(command, *files, *options)
        assert result.code == 2
        assert "--loss cost and --cost FILE need each other" in result.err


def test_costs_too_large_to_square_are_one_line(world, run):
    folder, *_ = world
    (folder / "cost.csv").write_text("0,1e290,1\n1,0,1\n1,1,0\n")
    files = [folder / "a.npz", folder / "b.npz", "--truth", folder / "counts.npy"]
    result = run("compare", *files, "--loss", "cost", "--cost", folder / "cost.csv")
    assert result.code == 2
    assert "the largest cost in C must be from 1e-100 to 1e100, got 1e+290" in result.err

"""rue select --fit, --rule and --apply: rules learned, saved and applied."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from rue import (
    Annotations,
    CostMatrix,
    DeployableSelector,
    Draws,
    Log,
    Rule,
    decompose,
    optimal_selector,
    realize,
)
from rue.cli import main

N, K = 400, 3
ASKED = ["--loss", "zero_one", "--risk-max", "0.3", "--delta", "0.1"]


def made(rng, n, n_draws=4, n_classes=K):
    probs = rng.dirichlet(np.ones(n_classes) / 2, n)
    noise = rng.dirichlet(np.ones(n_classes), (n, n_draws))
    return rng.multinomial(12, probs), 0.8 * probs[:, None] + 0.2 * noise


@pytest.fixture
def world(tmp_path, rng):
    """Files cal.npz and new.npz in the folder, and what is in them."""
    counts, probs = made(rng, N)
    np.savez(tmp_path / "cal.npz", probs=probs, counts=counts, method="ensemble")
    new_counts, new_probs = made(rng, 90)
    ids = np.array([f"p{i}" for i in range(90)])
    np.savez(tmp_path / "new.npz", probs=new_probs, ids=ids, method="ensemble")
    np.savez(tmp_path / "answered.npz", probs=new_probs, ids=ids, counts=new_counts)
    return tmp_path, counts, probs, new_probs


def test_a_rule_is_the_library_s(world, run):
    out, counts, probs, new_probs = world
    files = ["--fit", out / "cal.npz", "--apply", out / "new.npz", "--save", out / "rule.json"]
    result = run("select", *files, *ASKED, "--out", out / "decisions.csv", "--format", "json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    selector = DeployableSelector("zero_one", maximize="coverage", risk_max=0.3, delta=0.1)
    selector.fit(Annotations(counts), Draws(probs))
    accepted = selector.accept(Draws(new_probs))
    assert found["rule"]["tau"] == selector.rule_.tau
    assert found["rule"]["made_for"]["method"] == "ensemble"
    assert found["new"]["n_accepted"] == accepted.sum() > 0
    assert json.loads((out / "rule.json").read_text()) == found["rule"]
    with (out / "decisions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"p{i}" for i in range(90)]
    assert [row["accept"] == "1" for row in rows] == accepted.tolist()
    scores = selector.rule_.score(decompose(Draws(new_probs), "zero_one"))
    assert [float(row["score"]) for row in rows] == scores.tolist()
    # As a table, and from the saved rule, the same.
    table = run("select", *files, *ASKED).out
    assert f"90 new points: {accepted.sum()} accepted" in table
    assert selector.rule_.rule in table
    assert selector.rule_.promise in table
    again = run("select", "--rule", out / "rule.json", "--apply", out / "new.npz").out
    assert f"90 new points: {accepted.sum()} accepted" in again


def test_new_points_with_answers_are_measured_and_compared(world, run):
    out, *_ = world
    files = ["--fit", out / "cal.npz", "--apply", out / "answered.npz"]
    more = ["--compare", "--plot", out / "figure.png"]
    found = json.loads(run("select", *files, *ASKED, *more, "--format", "json").out)
    assert 0 < found["new"]["attained"]["risk"] <= 1
    names = [row["name"] for row in found["comparison"]]
    assert names == ["learned", "total", "epistemic", "confidence", "no promise", "possible"]
    learned = found["comparison"][0]
    assert learned["coverage"] == found["new"]["coverage"]
    assert (out / "figure.png").read_bytes().startswith(b"\x89PNG")
    table = run("select", *files, *ASKED, "--compare").out
    assert "possible" in table
    assert "budget 0.3" in table
    # A score alone needs no points to learn from.
    alone = json.loads(run("select", *files, *ASKED, "--score", "total", "--format", "json").out)
    assert alone["rule"]["calibration"]["n_learned"] == 0
    assert alone["rule"]["weights"] == {"aleatoric": 0.5, "epistemic": 0.5}


@pytest.mark.parametrize(
    ("loss", "limit"),
    [
        (["--loss", "brier"], "0.9"),
        (["--loss", "absolute"], "0.9"),
        (["--loss", "pinball:0.8", "--values", "0,1,3"], "0.9"),
        (["--loss", "squared", "--values", "0,1,3"], "3"),
        (["--loss", "log", "--floor", "0.01"], "2"),
        (["--loss", "cost", "--cost", "cost.csv"], "2"),
    ],
)
def test_every_loss_comes_back_from_its_rule(world, run, monkeypatch, loss, limit):
    out, *_ = world
    monkeypatch.chdir(out)
    (out / "cost.csv").write_text("0,1,4\n1,0,1\n2,1,0\n")
    asked = [*loss, "--risk-max", limit, "--delta", "0.1", "--save", "rule.json"]
    first = run("select", "--fit", "cal.npz", "--apply", "answered.npz", *asked, "--format", "json")
    assert first.code == 0, first.err
    again = run(
        "select", "--rule", "rule.json", "--apply", "answered.npz", *loss, "--format", "json"
    )
    assert again.code == 0, again.err
    assert json.loads(again.out)["new"] == json.loads(first.out)["new"]
    assert json.loads(first.out)["new"]["n_accepted"] > 0


def test_a_stated_bound_is_enough_for_new_points(world, run):
    out, counts, probs, new_probs = world
    for file, n, said in (("cal", N, {"counts": counts}), ("new", 90, {})):
        beyond = {"probs": probs if n == N else new_probs, "actions": np.full(n, K - 0.6)}
        np.savez(out / f"beyond-{file}.npz", **beyond, **said)
    for name, asked in (
        ("", ["--loss", "log", "--bound", "28", "--risk-max", "9"]),
        ("beyond-", ["--loss", "absolute", "--bound", "3", "--risk-max", "2.9"]),
    ):
        files = ["--fit", out / f"{name}cal.npz", "--apply", out / f"{name}new.npz"]
        result = run("select", *files, *asked, "--delta", "0.1")
        assert result.code == 0, result.err
        assert "90 new points: 90 accepted" in result.out


def test_theorem_1_takes_a_cost_matrix_and_a_floor_too(world, run):
    out, counts, probs, _ = world
    (out / "cost.csv").write_text("0,1,4\n1,0,1\n2,1,0\n")
    cost = CostMatrix([[0, 1, 4], [1, 0, 1], [2, 1, 0]])
    asked = ["--maximize", "coverage", "--risk-max", "0.2", "--format", "json"]
    for options, loss in (
        (["--loss", "cost", "--cost", out / "cost.csv"], cost),
        (["--loss", "log", "--floor", "0.2"], Log(0.2)),
    ):
        found = json.loads(run("select", out / "cal.npz", *options, *asked).out)
        star = realize(Annotations(counts), Draws(probs), loss)
        best = optimal_selector(star, maximize="coverage", risk_max=0.2)
        assert found["coverage"] == pytest.approx(best.coverage)
        assert found["loss"] == loss.name


def test_without_delta_nothing_is_promised(world, run):
    out, *_ = world
    table = run("select", "--fit", out / "cal.npz", "--loss", "zero_one", "--risk-max", "0.3").out
    assert "Nothing is promised" in table
    assert "cross-fitted" in table


def test_too_few_points_say_how_many(world, run):
    out, counts, probs, _ = world
    np.savez(out / "few.npz", probs=probs[:20], counts=counts[:20])
    found = run("select", "--fit", out / "few.npz", "--apply", out / "new.npz", *ASKED[:-4],
                "--risk-max", "0.05", "--delta", "0.1")  # fmt: skip
    assert found.code == 0
    # 0.95^45 = 0.0994 <= 0.1 < 0.95^44.
    assert "Accept nothing." in found.out
    assert "20 calibration points are too few to promise risk <= 0.05; at least 45" in found.out
    assert "0 accepted (0.0 %)" in found.out


def test_tables_of_components(tmp_path, run, rng):
    n = 300
    a, e = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    columns = {"aleatoric": a, "epistemic": e, "risk": e**2, "regret": e**2 / 2}
    rows = np.column_stack(list(columns.values()))
    np.savetxt(tmp_path / "cal.csv", rows, delimiter=",", header=",".join(columns), comments="")
    (tmp_path / "new.csv").write_text("id,aleatoric,epistemic\nx,0.5,0.01\ny,0.5,0.99\n")
    asked = ["--risk-max", "0.1", "--delta", "0.1", "--bound", "1", "--save", tmp_path / "r.json"]
    out = tmp_path / "out.csv"
    result = run("select", "--fit", tmp_path / "cal.csv", "--apply", tmp_path / "new.csv",
                 "--out", out, *asked)  # fmt: skip
    assert result.code == 0, result.err
    assert [line[0] + line[-1] for line in out.read_text().splitlines()[1:]] == ["x1", "y0"]
    np.savez(tmp_path / "new.npz", probs=np.full((2, 4, K), 1 / K))
    refused = run("select", "--rule", tmp_path / "r.json", "--apply", tmp_path / "new.npz")
    assert refused.code == 2
    assert "belief is components in the rule and draws" in refused.err
    # Without --bound nothing is known of the loss.
    unbounded = run("select", "--fit", tmp_path / "cal.csv", *asked[:4])
    assert "needs a bound on the loss" in unbounded.err


EVEN = np.full((5, 4, K), 1 / K)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"probs": np.full((5, 20, K), 1 / K)}, "draws a point is 4 in the rule and 20"),
        ({"probs": np.full((5, 4, 4), 1 / 4)}, "the number of classes is 3 in the rule and 4"),
        ({"alpha": np.ones((5, K))}, "the kind of belief is draws in the rule and dirichlet"),
        ({"probs": EVEN, "epistemic": np.ones(5)}, "rule and scored"),
        ({"probs": EVEN, "values": [0, 1, 5]}, "is [0, 1, 2] in the rule and [0, 1, 5]"),
        ({"probs": EVEN, "method": "ddu"}, "the method is ensemble in the rule and ddu"),
        ({"probs": EVEN, "actions": [0, 1, 2, 7, 1]}, "within the values, 0 to 2"),
    ],
)
def test_other_files_are_refused_with_a_word_on_what_differs(world, run, arrays, words):
    out, *_ = world
    np.savez(out / "other.npz", **arrays)
    asked = ["--loss", "absolute", "--risk-max", "0.5", "--delta", "0.1"]
    result = run("select", "--fit", out / "cal.npz", "--apply", out / "other.npz", *asked)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    assert "other.npz" in result.err
    assert words in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fit", "cal.npz", "--delta", "0.1", "--loss", "brier"], "delta needs a budget"),
        (
            ["--fit", "cal.npz", "--delta", "2", "--loss", "brier", "--risk-max", "1"],
            "delta must be",
        ),
        (["--fit", "cal.npz", "--delta", "0.1", "--risk-max", "1"], "log loss has no bound"),
        (["--fit", "new.npz", "--risk-max", "1"], "has no counts"),
        (["--fit", "cal.npz", "--loss", "brier", "--floor", "0.1"], "--floor is for the log loss"),
        (["--fit", "cal.npz", "--loss", "cost"], "--loss cost and --cost FILE go together"),
        (["--fit", "cal.npz", "--rule", "rule.json"], "give one of FILE, --fit FILE"),
        (["cal.npz", "--fit", "cal.npz"], "give one of FILE, --fit FILE"),
        ([], "give one of FILE, --fit FILE"),
        (["cal.npz", "--maximize", "coverage", "--delta", "0.1"], "--delta needs --fit"),
        (["cal.npz", "--maximize", "coverage", "--apply", "new.npz"], "not one to deploy"),
        (["--fit", "cal.npz", "--risk-max", "1", "--out", "x.csv"], "--out needs --apply"),
        (["--fit", "cal.npz", "--risk-max", "1", "--compare"], "--compare needs --apply"),
        (["--fit", "cal.npz", "--apply", "new.npz", "--compare"], "need answers, too"),
        (["--rule", "rule.json", "--risk-max", "1"], "--risk-max is for --fit"),
        (["--rule", "rule.json", "--risk-max", "0"], "--risk-max is for --fit"),
        (["--rule", "rule.json", "--delta", "0.1"], "--delta needs --fit"),
        (["--rule", "rule.json", "--loss", "brier"], "the loss is zero_one in the rule and brier"),
        (["--rule", "cal.npz"], "is no rule"),
        (["--rule", "none.json"], "cannot be read"),
    ],
)
def test_broken_calls_are_one_line(world, run, monkeypatch, arguments, words):
    out, *_ = world
    monkeypatch.chdir(out)
    assert run("select", "--fit", "cal.npz", *ASKED, "--save", "rule.json").code == 0
    result = run("select", *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    assert words in result.err


def test_applying_needs_neither_torch_nor_the_calibration_data(world):
    out, *_ = world
    with pytest.raises(SystemExit) as stop:
        main(["select", "--fit", str(out / "cal.npz"), *ASKED, "--save", str(out / "rule.json")])
    assert not stop.value.code
    (out / "cal.npz").unlink()
    code = (
        "import sys; sys.modules['torch'] = None\n"  # to import it is an error
        "from rue.cli import main\n"
        "try:\n    main(['select', '--rule', 'rule.json', '--apply', 'new.npz'])\n"
        "finally:\n    print('matplotlib' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=out, capture_output=True, text=True, check=True
    )
    rule = Rule.load(out / "rule.json")
    accepted = rule.accept(decompose(Draws(np.load(out / "new.npz")["probs"]), "zero_one")).sum()
    assert f"90 new points: {accepted} accepted" in done.stdout
    assert done.stdout.endswith("False False\n")

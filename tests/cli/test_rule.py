"""rue rule fit, apply and show: rules learned, saved, applied and printed."""

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


def arrays(path):
    with np.load(path) as file:
        return dict(file)


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
    fit = ["rule", "fit", out / "cal.npz", *ASKED, "--save", out / "rule.json"]
    fitted = run(*fit, "--format", "json")
    assert fitted.code == 0, fitted.err
    apply = ["rule", "apply", out / "rule.json", out / "new.npz"]
    result = run(*apply, "--out", out / "decisions.csv", "--format", "json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert json.loads(fitted.out)["rule"] == found["rule"]
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
    # As tables, the same.
    assert f"90 new points: {accepted.sum()} accepted" in run(*apply).out
    for command in (fit, apply, ["rule", "show", out / "rule.json"]):
        table = run(*command).out
        assert selector.rule_.rule in table
        assert selector.rule_.promise in table
    shown = run("rule", "show", out / "rule.json", "--format", "json")
    assert json.loads(shown.out) == {"rule": found["rule"]}


def test_answers_to_compare_with_come_from_the_truth(world, run):
    out, counts, probs, _ = world
    new, ids = arrays(out / "answered.npz"), [f"c{i}" for i in range(N)]
    np.savez(out / "cal.npz", probs=probs, ids=ids, method="ensemble")
    np.savez(out / "own.npz", probs=probs, counts=counts, ids=ids, method="ensemble")
    both = {"ids": [*ids, *new["ids"]], "counts": np.concatenate([counts, new["counts"]])}
    order = np.random.default_rng(0).permutation(N + 90)
    np.savez(out / "truth.npz", **{name: np.array(c)[order] for name, c in both.items()})
    fit = ["rule", "fit", out / "cal.npz", "--truth", out / "truth.npz", *ASKED, "--format", "json"]
    compared = run(*fit, "--compare", out / "new.npz")
    assert compared.code == 0, compared.err
    own = run(
        "rule",
        "fit",
        out / "own.npz",
        *ASKED,
        "--compare",
        out / "answered.npz",
        "--format",
        "json",
    )
    assert json.loads(compared.out)["comparison"] == json.loads(own.out)["comparison"]
    # Without --compare, answers about other points are an error as before.
    assert "lacks 90 of the ids" in run(*fit).err
    # Answers without ids belong to the calibration points, whatever their number.
    np.savez(out / "cal.npz", probs=probs[:90])
    np.savez(out / "truth.npz", counts=counts[:90])
    np.savez(out / "new.npz", probs=probs[90:180])
    unnamed = run(*fit, "--compare", out / "new.npz")
    assert unnamed.code == 2
    assert (
        "has no answers, and --compare needs them, in the file or by id in --truth" in unnamed.err
    )


@pytest.mark.parametrize(
    "command", [["rule", "fit"], ["rule", "fit", "--delta", "0.1"], ["select"]]
)
def test_a_budget_above_the_largest_loss_is_refused(world, run, command):
    out, *_ = world
    words = [*command[:2], out / "cal.npz", *command[2:]]
    words = [words[0], out / "cal.npz"] if command == ["select"] else words
    words += ["--maximize", "coverage"]
    for name in ("risk", "regret"):
        refused = run(*words, "--loss", "zero_one", f"--{name}-max", "5")
        assert refused.code == 2
        assert refused.err.strip() == (
            f"rue: --{name}-max must be at most the largest possible loss under zero_one loss, 1, "
            "got 5; 0.05 is 5 %"
        )
    refused = run(*words, "--loss", "squared", "--risk-max", "4.5")
    assert refused.err.strip().endswith("the largest possible loss under squared loss, 4, got 4.5")
    assert run(*words, "--loss", "squared", "--risk-max", "4").code == 0
    floor = ["--floor", "0.001"]  # -log 0.001 = 6.9
    assert run(*words, "--loss", "log", *floor, "--risk-max", "6.9").code == 0
    assert run(*words, "--loss", "log", *floor, "--risk-max", "7").code == 2
    if "--delta" not in words:
        assert run(*words, "--loss", "log", "--risk-max", "100").code == 0  # it has no bound


def test_rules_are_compared_by_what_the_team_costs(world, run):
    out = world[0]
    fit = ["rule", "fit", out / "cal.npz", "--loss", "zero_one", "--risk-max", "0.3"]
    more = ["--compare", out / "answered.npz", "--defer-fee", "0.1"]
    result = run(*fit, *more, "--format", "json")
    assert result.code == 0, result.err
    rows = {row["name"]: row for row in json.loads(result.out)["comparison"]}
    answered = arrays(out / "answered.npz")
    belief = Draws(answered["probs"])
    star = realize(Annotations(answered["counts"]), belief, "zero_one")
    assert rows["accept all"]["team"] == pytest.approx(star.total.mean())
    assert rows["defer all"]["team"] == pytest.approx(star.person.mean() + 0.1)
    hat = decompose(belief, "zero_one")
    agreement = (belief.probs**2).sum(axis=-1).mean(axis=1)
    accepted = hat.total <= 1 - agreement + 0.1
    assert rows["predicted person"]["coverage"] == pytest.approx(accepted.mean())
    cost = np.where(accepted, star.total, star.person + 0.1).mean()
    assert rows["predicted person"]["team"] == pytest.approx(cost)
    table = run(*fit, *more).out
    assert "team" in table.splitlines()[-len(rows) - 2]
    assert f"{rows['learned']['team']:.4f}" in table


def test_what_the_team_needs(world, run):
    out = world[0]
    fit = ["rule", "fit", out / "cal.npz", "--loss", "zero_one"]
    for words, why in (
        (["--minimize", "team"], "needs the truth of each point"),
        (["--risk-max", "0.3", "--defer-fee", "0.1"], "--defer-fee needs --compare"),
    ):
        result = run(*fit, *words)
        assert result.code == 2
        assert why in result.err


def test_new_points_with_answers_are_measured_and_compared(world, run):
    out, *_ = world
    fit = ["rule", "fit", out / "cal.npz", *ASKED, "--save", out / "rule.json"]
    more = ["--compare", out / "answered.npz", "--plot", out / "figure.png"]
    found = json.loads(run(*fit, *more, "--format", "json").out)
    apply = ["rule", "apply", out / "rule.json", out / "answered.npz"]
    applied = json.loads(run(*apply, "--format", "json").out)["new"]
    assert 0 < applied["attained"]["risk"] <= 1
    names = [row["name"] for row in found["comparison"]]
    fitted = ["learned", "total", "epistemic", "confidence", "no promise"]
    assert names == [*fitted, "predicted person", "accept all", "defer all", "possible"]
    learned = found["comparison"][0]
    assert learned["coverage"] == applied["coverage"]
    assert (out / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "possible" in run(*fit, "--compare", out / "answered.npz").out
    assert "budget 0.3: kept" in run(*apply).out
    assert found["rule"]["promise"]["test"] == "betting"
    # A score alone needs no points to learn from.
    alone = json.loads(run(*fit, "--score", "total", "--format", "json").out)
    assert alone["rule"]["calibration"]["n_learned"] == 0
    assert alone["rule"]["weights"] == {"aleatoric": 1.0, "epistemic": 1.0}


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
    fitted = run("rule", "fit", "cal.npz", *asked, "--compare", "answered.npz", "--format", "json")
    assert fitted.code == 0, fitted.err
    learned = json.loads(fitted.out)["comparison"][0]
    applied = run("rule", "apply", "rule.json", "answered.npz", "--format", "json")
    assert applied.code == 0, applied.err
    found = json.loads(applied.out)["new"]
    assert {k: found["attained"][k] for k in ("coverage", "risk", "regret")} == {
        k: learned[k] for k in ("coverage", "risk", "regret")
    }
    assert found["n_accepted"] > 0


def test_a_stated_bound_is_enough_for_new_points(world, run):
    out, counts, probs, new_probs = world
    for file, n, said in (("cal", N, {"counts": counts}), ("new", 90, {})):
        beyond = {"probs": probs if n == N else new_probs, "actions": np.full(n, K - 0.6)}
        np.savez(out / f"beyond-{file}.npz", **beyond, **said)
    for name, asked in (
        ("", ["--loss", "log", "--bound", "28", "--risk-max", "9"]),
        ("beyond-", ["--loss", "absolute", "--bound", "3", "--risk-max", "2.9"]),
    ):
        save = ["--delta", "0.1", "--save", out / "rule.json"]
        assert run("rule", "fit", out / f"{name}cal.npz", *asked, *save).code == 0
        result = run("rule", "apply", out / "rule.json", out / f"{name}new.npz")
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
    table = run("rule", "fit", out / "cal.npz", "--loss", "zero_one", "--risk-max", "0.3").out
    assert "Nothing is promised" in table
    assert "cross-fitted" in table


def test_too_few_points_say_how_many(world, run):
    out, counts, probs, _ = world
    np.savez(out / "few.npz", probs=probs[:20], counts=counts[:20])
    asked = ["--loss", "zero_one", "--risk-max", "0.05", "--delta", "0.1"]
    found = run("rule", "fit", out / "few.npz", *asked, "--save", out / "rule.json")
    assert found.code == 1
    assert "Accept nothing." in found.out
    assert "20 calibration points are too few to promise risk <= 0.05; at least 48" in found.out
    applied = run("rule", "apply", out / "rule.json", out / "new.npz")
    assert "0 accepted (0.0 %)" in applied.out


def test_budgets_are_marked_kept_or_broken_where_there_are_answers(world, run):
    out, *_, new_probs = world
    assert run("rule", "fit", out / "cal.npz", *ASKED, "--save", out / "rule.json").code == 0
    apply = ["rule", "apply", out / "rule.json", out / "new.npz"]
    plain = run(*apply)
    assert plain.code == 0
    assert "budget" not in plain.out
    # Annotators who all choose the class that the model finds least likely: the risk is 1.
    wrong = 9 * np.eye(K, dtype=int)[new_probs.mean(axis=1).argmin(axis=1)]
    right = 9 * np.eye(K, dtype=int)[new_probs.mean(axis=1).argmax(axis=1)]
    for counts, kept, word, code in ((wrong, False, "broken", 1), (right, True, "kept", 0)):
        np.savez(out / "truth.npz", counts=counts, ids=np.array([f"p{i}" for i in range(90)]))
        table = run(*apply, "--truth", out / "truth.npz")
        assert table.code == code
        assert f"budget 0.3: {word}" in table.out
        found = json.loads(run(*apply, "--truth", out / "truth.npz", "--format", "json").out)
        assert found["new"]["kept"] == {"risk": kept}
    share = found["new"]["coverage"]
    assert found["new"]["attained"]["risk"] == 0
    assert share > 0


def test_the_printed_threshold_decides_the_rows_of_the_file(world, run):
    out, *_ = world
    fit = ["rule", "fit", out / "cal.npz", *ASKED, "--score", "total", "--save", out / "rule.json"]
    printed = float(run(*fit).out.split("total uncertainty is at most ")[1].split(".\n")[0])
    run("rule", "apply", out / "rule.json", out / "new.npz", "--out", out / "decisions.csv")
    with (out / "decisions.csv").open() as file:
        rows = [(float(row["score"]), row["accept"] == "1") for row in csv.DictReader(file)]
    assert json.loads((out / "rule.json").read_text())["tau"] == pytest.approx(printed, rel=1e-5)
    assert [accepted for _, accepted in rows] == [score <= printed for score, _ in rows]
    assert 0 < sum(accepted for _, accepted in rows) < 90


def test_the_same_outcome_has_the_same_exit_code(world, run):
    # 1 wherever the answer is no, 2 wherever the input is wrong.
    out, counts, probs, _ = world
    np.savez(out / "few.npz", probs=probs[:20], counts=counts[:20])
    asked = ["--loss", "zero_one", "--risk-max", "0.05"]
    save = ["--delta", "0.1", "--save", out / "rule.json"]
    assert run("rule", "fit", out / "few.npz", *asked, *save).code == 1
    assert run("rule", "show", out / "rule.json").code == 1
    assert run("rule", "apply", out / "rule.json", out / "new.npz").code == 1
    nothing = run("select", out / "few.npz", "--loss", "brier", "--maximize", "coverage",
                  "--risk-max", "0")  # fmt: skip
    assert nothing.code == 1
    assert "coverage" in nothing.out
    impossible = run("select", out / "few.npz", "--loss", "brier", "--maximize", "coverage",
                     "--normalized", "--risk-max", "0.0001")  # fmt: skip
    assert impossible.code == 1
    assert "best attainable" in impossible.err
    assert run("rule", "fit", out / "few.npz", "--loss", "zero_one", "--risk-max", "-1").code == 2
    assert run("select", out / "few.npz", "--maximize", "coverage", "--risk-max", "-1").code == 2


def test_tables_of_components(tmp_path, run, rng):
    n = 300
    a, e = rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    columns = {"aleatoric": a, "epistemic": e, "risk": e**2, "regret": e**2 / 2}
    rows = np.column_stack(list(columns.values()))
    np.savetxt(tmp_path / "cal.csv", rows, delimiter=",", header=",".join(columns), comments="")
    (tmp_path / "new.csv").write_text("id,aleatoric,epistemic\nx,0.5,0.01\ny,0.5,0.99\n")
    asked = ["--risk-max", "0.1", "--delta", "0.1", "--bound", "1", "--save", tmp_path / "r.json"]
    out = tmp_path / "out.csv"
    assert run("rule", "fit", tmp_path / "cal.csv", *asked).code == 0
    result = run("rule", "apply", tmp_path / "r.json", tmp_path / "new.csv", "--out", out)
    assert result.code == 0, result.err
    assert [line[0] + line[-1] for line in out.read_text().splitlines()[1:]] == ["x1", "y0"]
    (tmp_path / "new.csv").write_text("id,aleatoric,epistemic\n=x(),0.5,0.01\n-1,0.5,0.99\n")
    run("rule", "apply", tmp_path / "r.json", tmp_path / "new.csv", "--out", out)
    written = [line.split(",")[0] for line in out.read_text().splitlines()[1:]]
    assert written == ["'=x()", "-1"]  # no formula in a spreadsheet
    np.savez(tmp_path / "new.npz", probs=np.full((2, 4, K), 1 / K))
    refused = run("rule", "apply", tmp_path / "r.json", tmp_path / "new.npz")
    assert refused.code == 2
    assert "belief is components in the rule and draws" in refused.err
    # Without --bound nothing is known of the loss.
    unbounded = run("rule", "fit", tmp_path / "cal.csv", *asked[:4])
    assert "needs a bound on the loss" in unbounded.err


EVEN = np.full((5, 4, K), 1 / K)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"probs": np.full((5, 20, K), 1 / K)}, "draws per point is 4 in the rule and 20"),
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
    assert run("rule", "fit", out / "cal.npz", *asked, "--save", out / "rule.json").code == 0
    result = run("rule", "apply", out / "rule.json", out / "other.npz")
    assert (result.code, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    assert "other.npz" in result.err
    assert words in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "cal.npz", "--delta", "0.1", "--loss", "brier"], "needs a budget"),
        (
            ["fit", "cal.npz", "--delta", "2", "--loss", "brier", "--risk-max", "1"],
            "delta must be",
        ),
        (["fit", "cal.npz", "--delta", "0.1", "--risk-max", "1"], "log loss has no bound"),
        (["fit", "new.npz", "--risk-max", "1"], "has no answers of its own"),
        (["fit", "cal.npz", "--loss", "brier", "--floor", "0.1"], "--floor needs --loss log"),
        (["fit", "cal.npz", "--loss", "cost"], "--loss cost and --cost FILE need each other"),
        (["fit", "cal.npz", "--risk-max", "1", "--plot", "x.png"], "--plot needs --compare"),
        (["fit", "cal.npz", "--compare", "new.npz"], "has no answers"),
        (["fit", "cal.npz", "--maximize", "coverage", "--minimize", "risk"], "one objective"),
        (["fit"], "issing argument"),
        (["apply", "rule.json"], "issing argument"),
        (["apply", "rule.json", "none.npz"], "none.npz"),
        (["apply", "cal.npz", "new.npz"], "is not a rule"),
        (["show", "cal.npz"], "is not a rule"),
        (["show", "none.json"], "cannot be read"),
    ],
)
def test_broken_calls_are_one_line(world, run, monkeypatch, arguments, words):
    out, *_ = world
    monkeypatch.chdir(out)
    assert run("rule", "fit", "cal.npz", *ASKED, "--save", "rule.json").code == 0
    result = run("rule", *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    assert words in result.err


@pytest.mark.parametrize("command", ["fit", "apply", "show"])
def test_help_has_an_example(run, command):
    shown = run("rule", command, "--help")
    assert shown.code == 0
    assert f"Example:  rue rule {command}" in shown.out
    assert "--format" in shown.out


def test_applying_needs_neither_torch_nor_the_calibration_data(world):
    out, *_ = world
    with pytest.raises(SystemExit) as stop:
        main(["rule", "fit", str(out / "cal.npz"), *ASKED, "--save", str(out / "rule.json")])
    assert not stop.value.code
    (out / "cal.npz").unlink()
    code = (
        "import sys; sys.modules['torch'] = None\n"  # to import it is an error
        "from rue.cli import main\n"
        "try:\n    main(['rule', 'apply', 'rule.json', 'new.npz'])\n"
        "finally:\n    print('matplotlib' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=out, capture_output=True, text=True, check=True
    )
    rule = Rule.load(out / "rule.json")
    accepted = rule.accept(decompose(Draws(arrays(out / "new.npz")["probs"]), "zero_one")).sum()
    assert f"90 new points: {accepted} accepted" in done.stdout
    assert done.stdout.endswith("False False\n")

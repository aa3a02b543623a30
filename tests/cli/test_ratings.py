"""Real-valued outcomes from the command line: every command that judges predictions."""

import json

import numpy as np
import pytest

from rue import (
    Gaussians,
    NormalInverseGamma,
    Ratings,
    Rule,
    Samples,
    evaluate,
    save_predictions,
)

N = 60


@pytest.fixture
def world(tmp_path):
    rng = np.random.default_rng(0)
    truth, sizes = rng.uniform(2, 8, N), rng.integers(3, 7, N)
    answers = [np.clip(rng.normal(t, 1, m), 0, 10) for t, m in zip(truth, sizes, strict=True)]
    error = rng.gamma(1, 0.6, N)[:, None]
    mean = np.clip(truth[:, None] + error * rng.normal(0, 1, (N, 4)), 0, 10)
    beliefs = {
        "normals": Gaussians(mean, np.ones((N, 4))),
        "samples": Samples(mean[:, :, None] + rng.normal(0, 0.3, (N, 4, 6)).clip(-1, 1)),
        "evidential": NormalInverseGamma(
            mean[:, 0], 1 / error[:, 0], np.full(N, 3.0), np.full(N, 2.0)
        ),
    }
    ids = [f"p{i}" for i in range(N)]
    for name, belief in beliefs.items():
        save_predictions(tmp_path / f"{name}.npz", belief, ids=ids)
    rows = [f"{name},{y!r}" for name, own in zip(ids, answers, strict=True) for y in own.tolist()]
    (tmp_path / "truth.csv").write_text("\n".join(["id,rating", *rows]))
    return tmp_path, Ratings(answers), beliefs


@pytest.mark.parametrize("loss", ["squared", "absolute", "pinball:0.8", "crps"])
def test_evaluate_prints_the_library_s_rows(world, run, loss):
    folder, people, beliefs = world
    files = [folder / f"{name}.npz" for name in beliefs]
    result = run(
        *("evaluate", *files, "--truth", folder / "truth.csv", "--loss", loss),
        *("--no-gap", "--format", "json"),
    )
    assert result.code == 0, result.err
    for row in json.loads(result.out):
        expected = evaluate(people, beliefs[row["method"]], loss, gap=False)
        assert row["loss"] == loss
        assert row["aurec"] == pytest.approx(expected.aurec)
        assert row["aurec_low"] == pytest.approx(expected.aurec_low)


def test_intervals_comparison_plan_report_and_select(world, run):
    folder, _, _ = world
    both = [folder / "normals.npz", folder / "samples.npz"]
    more = ["--truth", folder / "truth.csv", "--loss", "crps"]
    ci = run("evaluate", *both, *more, "--no-gap", "--ci", "0.9", "--replicates", "20")
    assert ci.code == 0, ci.err
    drawn = run(
        "evaluate", *both, *more, "--ci", "0.9", "--replicates", "20", "--resample-annotators"
    )
    assert drawn.code == 0, drawn.err
    corrected = run("evaluate", *both, *more, "--no-gap", "--corrected")
    assert corrected.code == 0, corrected.err
    assert run("compare", *both, *more).code == 0
    assert run("plan", *both, *more).code == 0
    page = folder / "report.html"
    report = run("report", *both, *more, "--out", page)
    assert report.code == 0, report.err
    assert "4 normal distributions per point" in page.read_text()
    assert "standard deviation within points" in page.read_text()
    best = run("select", both[0], *more, "--maximize", "coverage", "--risk-max", "0.4")
    assert best.code == 0, best.err


def test_a_rule_with_a_promise_needs_the_range(world, run):
    folder, people, beliefs = world
    save_predictions(folder / "cal.npz", beliefs["normals"], annotations=people)
    asked = ["rule", "fit", folder / "cal.npz", "--loss", "absolute", "--risk-max", "2.5"]
    asked += ["--delta", "0.2", "--save", folder / "rule.json"]
    bare = run(*asked)
    assert bare.code == 2
    assert "--range states their range" in bare.err
    narrow = run(*asked, "--range", "3,9")
    assert narrow.code == 2
    assert "within the range 3 to 9" in narrow.err
    found = run(*asked, "--range", "0,10")
    assert found.code == 0, found.err
    rule = Rule.load(folder / "rule.json")
    assert rule.bound == 10
    assert rule.kind.range == (0, 10)
    applied = run("rule", "apply", folder / "rule.json", folder / "normals.npz")
    assert applied.code == 0, applied.err
    other = run("rule", "apply", folder / "rule.json", folder / "samples.npz")
    assert other.code == 2
    assert "the kind of belief is gaussians in the rule and samples" in other.err
    save_predictions(folder / "far.npz", Gaussians(beliefs["normals"].mean + 40, np.ones((N, 4))))
    far = run("rule", "apply", folder / "rule.json", folder / "far.npz")
    assert far.code == 2
    assert "predictions must lie within the range, 0 to 10" in far.err


EVALUATE = ["evaluate", "normals.npz", "--truth", "truth.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (EVALUATE, "log loss cannot be used with real"),
        (
            [*EVALUATE, "--loss", "zero_one"],
            "two real numbers are hardly ever equal",
        ),
        (["evaluate", "normals.npz", "--loss", "crps"], "no answers of its own"),
        (
            [*EVALUATE, "--loss", "squared", "--convention", "published"],
            "tables have classes only",
        ),
        (["rule", "fit", "normals.npz", "--range", "high"], "--range must be two numbers"),
    ],
)
def test_what_cannot_be_is_one_line(world, run, monkeypatch, arguments, words):
    monkeypatch.chdir(world[0])
    result = run(*arguments)
    assert result.code == 2
    assert words in result.err
    assert result.err.count("\n") == 1

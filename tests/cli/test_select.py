"""rue select: the library's selector, printed."""

import json

import numpy as np
import pytest

from rue import Annotations, Draws, optimal_selector, realize
from rue.selectors import team_selector

N, K = 40, 3


@pytest.fixture
def world(tmp_path, rng):
    counts = rng.multinomial(12, rng.dirichlet(np.ones(K), N))
    probs = rng.dirichlet(np.ones(K), (N, 4))
    np.save(tmp_path / "counts.npy", counts)
    np.savez(tmp_path / "draws.npz", probs=probs)
    return [tmp_path / "draws.npz", "--truth", tmp_path / "counts.npy"], counts, probs


@pytest.mark.parametrize(
    ("arguments", "budgets"),
    [
        (["--maximize", "coverage"], {"maximize": "coverage"}),
        (
            ["--maximize", "coverage", "--risk-max", "0.2", "--regret-max", "0.05"],
            {"maximize": "coverage", "risk_max": 0.2, "regret_max": 0.05},
        ),
        (
            ["--minimize", "risk", "--coverage-min", "0.5"],
            {"minimize": "risk", "coverage_min": 0.5},
        ),
        (
            ["--minimize", "regret", "--coverage-min", "0.5", "--normalized"],
            {"minimize": "regret", "coverage_min": 0.5, "normalized": True},
        ),
    ],
)
@pytest.mark.parametrize("loss", ["log", "zero_one"])
def test_prints_the_library_s_optimum(world, run, loss, arguments, budgets):
    files, counts, probs = world
    result = run("select", *files, "--loss", loss, *arguments, "--format", "json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    star = realize(Annotations(counts), Draws(probs), loss)
    selector = optimal_selector(star, **budgets)
    for name in ("lam", "alpha", "beta", "coverage", "risk", "regret"):
        assert found[name] == pytest.approx(getattr(selector, name)), name
    assert found["tau"] == (None if np.isinf(selector.tau) else pytest.approx(selector.tau))
    assert found["n_accepted"] == (selector.acceptance == 1).sum()
    assert (found["method"], found["loss"], found["n_points"]) == ("draws", loss, N)
    table = run("select", *files, "--loss", loss, *arguments).out
    assert str(selector) in table
    assert f"{selector.coverage:.6g}" in table


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "maximize"),
        (["--maximize", "coverage", "--minimize", "risk"], "one objective"),
        (["--maximize", "risk"], "Invalid value for '--maximize': 'risk' is not one of"),
        (["--maximize", "risk"], "risk"),
        (["--minimize", "risk"], "--coverage-min"),
        (["--minimize", "risk", "--coverage-min", "2"], "--coverage-min must be"),
        (["--maximize", "coverage", "--risk-max", "-1"], "--risk-max must be"),
        (["--maximize", "coverage", "--loss", "hinge"], "loss must be"),
    ],
)
def test_invalid_calls_are_one_line(world, run, arguments, words):
    result = run("select", *world[0], *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    assert words in result.err


def test_infeasible_budgets_are_one_line_and_exit_code_1(world, run):
    asked = ["--minimize", "regret", "--coverage-min", "1", "--risk-max", "0.001"]
    result = run("select", *world[0], *asked)
    assert (result.code, result.out) == (1, "")
    assert len(result.err.strip().splitlines()) == 1
    assert "the best attainable is" in result.err


@pytest.mark.parametrize("loss", ["zero_one", "log"])
def test_the_team_is_the_library_s(world, run, loss):
    files, counts, probs = world
    asked = ["select", *files, "--loss", loss, "--minimize", "team", "--defer-fee", "0.05"]
    result = run(*asked, "--format", "json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    star = realize(Annotations(counts), Draws(probs), loss)
    selector = team_selector(star, defer_fee=0.05)
    for key in ("team_risk", "coverage", "risk", "regret", "person_risk"):
        assert found[key] == pytest.approx(getattr(selector, key)), key
    assert found["accept_all"] == pytest.approx(star.total.mean())
    assert found["defer_all"] == pytest.approx(star.person.mean() + 0.05)
    assert found["person_kind"] == {"zero_one": "person", "log": "panel"}[loss]
    table = run(*asked).out
    assert "Accept where the total is at most the risk of a person plus the fee of 0.05" in table
    assert f"{found['team_risk']:.6g}" in table


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--minimize", "team", "--risk-max", "0.1"], "has no budgets: leave out --risk-max"),
        (["--minimize", "team", "--coverage-min", "0.1"], "leave out --coverage-min"),
        (["--maximize", "coverage", "--defer-fee", "0"], "--defer-fee needs --minimize team"),
        (["--minimize", "team", "--defer-fee", "-1"], "--defer-fee"),
    ],
)
def test_the_team_has_no_budgets(world, run, arguments, words):
    result = run("select", *world[0], *arguments)
    assert result.code == 2
    assert words in result.err

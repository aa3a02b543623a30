"""Errors name only options that the command has."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import typer

import rue
from rue._text import without_options
from rue.cli import COMMANDS, make_app, options_of

SOURCE = Path(rue.__file__).parent
ABOUT_A_GIVEN_OPTION = (
    "--range is for predictions of real numbers",
    "--only ",
    "--classes must be two or more different names",
    "--common matches by id",
    "--truth must name a data set of",
    "columns but --classes names",
    "--convention published, or --ci",
)
"""Raised only if the user gave the option, so the command has it."""


def commands():
    """Return the arguments of every command."""
    found = []
    for name in COMMANDS:
        command = typer.main.get_command(make_app(name)).commands[name]
        found += [[name, each] for each in getattr(command, "commands", ())] or [[name]]
    return found


def raised(paths):
    """Return the texts of all exceptions that files raise; X stands for what is filled in."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                for part in node.exc.args:
                    texts = part.values if isinstance(part, ast.JoinedStr) else [part]
                    words = [t.value if isinstance(t, ast.Constant) else "X" for t in texts]
                    yield path.name, "".join(map(str, words))


def options_in(text):
    return set(re.findall(r"(?<![^\s(])--[a-z][a-z-]*", text))


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_no_error_of_the_library_names_an_option_that_the_command_lacks(command):
    known = options_of(make_app(command[0]), command)
    files = [path for path in SOURCE.rglob("*.py") if path.parent.name not in ("cli", "own")]
    for name, text in raised(files):
        if any(start in text for start in ABOUT_A_GIVEN_OPTION):
            continue
        left = without_options(text, known)
        assert options_in(left) <= known or "rue " in left, (name, left)
        assert left.startswith(text.split("; ")[0][:20])


def test_errors_of_a_command_s_file_name_its_own_options():
    for path in (SOURCE / "cli").glob("[a-z]*.py"):
        own = [command for command in commands() if command[0] == path.stem]
        known = {o for command in own for o in options_of(make_app(path.stem), command)}
        for name, text in raised([path]):
            if "rue " not in text:
                assert options_in(text) <= known, (name, text)


def test_options_of_the_default_command():
    app = make_app("leaderboard")
    assert options_of(app, ["leaderboard", "folder"]) == options_of(app, ["leaderboard", "build"])
    assert "--title" in options_of(app, ["leaderboard", "folder"])


@pytest.mark.parametrize(
    ("message", "known", "left"),
    [
        ("a: no; --b does, or c", {"--b"}, "a: no; --b does, or c"),
        ("a: no; --b does, or c", set(), "a: no; c"),
        ("a: no; c (or --d), or use --b", {"--b"}, "a: no; c, or use --b"),
        ("a: no; c (or --d), or use --b", set(), "a: no; c"),
        ("a is 1 or 2 or --b", set(), "a is 1 or 2"),
        ("x--y.csv: needs --b", set(), "x--y.csv: needs --b"),
        ("a: no; see rue data list --all", set(), "a: no; see rue data list --all"),
    ],
)
def test_by_hand(message, known, left):
    assert without_options(message, known) == left


@pytest.fixture
def partly_answered(tmp_path, rng):
    """Predictions of 60 points, and answers about 50 of them in another order."""
    ids = np.array([f"p{i}" for i in range(60)])
    probs, counts = rng.dirichlet(np.ones(3), (60, 4)), rng.multinomial(9, np.ones(3) / 3, 60)
    kept = rng.permutation(60)[:50]
    np.savez(tmp_path / "cal.npz", probs=probs, ids=ids, counts=counts)
    np.savez(tmp_path / "new.npz", probs=probs, ids=ids)
    np.savez(tmp_path / "truth.npz", counts=counts[kept], ids=ids[kept])
    rows = np.sort(kept)
    np.savez(tmp_path / "both.npz", probs=probs[rows], ids=ids[rows], counts=counts[rows])
    return tmp_path


def test_maps_and_rules_apply_to_the_points_with_answers(partly_answered, run, monkeypatch):
    monkeypatch.chdir(partly_answered)
    assert run("recalibrate", "fit", "cal.npz", "--out", "map.json").code in (0, 1)
    assert run("rule", "fit", "cal.npz", "--risk-max", "0.5", "--save", "rule.json").code == 0
    for apply in (["recalibrate", "apply", "--map", "map.json"], ["rule", "apply", "rule.json"]):
        truth = ["--truth", "truth.npz", "--out", "mine.csv"]
        refused = run(*apply, "new.npz", *truth)
        assert refused.code == 2
        assert "--common keeps the 50 of 60" in refused.err
        kept = run(*apply, "new.npz", *truth, "--common")
        assert "note: kept 50 points and dropped 10 of the 60 points of new.npz" in kept.out
        alone = run(*apply, "both.npz", "--out", "its.csv")
        assert kept.code == alone.code
        mine = Path("mine.csv").read_text().replace(",new", ",both")
        assert mine == Path("its.csv").read_text()


def test_leaderboards_offer_no_option_that_they_lack(partly_answered, run, monkeypatch):
    monkeypatch.chdir(partly_answered)
    pack = ["leaderboard", "pack", "--data", "coins", "--truth", "truth.npz", "--out", "mine"]
    refused = run(*pack, "new.npz")
    assert refused.code == 2
    first = "truth.npz: lacks 10 of the ids in new.npz, first 'p"
    assert first in refused.err
    assert "--common" not in refused.err
    assert run("leaderboard", "pack", "cal.npz", "--data", "coins", "--out", "mine").code == 0
    checked = run("leaderboard", "check", "mine", "--truth", "truth.npz")
    assert checked.code == 2
    assert "truth.npz: lacks 10 of the ids in mine/predictions.npz" in checked.out
    assert "--common" not in checked.out

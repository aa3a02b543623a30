"""An error carries its advice as data, and a command shows the options that it has."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import typer

import rue
from rue.cli import COMMANDS, make_app
from rue.cli.inputs import shortest_names
from rue.errors import AlignmentError, InputError

SOURCE = Path(rue.__file__).parent


def commands():
    """Return the options of every command, by its words."""
    options = {}
    for name in COMMANDS:
        command = typer.main.get_command(make_app(name)).commands[name]
        for word, own in getattr(command, "commands", {"": command}).items():
            params = own.params
            options[f"{name} {word}".strip()] = {
                o for p in params for o in (*p.opts, *p.secondary_opts)
            }
    return options


def errors(paths):
    """Yield the file, the text and the advised options of each error that files make."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            function = getattr(node, "func", None)
            name = getattr(function, "id", getattr(function, "attr", ""))
            if isinstance(node, ast.Call) and name.lower().endswith("error"):
                texts = [
                    part.value
                    for argument in node.args
                    for part in ast.walk(argument)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
                advice = [k.value for k in node.keywords if k.arg == "advice"]
                keys = [k.value for d in advice for k in getattr(d, "keys", ())]
                yield path, " ".join(texts), keys


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def test_messages_of_the_library_name_no_option():
    """A library error may be met in Python, and by a command without that option."""
    for path, text, _ in errors(p for p in SOURCE.rglob("*.py") if p.parent.name != "cli"):
        assert not options_in(text) or "rue " in text, (path, text)


def test_advice_is_an_option_of_some_command():
    known = set().union(*commands().values()) | {"--multi-label"}
    for path, text, keys in errors(SOURCE.rglob("*.py")):
        assert set(keys) <= known, (path, text)


def test_errors_of_a_command_s_file_name_its_own_options():
    options = commands()
    for path in (SOURCE / "cli").glob("[a-z]*.py"):
        own = set().union(*(o for name, o in options.items() if name.split()[0] == path.stem))
        if path.stem == "inputs":
            own = set().union(*options.values())
        for _, text, _ in errors([path]):
            assert options_in(text) <= own or "rue " in text, (path, text)


def test_what_python_and_commands_show():
    advice = {"--common": "keeps 5 of 6", "--id": "names it"}
    error = AlignmentError("a lacks b", advice=advice)
    assert str(error) == "a lacks b; common=True keeps 5 of 6"
    error.options = {"common": "--common", "id_name": "--id"}
    assert str(error) == "a lacks b; --common keeps 5 of 6, or --id names it"
    error.options = {"truth": "--truth"}
    assert str(error) == error.message == "a lacks b"
    again = error.about("c.csv")
    assert isinstance(again, AlignmentError)
    assert InputError("a").about("c.csv").about("d.csv").message == "c.csv: a"
    assert (again.message, again.advice) == ("c.csv: a lacks b", advice)
    assert str(InputError("x\ny", advice={"--common": "a\tb"})) == r"x\ny; common=True a\tb"


def test_arguments_have_the_names_of_options():
    error = InputError("risk_max must be above regret_max, not 'risk_max' in risk_max.csv")
    error.options = {"risk_max": "--risk-max", "regret_max": "--regret-max", "loss": "--loss"}
    expected = "--risk-max must be above --regret-max, not 'risk_max' in risk_max.csv"
    assert str(error) == expected


def test_no_words_of_python(partly_answered, run, monkeypatch):
    monkeypatch.chdir(partly_answered)
    text = run("select", "cal.npz", "--maximize", "coverage", "--risk-max", "-1").err
    assert text == "rue: --risk-max must be finite and not negative, got -1\n"
    text = run("select", "cal.npz", "--minimize", "risk").err
    assert text == "rue: to minimize risk needs --coverage-min: accepting nothing costs nothing\n"
    text = run("select", "cal.npz").err
    assert "there must be one objective: to maximize coverage" in text


def test_advice_survives_another_process():
    import pickle

    error = pickle.loads(pickle.dumps(InputError("a", advice={"--common": "b"})))
    assert str(error) == "a; common=True b"


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
    first = "truth.npz lacks 10 of the ids in new.npz, first 'p"
    assert first in refused.err
    assert "--common" not in refused.err
    assert run("leaderboard", "pack", "cal.npz", "--data", "coins", "--out", "mine").code == 0
    checked = run("leaderboard", "check", "mine", "--truth", "truth.npz")
    assert checked.code == 2
    assert "its points do not fit the answers of truth.npz under log loss" in checked.out
    assert "--common" not in checked.out


def test_a_packed_file_is_named_without_both_endings(tmp_path):
    files = [tmp_path / "a.csv.gz", tmp_path / "b.npz", tmp_path / "v1.2.csv"]
    assert list(shortest_names(files).values()) == ["a", "b", "v1.2"]

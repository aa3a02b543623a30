"""What a person sees in a terminal of 80 columns: no table wraps, and no bar is left behind."""

import functools
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

from rue.cli import COMMANDS, make_app
from tests.benchmarked import write_benchmark

METHODS = ("ensemble", "ddu", "evidential", "mc-dropout", "laplace", "snapshots")


@pytest.fixture
def world(tmp_path, rng, monkeypatch):
    """Write predictions of six methods about 60 points with 12 answers each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    star = rng.dirichlet(np.ones(4), 60)
    counts = np.stack([rng.multinomial(12, p) for p in star])
    ids, topic = np.array([f"p{i}" for i in range(60)]), np.tile(["a", "b"], 30)
    for name in METHODS:
        probs = (rng.dirichlet(np.ones(4), (60, 5)) + star[:, None]) / 2
        np.savez(f"{name}.npz", probs=probs, ids=ids, counts=counts, topic=topic)
        np.savez(f"{name}-ood.npz", probs=rng.dirichlet(np.ones(4), (20, 5)))
    np.savez("labels.npz", labels=counts.argmax(axis=1), ids=ids)
    return tmp_path


def tables(text):
    """Yield the lines of each table: the header, the rule and what follows up to a blank line."""
    lines = re.sub(r"\x1b\[\d*m", "", text).splitlines()
    for i, line in enumerate(lines):
        if re.fullmatch(r"─+(  ─+)*", line):
            end = next((j for j in range(i, len(lines)) if not lines[j]), len(lines))
            yield lines[i - 1 : end]


FILES = [f"{name}.npz" for name in METHODS]
OOD = [f"{name}:tin={name}-ood.npz" for name in METHODS[:3]]
FEW = ["--replicates", "20"]


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", *FILES],
        ["evaluate", *FILES, "--loss", "log", "--loss", "zero_one", "--corrected"],
        ["evaluate", *FILES, "--by", "topic", "--ci", "0.9", *FEW, "--no-gap"],
        ["compare", *FILES, *FEW],
        ["plan", *FILES[:2], "--width", "0.01"],
        ["proxies", *FILES[:3], "--ood", *OOD, "--near", "tin"],
        ["rule", "fit", FILES[0], "--risk-max", "0.9", "--compare", FILES[1]],
        ["data", "list"],
        ["bench", "list"],
        ["published"],
        ["inversions", "--published"],
        ["inversions", "--published", "--all"],
    ],
    ids=" ".join,
)
def test_no_table_is_wider_than_the_terminal(words, world, run):
    text = run(*words).out
    found = list(tables(text))
    assert found, text
    for table in found:
        assert max(map(len, table)) <= 80, "\n".join(table)


def test_tables_of_a_benchmark_fit_too(tmp_path, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    store = write_benchmark(tmp_path, n_points=20)
    for words in (["bench", "table"], ["bench", "table", "--seeds"], ["inversions"]):
        text = run(*words, store.folder).out
        assert all(len(line) <= 80 for table in tables(text) for line in table), text


@pytest.mark.parametrize("format_", ["table", "csv", "latex", "markdown"])
def test_a_damaged_cell_is_noted_in_every_format(format_, tmp_path, run):
    store = write_benchmark(tmp_path, n_points=20)
    row = min(store.folder.rglob("row.json"))
    row.write_text(row.read_text()[:50])
    for words in (["bench", "table"], ["inversions"]):
        result = run(*words, store.folder, "--format", format_)
        text = result.out if format_ == "table" else result.err
        assert "note: 1 cells are damaged, first random-rbf/" in text


def test_wide_prints_one_block(world, run):
    narrow = list(tables(run("published", "--table", "1").out))
    wide = list(tables(run("published", "--table", "1", "--wide").out))
    assert max(map(len, wide[0])) > 80
    assert len(wide) <= len(narrow)


@pytest.mark.parametrize("command", ["data", "rule", "bench", "leaderboard", "recalibrate"])
def test_a_command_of_commands_alone_prints_its_help(command, run):
    bare = run(command)
    assert (bare.code, bare.err) == (0, "")
    assert bare.out == run(command, "--help").out
    assert f"Usage: rue {command} [OPTIONS] COMMAND" in bare.out


def test_the_help_of_all_commands_loads_none_of_them(run):
    root = typer.main.get_command(make_app())
    assert {name: own.get_short_help_str(200) for name, own in root.commands.items()} == COMMANDS
    code = (
        "import sys, rue.cli\ntry:\n    rue.cli.main(['--help'])\nfinally:\n    print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    assert not {"numpy", "rue.cli.evaluate"} & set(done.stdout.split())


def processed(process, context, value):
    try:
        result = process(context, value)
    except typer.TyperException as error:
        result = error.format_message()
    return type(result), result


def test_parameters_have_the_values_that_typer_gives_them():
    root = typer.main.get_command(make_app())
    commands = [root, *root.commands.values()]
    commands += [own for group in commands[1:] for own in getattr(group, "commands", {}).values()]
    compared = 0
    for command in commands:
        context = typer.Context(command)
        for param in command.get_params(context):
            for value in (None, param.default, "text", ("a", "b"), "definition", "2"):
                several = param.multiple or param.nargs == -1
                if (isinstance(value, tuple) != several and value is not None) or param.callback:
                    continue
                own = processed(param.process_value, context, value)
                typers = functools.partial(type(param).process_value, param)
                assert own == processed(typers, context, value), (param.name, value)
                compared += 1
    assert compared > 1000


def test_a_plain_command_does_not_load_what_converts_values(world):
    code = (
        "import sys, rue.cli\ntry:\n    rue.cli.main(sys.argv[1:])\n"
        "finally:\n    print('numpy' in sys.modules, 'pydantic' in sys.modules)"
    )
    words = ["evaluate", "ddu.npz", "--loss", "log", "--quick", "--format", "csv", "--convention"]
    command = [sys.executable, "-c", code, *words, "published"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=world)
    assert done.stdout.splitlines()[-1] == "True False"


def test_help_fits_and_says_what_goes_where(world, run, monkeypatch):
    text = run("evaluate", "--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert "Usage: rue evaluate [OPTIONS] FILE..." in text
    assert "<" not in text
    heads = [line.rstrip(":") for line in text.splitlines() if re.fullmatch(r"[A-Z]\w+:", line)]
    assert heads == ["Arguments", "Input", "Loss", "Intervals", "Output", "Options"]
    monkeypatch.setenv("COLUMNS", "120")
    assert max(map(len, run("evaluate", "--help").out.splitlines())) > 100


def test_every_option_says_its_default(run):
    """An option with a value has a default in brackets, or none and the help says what follows."""
    root = typer.main.get_command(make_app())
    commands = [
        own
        for command in root.commands.values()
        for own in getattr(command, "commands", {"": command}).values()
    ]
    for command in commands:
        context = command.context_class(command, info_name=command.name)
        for param in command.params:
            _, text = param.get_help_record(context)
            if param.default not in (None, False, "") and not callable(param.default):
                assert "[default: " in text or "[required" in text, (command.name, param.name)


def test_shell_completion_on_request(run, monkeypatch):
    assert "--show-completion" in run("--help").out
    done = subprocess.run(
        [sys.executable, "-m", "rue"],
        env=os.environ
        | {"_RUE_COMPLETE": "complete_bash", "COMP_WORDS": "rue comp", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["compare"]


def in_terminal(*words):
    """Run a command in a pseudo-terminal of 80 columns; return all that it writes there."""
    pty = pytest.importorskip("pty")
    import fcntl
    import termios

    main, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "rue", *map(str, words)],
        stdin=child,
        stdout=child,
        stderr=child,
        env=env | {"TERM": "xterm"},
    )
    os.close(child)
    written = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        written += part
    process.wait()
    os.close(main)
    return written.decode()


def test_no_bar_is_glued_to_a_table(world):
    for words in (["evaluate", *FILES[:2]], ["report", FILES[0], "--out", "report.html"]):
        text = in_terminal(*words)
        assert "it/s" not in text
        assert "?it" not in text
        assert "\r" not in text.replace("\r\n", "")


def test_the_first_cell_is_not_on_the_line_of_the_bar(tmp_path):
    suite = tmp_path / "tiny.toml"
    suite.write_text(
        'name = "tiny"\ndatasets = ["random-rbf"]\nmethods = ["dirichlet_multinomial"]\n'
        'losses = ["log"]\nseeds = 1\n'
    )
    text = in_terminal("bench", "run", suite, "--out", tmp_path / "out", "--workers", "1")
    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    bars = [line for line in re.split(r"[\r\n]+", bare) if "━" in line]
    assert bars
    assert {*"".join(bars)} == {"━"}
    assert Path(tmp_path / "out").exists()

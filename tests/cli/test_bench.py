"""rue bench on the command line: lists, a run that fails in part, tables in every format."""

import csv
import io
import json
import os
import shutil
import subprocess

import pytest

SUITE = """
name = "tiny"
datasets = ["random-rbf", "appa-real"]
methods = ["dropout", "ddu"]
losses = ["log", "squared"]
seeds = 2
criteria = ["regret", "selective"]

[training]
epochs = 2

[dataset.random-rbf]
n_points = 200
"""


@pytest.fixture
def rue(run):
    def call(*arguments):
        result = run(*arguments)
        return result.code, result.out, result.err

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of four cells; appa-real, which is not here, fails."""
    from in_process import here
    from rue.bench.run import run_suite
    from rue.bench.suite import parse_suite

    out = tmp_path_factory.mktemp("bench") / "tiny"
    with here() as engine:
        root = str(tmp_path_factory.mktemp("empty"))
        report = run_suite(parse_suite(SUITE), out, engine=engine, root=root)
    assert (len(report.done), len(report.failed)) == (4, 4)
    return out


def test_list(rue):
    code, out, _ = rue("bench", "list")
    assert code == 0
    assert "cifar10h-probe" in out
    code, out, _ = rue("bench", "list", "--format", "json")
    suites = {suite["name"]: suite for suite in json.loads(out)}
    assert suites["demo"]["n_cells"] == 12
    assert suites["paper"]["networks"] == ["cifar", "probe", "fine_tuning"]


def test_a_run_that_fails_in_part_says_so_and_exits_with_1(rue, folder, tmp_path, monkeypatch):
    monkeypatch.delenv("RUE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "tiny.toml"
    path.write_text(SUITE)
    out_folder = tmp_path / "copy"
    shutil.copytree(folder, out_folder)
    command = ("bench", "run", str(path), "--out", str(out_folder), "--only", "dataset=appa-real")
    code, out, _ = rue(*command, "--only", "method=ddu", "--only", "seed=0")
    assert code == 1
    assert "0 cells done, 0 were there, 1 failed" in out
    assert "failed: appa-real/ddu/0: appa-real" in out
    code, out, _ = rue(*command, "--only", "method=ddu", "--only", "seed=0", "--format", "json")
    assert code == 1
    assert list(json.loads(out)["failed"]) == ["appa-real/ddu/0"]
    code, out, _ = rue("bench", "run", str(path), "--out", str(out_folder), "--only", "seed=7")
    assert code == 2


def test_tables_in_every_format(rue, folder):
    code, out, _ = rue("bench", "table", str(folder))
    assert code == 0
    assert "random-rbf, proxy tasks" in out
    assert "±" in out
    assert "note: 4 cells are missing, first appa-real/dropout/0" in out
    code, out, _ = rue("bench", "table", str(folder), "--format", "json")
    table = json.loads(out)
    assert table["suite"] == "tiny"
    assert len(table["rows"]) == 2 * 2 + 2
    assert len(table["missing"]) == 4
    rows = {(row["method"], row["loss"]): row for row in table["rows"]}
    assert rows["ddu", "log"]["n_seeds"] == 2
    assert rows["ddu", ""]["auac"] > 0
    code, out, _ = rue("bench", "table", str(folder), "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    assert len(lines) == 6
    assert float(lines[0]["aurec"]) == table["rows"][0]["aurec"]
    code, out, _ = rue("bench", "table", str(folder), "--format", "markdown")
    assert "| method | loss |" in out
    code, out, _ = rue("bench", "table", str(folder), "--summary", "--format", "csv")
    assert {line["best"] for line in csv.DictReader(io.StringIO(out))} <= {"0", "1"}
    code, out, _ = rue("bench", "table", str(folder), "--seeds", "--format", "json")
    assert {row["seed"] for row in json.loads(out)["rows"]} == {0, 1}
    code, out, _ = rue("bench", "table", str(folder), "--against", "published")
    assert "ours" in out
    for other in ("--ci=0.95", "--against=published"):
        code, out, err = rue("bench", "table", str(folder), "--seeds", other)
        assert code == 2
        assert f"--seeds prints single runs and cannot go with {other.partition('=')[0]}" in err


def test_conventions_and_ranked_by(rue, folder):
    code, out, _ = rue("bench", "table", folder)
    assert code == 0
    assert "random-rbf, regret when ranking by epistemic, total and aleatoric" in out
    assert "what n-AuReC is measured against" in out
    assert "n-AuReC aleatoric" in out
    code, out, _ = rue("bench", "table", folder, "--convention", "published")
    assert code == 0
    assert "random-rbf (paper, published convention)" in out
    code, out, _ = rue("bench", "table", folder, "--convention", "published", "--format", "json")
    rows = [row for row in json.loads(out)["rows"] if row["loss"]]
    assert {row["convention"] for row in rows} == {"published"}
    code, _, err = rue("bench", "table", folder, "--convention", "published", "--ci", "0.9")
    assert code == 2
    assert "intervals and tests are those of Definition 1" in err
    both = ("--convention", "published", "--against", "published")
    code, _, err = rue("bench", "table", folder, *both)
    assert code == 2
    assert "leave out --convention" in err


def test_all_columns_have_a_block_and_columns_choose(rue, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = rue("bench", "table", folder)
    assert code == 0
    tables, _, _ = out.partition("note: ")
    assert max(map(len, tables.splitlines())) <= 80
    for name in ("rank correlation of estimated", "with a person who", "pairs of answers"):
        assert f"random-rbf, {name}" in out
    assert "agreement hat" in out
    code, out, _ = rue("bench", "table", folder, "--columns", "pair_gain,team_risk,auac")
    assert code == 0
    assert out.count("pair gain") == 1
    assert out.count("AuAC answers") == 1
    assert "n-AuReC" not in out.partition("note: ")[0]
    code, out, _ = rue("bench", "table", folder, "--columns", "team_risk", "--format", "latex")
    assert r"$\downarrow$ team" in out
    code, _, err = rue("bench", "table", folder, "--columns", "nothing")
    assert code == 2
    assert "--columns must be all or some of aurec, " in err
    code, _, err = rue("bench", "table", folder, "--columns", "aurec", "--summary")
    assert code == 2
    assert "leave out --columns" in err


def test_latex_compiles_with_booktabs(rue, folder, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    _, out, _ = rue("bench", "table", str(folder), "--summary", "--format", "latex")
    _, both, _ = rue("bench", "table", str(folder), "--format", "latex")
    document = (
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
        f"{out}\n\n{both}\n\\end{{document}}\n"
    )
    (tmp_path / "table.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


def test_what_is_wrong_is_one_line(rue, folder, tmp_path):
    for command, message in (
        (("bench", "table", str(tmp_path)), "holds no benchmark"),
        (("bench", "run", "demmo"), "did you mean 'demo'?"),
        (("bench", "run", "demo", "--address", "auto"), "--address needs --engine ray"),
        (("bench", "run", "demo", "--only", "ensemble"), "--only must look like"),
        (("bench", "run", "demo", "--gpus-per-run", "9"), "GPUs here"),
    ):
        code, _, err = rue(*command)
        assert code == 2
        assert message in err
        assert err.count("\n") == 1


def test_progress_is_logged_and_an_interrupted_run_says_how_to_resume(capsys, tmp_path):
    from rue.bench.cells import Cell
    from rue.bench.run import Progress
    from rue.cli._progress import _screen

    def interrupted():
        with _screen("mine", tmp_path) as on_change:
            progress = Progress(3)
            on_change(progress)
            progress.done.append(Cell("mine", "letter", "ddu", 0))
            on_change(progress)
            progress.failed[Cell("mine", "letter", "ddu", 1)] = "no"
            on_change(progress)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert capsys.readouterr().err.splitlines() == [
        "mine: 1 of 3 cells, about 0:00 left",
        "mine: 2 of 3 cells, 1 failed, about 0:00 left",
        f"mine: interrupted: 1 of 3 cells are done and kept in {tmp_path}; "
        "run the same command to resume",
    ]


class Noisy:
    """An engine whose library writes to stdout itself, as Ray does."""

    def run(self, suite, tasks):
        os.write(1, b"raylet: a line of the library\n")
        print("another line of the library")
        subprocess.run(["echo", "a line of its process"], check=True)
        yield from ()


def test_json_is_all_there_is_on_stdout(monkeypatch, tmp_path, capfd):
    from rue.cli import main

    monkeypatch.setattr("rue.cli.bench._engine", lambda *_, **__: Noisy())
    # Outside pytest sys.stdout is the descriptor itself.
    monkeypatch.setattr("sys.__stdout__", os.fdopen(1, "w", closefd=False))
    monkeypatch.setattr("sys.__stderr__", os.fdopen(2, "w", closefd=False))
    (tmp_path / "tiny.toml").write_text(
        'name = "tiny"\ndatasets = ["random-rbf"]\nmethods = ["ensemble"]\nlosses = ["log"]\n'
    )
    with pytest.raises(SystemExit):
        main(
            [
                "bench",
                "run",
                str(tmp_path / "tiny.toml"),
                "--out",
                str(tmp_path / "out"),
                "--format",
                "json",
            ]
        )
    captured = capfd.readouterr()
    assert json.loads(captured.out)["suite"] == "tiny"
    for line in ("raylet: a line of the library", "another line", "a line of its process"):
        assert line in captured.err

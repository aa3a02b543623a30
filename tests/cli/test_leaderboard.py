"""rue leaderboard: the page is built, submissions are made, and accepted or refused in one line."""

import json

import pytest

from rue.cli import main
from submitted import change_row, write_submissions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_submissions(tmp_path_factory.mktemp("cli"), 40, 2)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_build_need_not_be_named(folder, tmp_path, capsys):
    code, out, err = run(capsys, "leaderboard", folder, "--out", tmp_path / "site")
    assert (code, err) == (0, "")
    assert out == f"{tmp_path / 'site' / 'index.html'}: 4 rows, 4 verified\n"
    page = (tmp_path / "site" / "index.html").read_bytes()
    code, out, _ = run(
        capsys, "leaderboard", "build", folder, "--out", tmp_path / "site", "--format", "json"
    )
    assert code == 0
    assert (tmp_path / "site" / "index.html").read_bytes() == page
    rows = json.loads(out)["rows"]
    assert {row["method"] for row in rows} == {"method0", "method1"}
    assert all(row["verified"] for row in rows)


def test_check_accepts_in_one_line(folder, capsys):
    mine = folder / "method0"
    code, out, err = run(capsys, "leaderboard", "check", mine)
    assert (code, err) == (0, "")
    assert out == f"accepted: {mine}: method0 on world, under log, zero_one\n"


def test_check_refuses_in_one_line(tmp_path, capsys):
    mine = write_submissions(tmp_path, 40, 1) / "method0"
    change_row(mine, lambda row: row["rows"][0].update(n_aurec=0.0))
    code, out, err = run(capsys, "leaderboard", "check", mine)
    assert (code, err) == (2, "")
    assert out.startswith(f"refused: {mine}: claims n-AuReC 0, and its predictions give 0.")
    assert out.count("\n") == 1
    code, out, _ = run(capsys, "leaderboard", "check", mine, "--format", "json")
    told = json.loads(out)
    assert (code, told["accepted"], told["method"]) == (2, False, "method0")
    code, out, _ = run(capsys, "leaderboard", mine, "--out", tmp_path / "site")
    assert code == 0
    assert out.splitlines()[1].startswith("not verified: method0 on world, log: claims n-AuReC")


@pytest.mark.parametrize("format", ["table", "json"])
def test_check_refuses_what_is_no_submission(tmp_path, capsys, format):
    code, out, _ = run(capsys, "leaderboard", "check", tmp_path, "--format", format)
    assert code == 2
    assert "holds no submission: it has no row.json" in out


def test_check_with_other_answers(folder, tmp_path, capsys):
    (tmp_path / "truth.csv").write_text("id,a,b,c,d\np0,1,2,3,4\n")
    code, out, _ = run(
        capsys, "leaderboard", "check", folder / "method0", "--truth", tmp_path / "truth.csv"
    )
    assert code == 2
    assert out.startswith("refused")


def test_pack_makes_what_check_accepts(folder, tmp_path, capsys):
    (tmp_path / "settings.json").write_text('{"lr": 0.1}')
    file = folder / "method1" / "predictions.npz"
    arguments = (file, "--data", "world", "--method", "mine", "--out", tmp_path / "mine")
    more = ("--settings", tmp_path / "settings.json", "--link", "https://example.org")
    code, out, _ = run(capsys, "leaderboard", "pack", *arguments, *more)
    assert code == 0
    assert out.startswith(f"{tmp_path / 'mine'}: mine on world, under log")
    row = json.loads((tmp_path / "mine" / "row.json").read_text())
    assert (row["settings"], row["link"], row["regime"]) == (
        {"lr": 0.1},
        "https://example.org",
        "own",
    )
    assert run(capsys, "leaderboard", "check", tmp_path / "mine")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nope"], "rue: nope: no such folder"),
        (["--truth", "=x", "nope"], "--truth must look like NAME=FILE or NAME, got '=x'"),
        (["pack", "nope.npz", "--data", "x", "--out", "y"], "nope.npz: no such file"),
    ],
)
def test_invalid_input_is_one_line(arguments, why, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "leaderboard", *arguments)
    assert (code, out) == (2, "")
    assert why in err
    assert err.count("\n") == 1

"""Submissions that reach outside of their folder or break a reader are refused, each by itself."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from rue.errors import FileError
from rue.leaderboard import build_leaderboard, find_submissions, read_submission, verify
from submitted import change_row

SECRET = "keeper-secret-7319"


def refusals(folder):
    """Return the reasons of all that is not verified on the board of a folder."""
    board = build_leaderboard([folder])
    rows = [row.problem for each in board.boards for row in each.rows if row.problem]
    return board, rows + [each.reason for each in board.refused]


def make_room(folder, name):
    """Let a submission have its predictions or truth in a file of this name."""
    if name.startswith("predictions"):
        (folder / "predictions.npz").unlink()
        change_row(folder, lambda row: row.pop("predictions_sha256"))
    if name.startswith("truth"):
        change_row(folder, lambda row: row.update(truth=name))


def link(path, target):
    path.unlink(missing_ok=True)
    path.symlink_to(target)


NAMES = ("row.json", "suite.toml", "truth.csv", "truth.npz", "predictions.npz", "predictions.csv")


@pytest.mark.parametrize("name", [*NAMES, "predictions.jsonl", "predictions.parquet"])
def test_a_link_to_the_keeper_s_file_is_refused_and_not_quoted(submissions, mine, tmp_path, name):
    (tmp_path / "secret").write_text(f"{SECRET},a\n{SECRET},b\n")
    make_room(mine, name)
    link(mine / name, tmp_path / "secret")
    board, reasons = refusals(submissions)
    assert board.n_verified == 4
    assert len(reasons) == 1
    assert f"{mine / name}: must be a regular file in the folder of the submission" in reasons[0]
    assert "got a symbolic link" in reasons[0]
    assert SECRET not in reasons[0]


def test_a_link_to_a_folder_is_refused(submissions, mine, tmp_path):
    mine.rename(tmp_path / "elsewhere")
    mine.symlink_to(tmp_path / "elsewhere")
    board, reasons = refusals(submissions)
    assert board.n_verified == 4
    assert reasons == [f"{mine}: must be a folder, got a symbolic link"]


def test_a_link_to_the_folder_of_a_seed_is_refused(submissions, mine, tmp_path):
    mine.rename(tmp_path / "elsewhere")
    mine.mkdir()
    (mine / "0").symlink_to(tmp_path / "elsewhere")
    _, reasons = refusals(submissions)
    assert len(reasons) == 1
    assert reasons[0].startswith(f"{mine / '0'}: must be")
    assert reasons[0].endswith("got a symbolic link")


def test_predictions_that_become_a_link_after_reading_are_refused(mine, tmp_path):
    submission = read_submission(mine)
    (mine / "predictions.npz").rename(tmp_path / "moved.npz")
    link(mine / "predictions.npz", tmp_path / "moved.npz")
    assert verify(submission).problem.endswith("got a symbolic link")


def test_a_truth_beside_the_keeper_is_not_read(mine, tmp_path, monkeypatch):
    (tmp_path / "answers.csv").write_text(f"id,{SECRET}\np0,x\n")
    monkeypatch.chdir(tmp_path)
    change_row(mine, lambda row: row.update(truth="answers.csv"))
    problem = verify(read_submission(mine)).problem
    assert problem == "truth must be a file beside row.json or a data set, got 'answers.csv'"


@pytest.mark.parametrize("name", ["row.json", "predictions.npz"])
def test_a_pipe_does_not_hang_check(mine, name):
    (mine / name).unlink()
    os.mkfifo(mine / name)
    command = [sys.executable, "-m", "rue", "leaderboard", "check", str(mine)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.count("\n")) == (2, 1)
    assert f"{name}: must be a regular file in the folder of the submission" in done.stdout


def zero_width():
    head = io.BytesIO()
    facts = {"descr": "<i8", "fortran_order": False, "shape": (2**33, 0)}
    np.lib.format.write_array_header_1_0(head, facts)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("probs.npy", head.getvalue())
        archive.writestr("counts.npy", head.getvalue())
    return content.getvalue()


LINE = json.dumps({"id": "a", "draw": [], "probs": [0.5, 0.5], "counts": [1, 2]}) + "\n"
HOSTILE = {
    "npz": zero_width(),
    "jsonl": (LINE * 2).encode(),
    "csv": b"id,draw,a,b\np0,0,0.5\x1c,0.5\np0,1,0.5,\x1c0.5\n",
}


@pytest.mark.parametrize("suffix", HOSTILE)
def test_one_hostile_file_does_not_stop_the_board(submissions, mine, suffix):
    (mine / "predictions.npz").unlink()
    (mine / f"predictions.{suffix}").write_bytes(HOSTILE[suffix])
    change_row(mine, lambda row: row.pop("predictions_sha256"))
    board, reasons = refusals(submissions)
    assert board.n_verified == 4
    assert len(reasons) == 2  # under both losses
    assert all(reason and "\n" not in reason for reason in reasons)
    if suffix == "npz":
        assert "must have at least one entry per axis, got shape (8589934592, 0)" in reasons[0]


def test_a_folder_of_bad_submissions_does_not_stop_the_others(submissions, tmp_path):
    bad = tmp_path / "bad" / "one"
    bad.mkdir(parents=True)
    (bad / "row.json").write_text("[")
    board = build_leaderboard([bad.parent, submissions])
    assert board.n_verified == 6
    assert [each.folder for each in board.refused] == [bad]
    assert len(find_submissions(bad.parent)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_huge_file_is_refused_before_it_is_read(submissions, mine, name):
    make_room(mine, name)
    with (mine / name).open("wb") as file:
        file.truncate(1 << 40)  # a hole: it takes no space on the disk
    board, reasons = refusals(submissions)
    assert board.n_verified == 4
    assert len(reasons) == 1
    assert "must have at most 1,0" in reasons[0]
    assert reasons[0].endswith("bytes, got 1,099,511,627,776")


@pytest.mark.parametrize("name", ["row.json", "predictions.npz"])
def test_a_link_in_a_benchmark_is_refused_and_not_quoted(store, tmp_path, name):
    (tmp_path / "secret").write_text(SECRET)
    cell = next(store.folder.glob("cells/*/*/*"))
    link(cell / name, tmp_path / "secret")
    _, reasons = refusals(store.folder)
    assert reasons
    for reason in reasons:
        assert "must be a regular file in the folder of the submission, got a symbolic" in reason
        assert SECRET not in reason


def test_a_link_to_a_folder_of_a_benchmark_is_refused(store, tmp_path):
    cells = store.folder / "cells"
    cells.rename(tmp_path / "elsewhere")
    cells.symlink_to(tmp_path / "elsewhere")
    _, reasons = refusals(store.folder)
    assert {"got a symbolic link" in reason for reason in reasons} == {True}


def test_settings_nested_too_deeply_are_refused(submissions, mine):
    change_row(mine, lambda row: row.update(settings={"a": [[[[[[[[1]]]]]]]]}))
    _, reasons = refusals(submissions)
    assert len(reasons) == 1
    assert "settings must be an object with at most 8 levels" in reasons[0]


def test_more_seeds_than_anybody_runs_are_refused(submissions, mine):
    text = f'name = "x"\ndatasets = ["random-rbf"]\nseeds = {list(range(1001))}'
    (mine / "suite.toml").write_text(text)
    _, reasons = refusals(submissions)
    assert [reason[:40] for reason in reasons] == ["suite.toml: seeds must be a list of at m"]


def keeper_s_answers(submissions, path, more):
    arrays = np.load(submissions / "method0" / "predictions.npz")
    rows = zip(arrays["ids"], arrays["counts"].astype(int).tolist(), strict=True)
    lines = [",".join(map(str, [name, *counts])) for name, counts in rows]
    names = [str(k) for k in range(arrays["counts"].shape[1])]
    path.write_text("\n".join([",".join(["id", *names]), *lines, *more]) + "\n")
    return path, names


def test_the_keeper_s_answers_are_not_quoted(submissions, tmp_path):
    path, names = keeper_s_answers(submissions, tmp_path / "answers.csv", [])
    more = [",".join([SECRET, *("1" for _ in names)])]
    assert build_leaderboard([submissions], truth={"world": str(path)}).n_verified == 6
    keeper_s_answers(submissions, path, more)
    board = build_leaderboard([submissions], truth={"world": str(path)})
    problems = [row.problem for each in board.boards for row in each.rows]
    assert len(problems) == 6
    assert all(problem.startswith("its points do not fit the answers of") for problem in problems)
    assert SECRET not in "".join(problems)


def test_unreadable_answers_of_the_keeper_are_his_error(submissions, tmp_path):
    (tmp_path / "answers.csv").write_text("id,a\n1\n")
    with pytest.raises(FileError, match=r"answers\.csv: line 2"):
        build_leaderboard([submissions], truth={"world": str(tmp_path / "answers.csv")})


def test_another_s_points_are_not_quoted(submissions, mine):
    arrays = dict(np.load(mine / "predictions.npz"))
    arrays["ids"] = np.array([f"{SECRET}{i}" for i in range(len(arrays["ids"]))])
    np.savez(mine / "predictions.npz", **arrays)
    change_row(mine, lambda row: [row.pop(key) for key in ("predictions_sha256", "data_sha256")])
    _, reasons = refusals(submissions)
    assert reasons
    assert all(SECRET not in reason for reason in reasons)

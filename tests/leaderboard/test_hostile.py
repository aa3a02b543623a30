"""Submissions that reach outside of their folder or break a reader are refused, each by itself."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from rue.leaderboard import build_leaderboard, find_submissions, read_submission, verify
from submitted import change_row

SECRET = "keeper-secret-7319"


def refusals(folder):
    """Return the reasons of all that is not verified on the board of a folder."""
    board = build_leaderboard([folder])
    rows = [row.problem for each in board.boards for row in each.rows if row.problem]
    return board, rows + [each.reason for each in board.refused]


def link(path, target):
    path.unlink(missing_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize("name", ["row.json", "predictions.csv", "truth.csv", "suite.toml"])
def test_a_link_to_the_keeper_s_file_is_refused_and_not_quoted(submissions, mine, tmp_path, name):
    (tmp_path / "secret").write_text(f"{SECRET},a\n{SECRET},b\n")
    if name == "predictions.csv":
        (mine / "predictions.npz").unlink()
        change_row(mine, lambda row: row.pop("predictions_sha256"))
    if name == "truth.csv":
        change_row(mine, lambda row: row.update(truth=name))
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

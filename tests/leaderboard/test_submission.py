"""Submissions are read, or refused in one line that says why."""

import json
import shutil

import numpy as np
import pytest

from rue.errors import FileError
from rue.leaderboard import Refused, find_submissions, read_submission, write_submission
from submitted import LOSSES, change_row


def test_what_was_written_is_read(mine):
    found = read_submission(mine)
    assert (found.method, found.data, found.regime, found.seed) == ("method0", "world", "paper", 0)
    assert tuple(found.claims) == LOSSES
    assert found.predictions == mine / "predictions.npz"
    assert found.truth is None


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("method", "", "method must be a name"),
        ("method", 3, "method must be a name"),
        ("method", "x" * 201, "method must be a name of at most 200"),
        ("seed", -1, "seed must be a whole number"),
        ("seed", True, "seed must be a whole number"),
        ("truth", "../../secret.npz", "in the same folder, got '../../secret.npz'"),
        ("predictions", "/etc/passwd", "in the same folder"),
        ("predictions", "other.npz", "there is no other.npz beside it"),
        ("digits", 1, "digits must be a number of decimals from 3 to 12"),
        ("predictions_sha256", "abc", "64 digits"),
        ("link", "javascript:alert(1)", "starts with https://"),
        ("settings", [1], "settings must be an object"),
        ("rows", [], "rows must be a list"),
        ("rows", [{"loss": "log"}], r"rows\[0\].n_aurec is missing"),
        ("rows", [{"loss": "nope", "n_aurec": 1}], "nope"),
        ("rows", [{"loss": "log", "n_aurec": True}], "n_aurec must be"),
        ("rows", [{"loss": "log", "n_aurec": 10**400}], "n_aurec must be"),
        ("rows", [{"loss": "log", "n_aurec": 1, "auroc": 1}], "auroc is no column"),
        ("rows", [{"loss": "log", "n_aurec": 1}] * 2, "another than before, got log twice"),
        ("rows", [{"loss": "log", "n_aurec": 1, "method": "b"}], "method must be method0, got 'b'"),
        (
            "rows",
            [{"loss": "log", "n_aurec": 1, "convention": "published"}],
            "follow the convention published, and a leaderboard has rows of Definition 1",
        ),
        ("colour", "red", "colour is no known field: must be one of method, data"),
    ],
)
def test_a_malformed_row_is_refused(mine, key, value, why):
    change_row(mine, lambda row: row.update({key: value}))
    with pytest.raises(FileError, match=why) as error:
        read_submission(mine)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["method", "data", "rows"])
def test_what_is_needed_must_be_there(mine, key):
    change_row(mine, lambda row: row.pop(key))
    with pytest.raises(FileError, match=f"the field {key} is missing"):
        read_submission(mine)


@pytest.mark.parametrize("text", ["[1]", "{", "\x00", "[" * 100_000, "null"])
def test_what_is_no_json_object_is_refused(mine, text):
    (mine / "row.json").write_text(text)
    with pytest.raises(FileError, match=r"row.json: is not a submission: "):
        read_submission(mine)


def test_a_huge_row_is_refused_unread(mine):
    (mine / "row.json").write_text(" " * 1_000_001)
    with pytest.raises(FileError, match="at most 1,000,000 bytes, got 1,000,001"):
        read_submission(mine)


def test_two_prediction_files_are_refused(mine):
    shutil.copy(mine / "predictions.npz", mine / "predictions.csv")
    with pytest.raises(FileError, match="one prediction file beside it"):
        read_submission(mine)


def test_a_folder_of_submissions_with_seeds(submissions):
    seeds = submissions / "seeds"
    shutil.copytree(submissions / "method0", seeds / "0")
    shutil.copytree(submissions / "method0", seeds / "1")
    change_row(seeds / "1", lambda row: row.update(seed=1))
    (submissions / "empty").mkdir()
    (submissions / ".git").mkdir()
    found = find_submissions(submissions)
    assert [each.folder.name for each in found if isinstance(each, Refused)] == ["empty"]
    read = [each for each in found if not isinstance(each, Refused)]
    assert [(each.source.name, each.seed) for each in read] == [
        ("method0", 0),
        ("method1", 0),
        ("method2", 0),
        ("seeds", 0),
        ("seeds", 1),
    ]


def test_a_folder_without_submissions(tmp_path):
    with pytest.raises(FileError, match="holds no submission"):
        find_submissions(tmp_path)


def test_a_truth_file_goes_with_the_submission(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", probs=rng.dirichlet([1, 1], (9, 3)), ids=np.arange(9))
    np.savez(tmp_path / "counts.npz", counts=rng.multinomial(5, [0.5, 0.5], 9), ids=np.arange(9))
    truth = tmp_path / "counts.npz"
    made = write_submission(tmp_path / "mine.npz", tmp_path / "out", data="coins", truth=truth)
    assert made.truth == tmp_path / "out" / "truth.npz"
    assert made.method == "mine"
    assert json.loads((tmp_path / "out" / "row.json").read_text())["truth"] == "truth.npz"
    with pytest.raises(FileError, match="must be a new or empty folder"):
        write_submission(tmp_path / "mine.npz", tmp_path / "out", data="coins", truth=truth)

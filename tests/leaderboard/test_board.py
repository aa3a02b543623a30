"""Boards: ranks with probabilities, names that are unique, and the folder of a benchmark."""

import hashlib
import json
import shutil

import numpy as np
import pytest

from rue import Annotations, Draws, realize
from rue.errors import InputError
from rue.inference.comparison import compare
from rue.leaderboard import build_leaderboard, find_submissions, verify, write_submission
from submitted import change_row


def test_ranks_are_those_of_a_comparison(submissions):
    """The rank probabilities are the shares of samples, which compare draws otherwise."""
    board = build_leaderboard([submissions])
    assert [(b.data, b.loss) for b in board.boards] == [("world", "log"), ("world", "zero_one")]
    assert board.n_rows == board.n_verified == 6
    for each in board.boards:
        values = [row.numbers["n_aurec"] for row in each.rows]
        assert values == sorted(values)
        ranking = each.rankings[""]["n_aurec"]
        assert ranking.rank_probability.sum(axis=1) == pytest.approx([1, 1, 1])
        assert ranking.rank_probability.sum(axis=0) == pytest.approx([1, 1, 1])
    runs = {each.method: verify(each).runs["log"] for each in find_submissions(submissions)}
    first = board.boards[0]
    expected = compare([runs[row.method] for row in first.rows], criteria=["n_aurec"])["n_aurec"]
    found = first.rankings[""]["n_aurec"].rank_probability
    np.testing.assert_allclose(found, expected.rank_probability, atol=0.06)


def test_what_is_not_verified_is_shown_but_not_ranked(submissions):
    change_row(submissions / "method1", lambda row: row["rows"][0].update(n_aurec=0.0))
    board = build_leaderboard([submissions]).boards[0]
    last = board.rows[-1]
    assert (last.method, last.verified) == ("method1", False)
    assert last.numbers["n_aurec"] > 0
    assert board.rankings[""]["n_aurec"].methods == ("0", "1")
    assert "method1" not in board.sentence()


def test_two_submissions_of_one_name(submissions):
    shutil.copytree(submissions / "method0", submissions / "later")
    change_row(submissions / "later", lambda row: row.update(method="method1"))
    board = build_leaderboard([submissions])
    assert board.n_rows == 6
    (refused,) = board.refused
    assert refused.folder == submissions / "method1"  # folders in the order of their names
    assert refused.reason == (
        f"the name method1 (paper) on world is taken by {submissions / 'later'}: choose another"
    )
    first = build_leaderboard([submissions / "method1", submissions])
    assert submissions / "later" in [each.folder for each in first.refused]


def test_the_same_name_in_another_regime_is_another_row(submissions):
    shutil.copytree(submissions / "method0", submissions / "again")
    change_row(submissions / "again", lambda row: row.update(regime="tuned"))
    board = build_leaderboard([submissions]).boards[0]
    assert len(board.rows) == 4
    assert set(board.rankings) == {"", "paper", "tuned"}
    assert len(board.rankings["paper"]["n_aurec"].methods) == 3
    assert board.rankings["tuned"]["n_aurec"].rank_probability.tolist() == [[1.0]]
    assert board.sentence("tuned") == "method0 (tuned) is the only verified row with n-AuReC."
    twins = [i for i, row in enumerate(board.rows) if row.method == "method0"]
    everyone = board.rankings[""]["n_aurec"].rank_probability
    np.testing.assert_allclose(*(everyone[i] for i in twins))  # equal rows share their ranks


def test_other_seeds_are_not_ranked(submissions):
    change_row(submissions / "method2", lambda row: row.update(seed=5))
    board = build_leaderboard([submissions]).boards[0]
    (other,) = [row for row in board.rows if row.method == "method2"]
    assert other.verified
    assert other.note == "not ranked: it has the seeds 5, and most rows have 0"
    assert len(board.rankings[""]["n_aurec"].methods) == 2


def test_a_seed_twice(submissions):
    for seed in ("0", "1"):
        shutil.copytree(submissions / "method0", submissions / "twice" / seed)
    shutil.rmtree(submissions / "method0")
    board = build_leaderboard([submissions])
    (refused,) = board.refused
    assert refused.reason == "seed 0 of method0 (paper) on world appears twice"


def test_answers_for_an_unknown_data_set(submissions):
    with pytest.raises(InputError, match="truths must be for data sets of world, got 'moon'"):
        build_leaderboard([submissions], truth={"moon": "counts.npy"})


def test_a_perfect_score_is_a_number(submissions):
    """An n-AuReC of exactly 0 was once taken for undefined."""
    mine = submissions / "method0"
    arrays = dict(np.load(mine / "predictions.npz"))
    regret = realize(Annotations(arrays["counts"]), Draws(arrays["probs"]), "log").epistemic
    file = submissions.parent / "oracle.npz"
    np.savez(
        file,
        probs=arrays["probs"].mean(axis=1),
        epistemic=regret,
        counts=arrays["counts"],
        ids=arrays["ids"],
    )
    write_submission(file, submissions / "oracle", data="world")
    board = build_leaderboard([submissions]).boards[0]
    assert board.rows[0].numbers["n_aurec"] == 0
    ranking = board.rankings[""]["n_aurec"]
    assert ranking.rank_probability[0, 0] == 1
    assert board.sentence().startswith("oracle has the lowest n-AuReC of 4 verified rows")


def test_the_folder_of_a_benchmark(store):
    board = build_leaderboard([store.folder])
    assert [(each.data, each.loss) for each in board.boards] == [
        ("random-rbf", "log"),
        ("random-rbf", "zero_one"),
    ]
    for each in board.boards:
        assert all(row.verified for row in each.rows)
        assert {row.seeds for row in each.rows} == {(0, 1, 2)}
        assert {row.regime for row in each.rows} == {"paper"}
        assert each.rows[0].settings["suite"] == "made"
        assert "n_aurec_std" in each.rows[0].numbers


def test_a_changed_cell_of_a_benchmark(store):
    cell = store.folder / "cells" / "random-rbf" / "ensemble" / "1"
    row = json.loads((cell / "row.json").read_text())
    row["rows"][0]["n_aurec"] = 0.001
    (cell / "row.json").write_text(json.dumps(row))
    board = build_leaderboard([store.folder])
    (refused,) = board.refused
    assert refused.reason.endswith("its checksum does not match")
    del row["checksum"]
    row["checksum"] = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()
    (cell / "row.json").write_text(json.dumps(row))
    board = build_leaderboard([store.folder])
    assert board.refused == ()
    (changed,) = [row for row in board.boards[0].rows if row.problem]
    assert changed.method == "ensemble"
    assert changed.problem.startswith("seed 1: claims n-AuReC 0.001, and its predictions give")

"""Submissions to a leaderboard, of which anyone may send any: changed in 200 ways."""

import json
import random
import shutil

import numpy as np
import pytest

from fuzz import guard, worlds
from fuzz.bytewise import change_bytes
from fuzz.trees import change_tree
from rue.leaderboard.pack import write_submission
from rue.leaderboard.submission import read_submission
from rue.leaderboard.verify import verify


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submissions")
    rng = np.random.default_rng(0)
    arrays = {"probs": rng.dirichlet(np.ones(3), (worlds.N, 2)), "counts": worlds.counts(rng)}
    np.savez(folder / "mine.npz", ids=np.array(worlds.IDS), **arrays)
    write_submission(folder / "mine.npz", folder / "sent", data="coins", losses=["log", "brier"])
    return folder / "sent"


def test_changed_submissions_are_verified_or_refused(submission, tmp_path):
    def use(folder):
        return verify(read_submission(folder))

    row = json.loads((submission / "row.json").read_text())
    kinds = []
    for number in range(200):
        rng = random.Random(f"submission {number}")
        folder = tmp_path / str(number)
        shutil.copytree(submission, folder)
        content = json.dumps(row if number == 0 else change_tree(rng, row)).encode()
        if number and rng.random() < 0.3:
            content = change_bytes(rng, content)
        (folder / "row.json").write_bytes(content)
        found = guard.outcome(use, folder, valid=number == 0)
        assert found.kind != "failure", (number, found.text)
        kinds.append(found.kind)
    assert kinds.count("error") > 50
    assert kinds.count("result") > 5

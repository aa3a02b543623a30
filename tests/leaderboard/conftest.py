"""Three submissions, written once; tests that change them take a copy."""

import shutil

import pytest

from benchmarked import write_benchmark
from submitted import write_submissions


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    return write_submissions(tmp_path_factory.mktemp("leaderboard"))


@pytest.fixture
def submissions(written, tmp_path):
    shutil.copytree(written, tmp_path / "submissions")
    return tmp_path / "submissions"


@pytest.fixture
def mine(submissions):
    return submissions / "method0"


@pytest.fixture
def store(tmp_path):
    return write_benchmark(tmp_path, 30)

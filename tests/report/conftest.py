"""A report of three prediction files."""

import pytest

from reported import write_world
from rue.report import from_files


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return write_world(tmp_path_factory.mktemp("world"), 120, 3)


@pytest.fixture(scope="session")
def report(files):
    return from_files(
        files, {"log": "log", "zero_one": "zero_one"}, title="A world", command="rue report"
    )

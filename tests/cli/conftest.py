"""Run the command line in this process, as the shell would."""

from dataclasses import dataclass

import pytest

from rue.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def columns(monkeypatch):
    """Give every terminal 100 columns, whatever the tests run in."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Result(int(stop.value.code or 0), captured.out, captured.err)

    return call

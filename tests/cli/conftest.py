"""Run the command line in this process, as the shell would."""

from dataclasses import dataclass

import pytest

from rue.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Result(int(stop.value.code or 0), captured.out, captured.err)

    return call

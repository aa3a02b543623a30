"""2,000 cases of the fuzzer keep the property, and the guard notices what breaks it."""

import hashlib
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from fuzz import cases, guard
from fuzz.kinds import KINDS, case
from rue.errors import FileError

N_CASES = 2_000


def test_2000_cases_keep_the_property(tmp_path):
    """In a process of their own, whose memory is that of nothing else."""
    here = Path(__file__).parent
    command = [sys.executable, "-m", "fuzz", "--workers", "0", "--out", tmp_path / "fuzz.json"]
    source = str(Path(sys.modules["rue"].__file__).parents[1])
    path = os.pathsep.join([source, str(here.parent)])
    done = subprocess.run(
        [*command, "--cases", str(N_CASES)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert f"{N_CASES:,} cases" in done.stdout


@pytest.mark.parametrize("number", range(len(KINDS), 2 * len(KINDS)))
def test_a_case_is_made_again_from_its_number(number, tmp_path):
    made = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        kind, settings = case(number, folder)
        kind.make(settings)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        made.append([(f.name, hashlib.sha256(_content(f)).hexdigest()) for f in files])
    assert made[0] == made[1]


def _content(path):
    # A zip holds the time at which it was written.
    return b"" if path.suffix in (".npz", ".zip", ".gz") else path.read_bytes()


def test_every_kind_has_a_valid_case():
    assert all(case(number, Path())[1].valid for number in range(len(KINDS)))
    assert not case(len(KINDS), Path())[1].valid


def _write_beside(folder):
    (folder.parent / "beside.txt").write_text("x")


def _rename_out(folder):
    (folder / "a").write_text("x")
    (folder / "a").rename(folder.parent / "b")


def _spin(folder):
    del folder
    while time.process_time() < 1e9:
        pass


def _say(text):
    def raising(folder):
        raise FileError(text)

    return raising


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (_write_beside, "did what no reader may: open("),
        (_rename_out, "did what no reader may: os.rename"),
        (lambda f: (f.parent / "made").mkdir(), "did what no reader may: os.mkdir"),
        (lambda f: subprocess.run(["true"], check=True), "did what no reader may: subprocess"),
        (lambda f: {}["key"], "KeyError: 'key'"),
        (lambda f: warnings.warn("overflow", RuntimeWarning, stacklevel=1), "RuntimeWarning"),
        (_say("Unable to allocate 7 TiB"), "memory was asked for before it was refused"),
        (_spin, "took more than"),
        (lambda f: np.ones(1 << 25).sum(), "MiB of memory"),
    ],
)
def test_the_guard_notices(use, told, tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 0.05)
    if told == "MiB of memory":
        monkeypatch.setattr(guard, "BYTES", 200 << 20)
    folder = tmp_path / "case"
    folder.mkdir()
    found = guard.outcome(use, folder)
    assert found.kind == "failure"
    assert told in found.text


def test_the_guard_allows_results_errors_and_its_own_folder(tmp_path):
    def use(folder):
        (folder / "sub").mkdir()
        (folder / "sub" / "a.txt").write_text("x")

    assert guard.outcome(use, tmp_path).kind == "result"
    refused = guard.outcome(_say("a.npz: no such file"), tmp_path)
    assert (refused.kind, refused.text) == ("error", "FileError: a.npz: no such file")
    assert guard.outcome(_say("two\nlines"), tmp_path).text == r"FileError: two\nlines"
    assert guard.outcome(_say("refused"), tmp_path, valid=True).kind == "failure"


def test_an_allocation_beyond_the_limit_is_refused_by_the_system():
    with guard.limited(1 << 28), pytest.raises(MemoryError):
        np.ones(1 << 27)
    assert np.ones(1 << 10).sum() == 1 << 10


def test_a_range_counts_what_became_of_its_cases(monkeypatch):
    outcomes = iter(["result", "error", "failure"] * 9)
    monkeypatch.setattr(
        cases,
        "run",
        lambda number: guard.Outcome(next(outcomes), f"of {number}", 0.5, number << 20),
    )
    part = cases.run_range(range(27), skipped=[26])
    assert part["tried"] == 26
    assert sum(kinds.get("result", 0) for kinds in part["kinds"].values()) == 9
    assert [failure["case"] for failure in part["failures"]] == list(range(2, 26, 3))
    assert part["slowest"][0] == 0.5
    assert part["largest"] == [25, 25]
    assert part["costs"][cases.kind_of(25)] == {"seconds": 0.5, "memory_mib": 25}

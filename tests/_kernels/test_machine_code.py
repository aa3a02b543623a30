"""Stored machine code gives the same bits as numba, and nothing wrong is ever run."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import rankdata

from rue._kernels import machine_code
from rue._kernels.sorting import argsort

pytestmark = pytest.mark.skipif(not machine_code._is_supported(), reason="numba's cache is used")

CODE = """
import json, sys
import numpy as np
from rue._kernels.sorting import mid_ranks, steps
score = np.random.default_rng(0).integers(0, 50, 300).astype(float)
score.flags.writeable = False
ranks = mid_ranks(score, np.argsort(score))
area = steps(score, score, np.argsort(score), False)
try:
    steps("text", score, score, False)
except Exception as error:
    refusal = type(error).__name__
print(json.dumps([ranks.tolist(), area, "numba" in sys.modules, refusal]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("code")

    def run(code=CODE, **environment):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    run.folder = folder / "rue"
    run.first = run()
    return run


def test_the_second_process_gives_the_same_without_numba(run):
    fast = CODE.replace('steps("text", score, score, False)', "raise KeyError")
    ranks, area, imported, _ = run(fast)
    assert [ranks, area] == run.first[:2]
    assert run.first[2:] == [True, "TypingError"]  # numba compiled, and refuses what is no array
    assert not imported


def test_the_ranks_are_those_of_scipy(run):
    score = np.random.default_rng(0).integers(0, 50, 300).astype(float)
    assert run.first[0] == rankdata(score).tolist()


def test_each_type_of_argument_has_its_own_code():
    for score in (np.arange(6.0)[::-1].copy(), np.arange(6.0)[::-1], np.arange(6)[::-1].copy()):
        assert argsort(score).tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("damage", ["cut off", "changed", "of another processor", "no head"])
def test_damaged_code_is_compiled_again(run, damage):
    (path,) = run.folder.glob("sorting.steps-*.code")
    whole = path.read_bytes()
    head, _, code = whole.partition(b"\n")
    if damage == "cut off":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "changed":
        path.write_bytes(head + b"\n" + code[:900] + b"\xff" + code[901:])
    elif damage == "of another processor":
        fields = json.loads(head)
        fields["stamp"] = "0" * 64
        path.write_bytes(json.dumps(fields).encode() + b"\n" + code)
    else:
        path.write_bytes(b"\xff" * 10)
    ranks, area, imported, _ = run()
    assert [ranks, area, imported] == [*run.first[:2], True]
    assert path.read_bytes() == whole


def test_code_that_calls_what_is_not_there_is_not_run(run):
    (path,) = run.folder.glob("sorting.steps-*.code")
    whole = path.read_bytes()
    head, _, code = whole.partition(b"\n")
    fields = json.loads(head)
    fields["symbols"].append("no_such_function")
    path.write_bytes(json.dumps(fields).encode() + b"\n" + code)
    assert run()[:2] == run.first[:2]


def test_code_is_for_the_sources_that_it_was_compiled_from(run):
    """A kernel that calls another is compiled again when that one's file changes."""
    code = """
import json, os, shutil, sys, tempfile
from pathlib import Path
from rue._kernels import machine_code
first = machine_code._stamp()
machine_code._stamp.cache_clear()
with tempfile.TemporaryDirectory() as folder:
    machine_code._FOLDER = Path(shutil.copytree(machine_code._FOLDER, Path(folder, "copy")))
    with Path(machine_code._FOLDER, "draws.py").open("a") as file:
        file.write("# changed")
    print(json.dumps(first != machine_code._stamp()))
"""
    assert run(code)
    assert not run(code.replace('"draws.py"', '"notes.txt"'))


def test_numba_may_be_imported_before_and_after(run):
    numba = "import numba\nassert numba.njit(lambda x: x + 1)(1) == 2\n"
    for code in (numba + CODE, CODE.replace("area = steps", f"{numba}area = steps")):
        assert run(code)[:2] == run.first[:2]


def test_another_version_of_numba_compiles_as_always(run):
    other = "from rue._kernels import machine_code\nmachine_code.TRIED = ('0.1.',)\n"
    ranks, area, imported, _ = run(other + CODE)
    assert [ranks, area, imported] == [*run.first[:2], True]

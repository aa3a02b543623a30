"""A command whose output nobody reads, or whose streams are closed, keeps its exit code."""

import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    counts, probs = rng.integers(1, 5, (20, 3)), rng.dirichlet(np.ones(3), (20, 4))
    np.savez(tmp_path / "a.npz", counts=counts, probs=probs)
    return tmp_path / "a.npz"


def shell(command, folder):
    rue = f"{sys.executable} -m rue"
    done = subprocess.run(
        ["bash", "-c", command.replace("rue ", f"{rue} ")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def test_whoever_reads_the_output_may_stop(tmp_path):
    code, _, err = shell("rue published | true; exit ${PIPESTATUS[0]}", tmp_path)
    assert (code, err) == (0, "")


def test_an_answer_of_no_stays_one(file):
    select = "rue select a.npz --loss zero_one --minimize risk --coverage-min 1 --regret-max 0"
    assert shell(f"{select} | true; exit ${{PIPESTATUS[0]}}", file.parent)[0] == 1


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- 2>&-"])
def test_a_closed_stream_changes_nothing(file, closed):
    code, out, _ = shell(f"rue evaluate a.npz {closed}", file.parent)
    assert code == 0
    assert ("AuReC" in out) == (closed != ">&-")
    code, out, _ = shell(f"rue evaluate missing.npz {closed}", file.parent)
    assert (code, out) == (2, "")


def test_a_folder_link_is_said(file):
    (file.parent / "real").mkdir()
    (file.parent / "link").symlink_to("real")
    fit = "rue rule fit a.npz --loss zero_one --risk-max 0.9 --save link/rule.json"
    code, _, err = shell(fit, file.parent)
    assert code == 0
    place = (file.parent / "real").resolve()
    assert err == f"note: link is a symbolic link: rule.json is in {place}\n"
    assert (file.parent / "real" / "rule.json").exists()

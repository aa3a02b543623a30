"""A good file or a clear error, never a bad file."""

import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from rue.data import fetching
from rue.data.fetching import content_check, download, get, pip_download, zip_check
from rue.data.files import atomic_write
from rue.errors import FileError

BODY = os.urandom(300_000)
CHECK = content_check("x.bin", hashlib.sha256(BODY).hexdigest())


@pytest.fixture
def target(tmp_path: Path, server) -> Path:
    server.files["/x.bin"] = BODY
    return tmp_path / "root" / "x.bin"


def fetch(server, target: Path, check=CHECK, **options) -> Path:
    return download((f"{server.url}/x.bin",), target, check, **options)


def part(target: Path) -> Path:
    return target.with_name("x.bin.part")


def files(target: Path) -> list[str]:
    """Name what is there besides locks."""
    return sorted(path.name for path in target.parent.iterdir() if path.is_file())


def test_download(server, target):
    assert fetch(server, target) == target
    assert target.read_bytes() == BODY
    assert files(target) == ["x.bin"]


def test_a_good_file_is_not_downloaded_again(server, target):
    fetch(server, target)
    fetch(server, target)
    assert len(server.requests) == 1


def test_a_bad_file_in_its_place_is_replaced(server, target):
    target.parent.mkdir()
    target.write_bytes(b"bad")
    fetch(server, target)
    assert target.read_bytes() == BODY


def test_progress_goes_to_stderr(server, target, capfd):
    fetch(server, target, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "100%" in err


def test_truncated_download_is_an_error_that_keeps_the_part(server, target):
    server.break_after = 131_072
    with pytest.raises(FileError, match=r"broke off.* 131,072 bytes are kept"):
        fetch(server, target)
    assert files(target) == ["x.bin.part"]


def test_resume_asks_for_the_rest_only(server, target):
    server.break_after = 131_072
    with pytest.raises(FileError):
        fetch(server, target)
    server.break_after = None
    fetch(server, target)
    assert target.read_bytes() == BODY
    assert server.requests == [("/x.bin", None), ("/x.bin", "bytes=131072-")]
    assert files(target) == ["x.bin"]


def test_resume_from_a_server_without_ranges_starts_again(server, target):
    server.break_after = 131_072
    with pytest.raises(FileError):
        fetch(server, target)
    server.break_after, server.no_ranges = None, True
    fetch(server, target)
    assert target.read_bytes() == BODY


def test_resume_from_a_complete_part(server, target):
    target.parent.mkdir()
    part(target).write_bytes(BODY)  # killed just before the last step; the server answers 416
    fetch(server, target)
    assert target.read_bytes() == BODY
    assert [asked for _, asked in server.requests] == ["bytes=300000-"]


def test_part_of_another_version_is_dropped(server, target):
    target.parent.mkdir()
    part(target).write_bytes(b"\0" * 1000)
    fetch(server, target)
    assert target.read_bytes() == BODY
    assert [asked for _, asked in server.requests] == ["bytes=1000-", None]


def test_truncated_without_a_length_is_found_by_the_checksum(server, target):
    server.break_after, server.no_length = 131_072, True
    with pytest.raises(FileError, match="SHA-256 should be"):
        fetch(server, target)
    assert files(target) == []


def test_wrong_checksum_leaves_nothing(server, target):
    server.files["/x.bin"] = BODY[:-1] + b"?"
    with pytest.raises(FileError, match=r"SHA-256 should be .*, got .*; nothing was kept"):
        fetch(server, target)
    assert files(target) == []
    assert len(server.requests) == 1


def test_wrong_checksum_keeps_what_was_there_before(server, target):
    target.parent.mkdir()
    target.write_bytes(b"older")
    server.files["/x.bin"] = b"bad"
    with pytest.raises(FileError):
        fetch(server, target)
    assert target.read_bytes() == b"older"


def full(_):
    raise OSError(28, "No space left on device")


def test_full_disk(server, target, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"no space left for .*x\.bin: free some"):
        fetch(server, target)
    assert not target.exists()


def test_a_part_that_is_a_link_is_refused(server, target, tmp_path):
    (tmp_path / "precious").write_bytes(b"old")
    target.parent.mkdir()
    part(target).symlink_to(tmp_path / "precious")
    with pytest.raises(FileError, match=r"x\.bin\.part: is a symbolic link"):
        fetch(server, target)
    assert (tmp_path / "precious").read_bytes() == b"old"


def test_full_disk_while_writing_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(FileError, match=r"x: cannot be written: there is no space left"),
        atomic_write(tmp_path / "x") as handle,
    ):
        handle.write(b"half")
    assert list(tmp_path.iterdir()) == []


def test_atomic_write_that_fails_keeps_the_old_file(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(TypeError), atomic_write(tmp_path / "x") as handle:
        handle.writelines([b"new", "text"])
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_missing_page_names_the_status(server, target):
    with pytest.raises(FileError, match=r"/y.bin: the server answered 404"):
        download((f"{server.url}/y.bin",), target, CHECK)
    assert files(target) == []


def test_second_address_is_tried(server, target):
    download((f"{server.url}/gone", f"{server.url}/x.bin"), target, CHECK)
    assert target.read_bytes() == BODY


def test_a_mirror_with_other_content_is_passed_over(server, target):
    server.files["/bad"] = b"<html>"
    download((f"{server.url}/bad", f"{server.url}/x.bin"), target, CHECK)
    assert target.read_bytes() == BODY
    target.unlink()
    with pytest.raises(FileError, match=r"/bad: its SHA-256 .*/gone: .* 404 .*; nothing was kept"):
        download((f"{server.url}/bad", f"{server.url}/gone"), target, CHECK)
    assert files(target) == []


def test_no_server(tmp_path):
    with pytest.raises(FileError, match="no connection"):
        download(("http://127.0.0.1:9/x.bin",), tmp_path / "x.bin", CHECK)
    with pytest.raises(FileError, match="no connection"):
        get("http://127.0.0.1:9/x.bin")


_SCRIPT = """
import sys
from pathlib import Path
from rue.data.fetching import content_check, download
url, target, digest = sys.argv[1:]
download((url,), Path(target), content_check("x.bin", digest))
"""


def start(server, target: Path) -> subprocess.Popen:
    digest = hashlib.sha256(BODY).hexdigest()
    command = [sys.executable, "-c", _SCRIPT, f"{server.url}/x.bin", str(target), digest]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def test_two_processes_at_once_download_it_once(server, target):
    server.delay = 0.02
    both = [start(server, target) for _ in range(2)]
    assert [process.communicate()[1] for process in both] == [b"", b""]
    assert [process.returncode for process in both] == [0, 0]
    assert target.read_bytes() == BODY
    assert len(server.requests) == 1
    assert files(target) == ["x.bin"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not a thing on Windows")
def test_killed_process_frees_the_lock_and_leaves_a_part(server, target):
    server.delay = 0.05
    process = start(server, target)
    deadline = time.monotonic() + 30
    while not (part(target).exists() and part(target).stat().st_size):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not target.exists()
    server.delay = 0.0
    fetch(server, target)
    assert target.read_bytes() == BODY
    assert server.requests[1][1].startswith("bytes=")


def test_zip_check(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "hello" * 100)
    assert zip_check()(path) is None
    digest = hashlib.md5(path.read_bytes()).hexdigest()
    assert zip_check(digest)(path) is None
    assert "MD5 should be 0000" in zip_check("0000")(path)
    damaged = bytearray(path.read_bytes())
    damaged[60] ^= 1
    path.write_bytes(damaged)
    assert "a.txt in it is damaged" in zip_check()(path)
    path.write_bytes(path.read_bytes()[:-10])
    assert "not a valid zip file" in zip_check()(path)


def test_pip_missing_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(FileError, match=r"pip is needed .* ensurepip"):
        pip_download("vaderSentiment==0.5", "0" * 64, tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()


def test_pip_that_fails_says_why_in_one_line(tmp_path, monkeypatch):
    pip = tmp_path / "pip-that-fails"
    pip.write_text("#!/bin/sh\necho 'WARNING: old' >&2\necho 'ERROR: no such thing' >&2\nexit 1\n")
    pip.chmod(0o755)
    monkeypatch.setattr(fetching.sys, "executable", str(pip))
    with pytest.raises(FileError, match=r"^pip could not fetch it: ERROR: no such thing$"):
        pip_download("vaderSentiment==0.5", "0" * 64, tmp_path / "x.zip")


def test_pip_refuses_another_hash(sentiment, tmp_path):
    with pytest.raises(FileError, match=r"pip could not fetch it: ERROR: .*HASHES"):
        pip_download("vaderSentiment==0.5", "0" * 64, tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()

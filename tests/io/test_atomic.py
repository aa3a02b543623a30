"""Files are complete or absent, and never written through a link."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rue
from rue.errors import FileError, InputError
from rue.io.arrays import save_npz
from rue.io.atomic import ON_LINK, copy, open_own, replacing, sha256, write_json
from rue.io.saving import save_table


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, content, **options):
    with replacing(path, **options) as file:
        file.write(content)


def test_the_new_file_takes_the_old_ones_place(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["file"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"half", None])
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_the_temporary_name_cannot_be_guessed(tmp_path):
    seen = set()
    for _ in range(3):
        with replacing(tmp_path / "file"):
            seen |= {name for name in names(tmp_path) if name != "file"}
    assert len(seen) == 3
    assert all(re.fullmatch(r"\.rue-[0-9a-f]{32}\.tmp", name) for name in seen)


def test_a_temporary_name_that_is_taken_is_not_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda n: "0" * 2 * n)
    taken = tmp_path / f".rue-{'0' * 32}.tmp"
    (tmp_path / "precious").write_text("old")
    taken.symlink_to(tmp_path / "precious")
    with pytest.raises(FileError, match="file: cannot be written: File exists"):
        write(tmp_path / "file", b"new")
    assert (tmp_path / "precious").read_text() == "old"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_neither_written_through_nor_replaced(tmp_path, there):
    target, link = tmp_path / "target", tmp_path / "link"
    if there:
        target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(FileError, match=r"link: is a symbolic link, .* remove it, or name"):
        write(link, b"new")
    assert link.is_symlink()
    assert target.exists() == there
    assert not there or target.read_text() == "old"


def test_devices_and_folders_stay(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, what in (("folder", "a folder"), ("pipe", "no regular file")):
        with pytest.raises(FileError, match=f"{name}: cannot be written: it is {what}"):
            write(tmp_path / name, b"new")
    assert (tmp_path / "folder").is_dir()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_permissions_are_what_the_umask_leaves(tmp_path, umask):
    before = os.umask(umask)
    try:
        with replacing(tmp_path / "file") as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o666 & ~umask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~umask


def test_it_is_on_the_disk_before_it_is_renamed(tmp_path, monkeypatch):
    order = []
    fsync, rename = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda n: (order.append("fsync"), fsync(n)))
    monkeypatch.setattr(Path, "replace", lambda a, b: (order.append("replace"), rename(a, b)))
    with replacing(tmp_path / "file") as file:
        file.write(b"new")
    assert order == ["fsync", "replace"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    path = tmp_path / "file"
    try:
        path.write_text("old")
        with pytest.raises(FileError, match="file: cannot be written: there is no space left"):
            write(path, b"x" * 200_000)
        assert path.read_text() == "old"
        assert names(tmp_path) == ["file"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_a_file_that_may_not_grow_leaves_the_old_one(tmp_path, suffix):
    """A quota, as a limit of this process: writing fails in the middle, whatever the writer."""
    import resource

    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"old")
    numbers = np.random.default_rng(0).random(20_000)
    write = save_npz if suffix == ".npz" else save_table
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(FileError, match=r"cannot be written: File too large$"):
            write(path, {"a": numbers})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_copy_is_whole_and_follows_no_link(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    copy(tmp_path / "a", tmp_path / "b")
    assert sha256(tmp_path / "b") == sha256(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match="is a symbolic link"):
        copy(tmp_path / "a", tmp_path / "link")
    assert names(tmp_path) == ["a", "b", "link"]


def test_a_missing_folder_is_made_on_request(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    with pytest.raises(FileError, match="file: cannot be written: No such file"):
        write(path, b"new")
    with replacing(path, parents=True) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(FileError, match="cannot be written: File exists"):
        write(path / "file", b"new", parents=True)


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * 255)
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_file_of_our_own_is_appended_to_and_is_no_link(tmp_path):
    for piece in (b"one", b"two"):
        with open_own(tmp_path / "file") as file:
            file.write(piece)
    assert (tmp_path / "file").read_bytes() == b"onetwo"
    (tmp_path / "soft").symlink_to(tmp_path / "file")
    (tmp_path / "hard").hardlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    for name, why in (
        ("soft", "is a symbolic link"),
        ("hard", "is no regular file of its own"),
        ("pipe", "is no regular file of its own"),
        ("missing/file", "cannot be opened: No such file"),
    ):
        with pytest.raises(FileError, match=f"{name}: {why}"):
            open_own(tmp_path / name)


def test_sha256(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert sha256(tmp_path / "abc").startswith("ba7816bf8f01cfea414140de5dae2223b00361a3")


def test_everything_that_writes_uses_it():
    """Only so many lines of these files open something else for writing."""
    writes = re.compile(
        r"""write_text|write_bytes|\.touch\(|\.to_csv\(|open\([^\n]*["'][wax]b?\+?["']|"""
        r"""np\.savez?\(|\.tofile\(|urlretrieve|shutil\.(copy|move)"""
    )
    folder = Path(rue.__file__).parent
    code = {
        str(path.relative_to(folder)): re.sub(r"(?m)^ *(>>>|\.\.\.) .*$", "", path.read_text())
        for path in sorted(folder.rglob("*.py"))
    }
    found = {name: len(writes.findall(text)) for name, text in code.items() if writes.search(text)}
    assert found == {
        "bench/tasks.py": 1,  # into memory, as the next
        "data/features.py": 1,
        "data/fetching.py": 4,  # into a temporary folder of its own, for pip
        "io/atomic.py": 2,
        "io/arrays.py": 1,  # into a file of the writer's
    }


def test_python_objects_are_not_written(tmp_path):
    with pytest.raises(InputError, match="ids must hold numbers or text, got Python"):
        save_npz(tmp_path / "a.npz", {"probs": np.ones(2), "ids": np.array([{}, 1], dtype=object)})
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_a_file_that_is_overwritten_keeps_its_mode(tmp_path):
    path = tmp_path / "a"
    for mode in (0o600, 0o664, 0o400):
        path.write_bytes(b"old")
        path.chmod(mode)
        with replacing(path) as file:
            file.write(b"new")
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)
        path.unlink()


def test_a_folder_that_is_a_link_is_told(tmp_path):
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    told = []
    token = ON_LINK.set(told.append)
    write_json(tmp_path / "link" / "inner" / "a.json", 1)
    write_json(tmp_path / "real" / "b.json", 1)
    ON_LINK.reset(token)
    write_json(tmp_path / "link" / "c.json", 1)
    link, place = tmp_path / "link", (tmp_path / "real" / "inner").resolve()
    assert told == [f"{link} is a symbolic link: a.json is in {place}"]

"""Roots are read in order; what is pinned is checked by content, not by wrapping."""

import gzip
import hashlib
import io

import numpy as np
import pytest

from rue.data.fetching import locked_target
from rue.data.files import (
    Reader,
    atomic_write,
    content_digest,
    file_digest,
    roots,
    writable_root,
)
from rue.errors import FileError, InputError


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def test_roots_in_order(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("RUE_DATA", str(tmp_path / "shared"))
    for name in ("root", "RUE_DATA"):  # one that is not there is a mistake, not an empty one
        with pytest.raises(InputError, match=f"{name} must be a folder, got"):
            roots(tmp_path / "mine")
        (tmp_path / "mine").mkdir(exist_ok=True)
    (tmp_path / "shared").mkdir()
    assert roots(tmp_path / "mine") == (tmp_path / "mine", tmp_path / "shared", cache)
    assert roots() == (tmp_path / "shared", cache)
    monkeypatch.setenv("RUE_DATA", "")  # as make exports it where there is none
    assert roots() == (cache,)


def test_each_file_is_found_in_the_first_root_that_has_it(tmp_path, cache, monkeypatch):
    mine, shared = tmp_path / "mine", tmp_path / "shared"
    monkeypatch.setenv("RUE_DATA", str(shared))
    for folder, names in ((mine, "a"), (shared, "ab"), (cache, "abc")):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(folder.name)
    reader = Reader("x", mine)
    assert [reader.read(name) for name in "abc"] == [b"mine", b"shared", b"cache"]
    assert reader.has("nothing", "c")
    assert not reader.has("d")


def test_missing_file_says_where_and_how(tmp_path, cache):
    with pytest.raises(FileError, match=r"x needs a or b, found in none of .*cache: run `rue data"):
        Reader("x").find("a", "b")


def test_fetching_never_writes_to_rue_data(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("RUE_DATA", str(tmp_path / "shared"))
    assert writable_root() == cache
    assert writable_root(tmp_path / "mine") == tmp_path / "mine"
    for inside in (tmp_path / "shared", tmp_path / "shared" / "x", tmp_path / "a/../shared"):
        with pytest.raises(InputError, match="root must not be in RUE_DATA"):
            writable_root(inside)
    monkeypatch.setenv("RUE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"^the cache folder must not be .*cache; give a root$"):
        writable_root()


def test_fetching_never_writes_to_rue_data_through_a_link(tmp_path, monkeypatch):
    monkeypatch.setenv("RUE_DATA", str(tmp_path / "shared"))
    (tmp_path / "shared" / "letter").mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter").symlink_to(tmp_path / "shared/letter")
    target = tmp_path / "mine/letter/x"
    for write in (locked_target, atomic_write):
        with pytest.raises(InputError, match="must not be in RUE_DATA"), write(target):
            pass
    assert not list((tmp_path / "shared/letter").iterdir())


def test_what_cannot_be_fetched_says_how_it_is_had(tmp_path):
    reader = Reader("x", tmp_path, pinned={"a": "0"}, by_hand="ask the author")
    with pytest.raises(FileError, match=r"found in none of .*: ask the author$"):
        reader.find("a")
    (tmp_path / "a").touch()
    with pytest.raises(FileError, match=r"/a is not the published file: .*: ask the author \("):
        reader.read("a")


def test_pinned_content(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"hello")
    good = hashlib.sha256(b"hello").hexdigest()
    reader = Reader("x", tmp_path, pinned={"a.bin": good})
    assert reader.read("a.bin") == b"hello"
    assert reader.checksums == {"a.bin": good}
    wrong = Reader("x", tmp_path, pinned={"a.bin": "0"})
    with pytest.raises(FileError, match=r"/a\.bin is not .* got 2cf24dba.*: delete it and run"):
        wrong.read("a.bin")
    careless = Reader("x", tmp_path, pinned={"a.bin": "0"}, verify=False)
    careless.read("a.bin")
    assert careless.checksums == {"a.bin": good}


def test_how_a_file_was_wrapped_does_not_count(tmp_path):
    counts = np.arange(6).reshape(2, 3)
    same = content_digest("c.npy", npy(counts))
    assert same == content_digest("c.npy", npy(np.asfortranarray(counts)))
    assert same == content_digest("c.npy", npy(counts.astype(np.float32)))
    assert same != content_digest("c.npy", npy(counts + 1))
    assert content_digest("c.csv", b"1,2\r\n3,4") == content_digest("c.csv", b"1,2\n3,4\n")
    assert content_digest("c.csv", b"\xef\xbb\xbf1,2") == content_digest("c.csv", b"1,2\n")
    assert content_digest("c.csv", b"1,2\n3,4") != content_digest("c.csv", b"1,2\n3,5\n")
    for level in (1, 9):
        (tmp_path / f"{level}.gz").write_bytes(gzip.compress(b"hello" * 99, level))
    assert file_digest(tmp_path / "1.gz", "1.gz") == file_digest(tmp_path / "9.gz", "9.gz")


def test_npy_that_is_pickled_or_broken_is_refused():
    zipped = io.BytesIO()
    np.savez(zipped, np.arange(3))
    pickled = npy(np.array([{}], dtype=object))
    for data in (pickled, b"", npy(np.arange(3))[:-1], zipped.getvalue()):
        with pytest.raises(FileError, match=r"cannot be read as \.npy"):
            content_digest("c.npy", data)


def test_npy_must_hold_numbers_and_all_of_them_count():
    with pytest.raises(FileError, match=r"c\.npy must hold numbers, got dtype <U1"):
        content_digest("c.npy", npy(np.array(["a"])))
    digests = {content_digest("c.npy", npy(np.array([x]))) for x in (1, 1.5, np.nan, np.inf)}
    assert len(digests) == 4

"""Archives that lie are refused."""

import gzip
import io
import tarfile
import zipfile

import pytest

from rue.data import files as archives
from rue.data.files import gunzip, open_zip, read_tar, read_zip
from rue.data.images import LazyImages
from rue.errors import FileError

CLIMBING = ["../evil", "a/../../evil", "/etc/evil", "C:\\evil", "a\\..\\..\\evil", "\\\\host\\evil"]


def make_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


def make_tar(members, links=()):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, kind, aim in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, aim
            archive.addfile(info)
    content.seek(0)
    return content


def test_read(tmp_path):
    members = {"d/a.txt": b"A", "d/é.txt": b"B", "..c": b"C"}  # a name may begin with dots
    path = make_zip(tmp_path / "a.zip", members)
    assert read_zip(path, ["d/a.txt", "d/é.txt"]) == {"d/a.txt": b"A", "d/é.txt": b"B"}
    assert read_tar(make_tar(members), ["..c"], name="t") == {"..c": b"C"}
    (tmp_path / "a.tar.gz").write_bytes(make_tar(members).getvalue())
    assert read_tar(tmp_path / "a.tar.gz", ["d/a.txt"]) == {"d/a.txt": b"A"}


@pytest.mark.parametrize("name", CLIMBING)
def test_a_path_that_climbs_out(tmp_path, name):
    members = {"good.txt": b"A", name: b"B"}
    with pytest.raises(FileError, match="a path outside the archive"):
        read_zip(make_zip(tmp_path / "a.zip", members), ["good.txt"])
    with pytest.raises(FileError, match="a path outside the archive"):
        read_tar(make_tar(members), ["good.txt"], name="t")
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_a_tar_with_a_link_or_a_device(kind):
    tar = make_tar({"good.txt": b"A"}, [("link", kind, "/etc/passwd")])
    with pytest.raises(FileError, match="holds a link or a device, 'link'"):
        read_tar(tar, ["good.txt"], name="t")


def test_a_zip_with_a_link(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(FileError, match="holds a link, 'link'"), open_zip(tmp_path / "a.zip"):
        pass


def test_bombs(tmp_path, monkeypatch):
    zeros = bytes(100_000)
    path = make_zip(tmp_path / "a.zip", {"a": zeros})
    with monkeypatch.context() as patch:
        patch.setenv("RUE_MAX_MEMORY", "1 kB")
        with pytest.raises(FileError, match=r"a\.zip: reading it would take 97\.7 KiB of memory"):
            read_zip(path, ["a"])
        with pytest.raises(FileError, match=r"t: reading it would take"):
            read_tar(make_tar({"a": zeros}), ["a"], name="t")
        with pytest.raises(FileError, match=r"a\.gz: reading it would take"):
            gunzip(gzip.compress(zeros), "a.gz")
    assert read_zip(path, ["a"]) == read_tar(make_tar({"a": zeros}), ["a"]) == {"a": zeros}
    monkeypatch.setattr(archives, "ARCHIVE_LIMIT", 1000)
    with pytest.raises(FileError, match="would unpack to more than"):
        read_zip(path, ["b"])


def test_missing_member(tmp_path):
    with pytest.raises(FileError, match=r"a\.zip has no b"):
        read_zip(make_zip(tmp_path / "a.zip", {"a": b""}), ["b"])
    with pytest.raises(FileError, match="t has no b"):
        read_tar(make_tar({"a": b""}), ["b"], name="t")


def test_damaged(tmp_path):
    whole = make_zip(tmp_path / "a.zip", {"a": b"hello" * 50}).read_bytes()
    for data in (b"", b"not a zip", whole[:-5], whole[:35] + b"XX" + whole[37:]):
        (tmp_path / "b.zip").write_bytes(data)
        with pytest.raises(FileError, match="not a valid zip file"):
            read_zip(tmp_path / "b.zip", ["a"])
    tar = make_tar({"a": b"hello" * 50}).getvalue()
    for data in (b"", b"not a tar", tar[:-20]):
        with pytest.raises(FileError, match="t is not a valid tar file"):
            read_tar(io.BytesIO(data), ["a"], name="t")
    for data in (b"", b"not gzip", gzip.compress(b"hello")[:-4]):
        with pytest.raises(FileError, match="g is not a valid gzip file"):
            gunzip(data, "g")


def test_encrypted(tmp_path):
    data = bytearray(make_zip(tmp_path / "a.zip", {"a": b"hello"}).read_bytes())
    for header, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(header) + flags] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(FileError, match=r"not a valid zip file: .*encrypted"):
        read_zip(tmp_path / "a.zip", ["a"])
    with pytest.raises(FileError, match=r"a\.zip: cannot read a: .*encrypted"):
        LazyImages(tmp_path / "a.zip", ["a"])[0]


@pytest.mark.parametrize("kind", [zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
def test_any_byte_of_any_compression_may_be_wrong(tmp_path, kind):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", kind) as archive:
        archive.writestr("a", bytes(range(250)))
    whole = (tmp_path / "a.zip").read_bytes()
    for i in range(len(whole)):
        (tmp_path / "b.zip").write_bytes(whole[:i] + bytes([whole[i] ^ 255]) + whole[i + 1 :])
        try:
            content = read_zip(tmp_path / "b.zip", ["a"])
        except FileError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert content == {"a": bytes(range(250))}


def test_bzip2_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a", bytes(1000))
    with pytest.raises(FileError, match=r"a\.zip is packed with bzip2 or LZMA, which is not read"):
        read_zip(tmp_path / "a.zip", ["a"])


def test_flipped_bytes_of_compressed_members(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"hello" * 50)
    whole = (tmp_path / "a.zip").read_bytes()
    for i in range(31, 31 + 6):  # the member's deflated bytes
        (tmp_path / "a.zip").write_bytes(whole[:i] + bytes([whole[i] ^ 255]) + whole[i + 1 :])
        with pytest.raises(FileError, match="cannot read a"):
            LazyImages(tmp_path / "a.zip", ["a"])[0]
    # A tar that ends after its member is read up to gzip's check of what it unpacks to.
    damaged = bytearray(gzip.compress(gzip.decompress(make_tar({"a": bytes(512)}).read())[:1024]))
    assert read_tar(io.BytesIO(damaged), ["a"], name="t") == {"a": bytes(512)}
    damaged[-8] ^= 255
    with pytest.raises(FileError, match="t is not a valid tar file: CRC check failed"):
        read_tar(io.BytesIO(damaged), ["a"], name="t")


def test_no_tar_at_all_is_one_line():
    # tarfile gives a line for each compression that it tried.
    with pytest.raises(FileError, match=r"a.tar is not a valid tar file: [^\n\\]+$"):
        read_tar(io.BytesIO(b"no tar" * 200), ["a"], name="a.tar")

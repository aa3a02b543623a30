"""Zip and tar archives, whole and with members that should not be there."""

import io
import random
import tarfile
import warnings
import zipfile

from fuzz.bytewise import change_bytes

_CLIMBING = ("../x", "/x", "a/../../x", "C:\\x", "..\\x", "a\x00b", "x" * 300, "")


def change_members(rng: random.Random, members: dict[str, bytes]) -> dict[str, bytes]:
    """Drop, add, rename or change members."""
    members = dict(members)
    name = rng.choice(sorted(members))
    match rng.randrange(5):
        case 0:
            del members[name]
        case 1:
            members[rng.choice(_CLIMBING)] = members[name]
        case 2:
            members[name.upper()] = members.pop(name)
        case _:
            members[name] = change_bytes(rng, members[name])
    return members


def zipped(rng: random.Random, members: dict[str, bytes], *, odd_form: bool) -> bytes:
    """Return a zip; in an ``odd_form`` with links, other packings, doubles or other bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members.items():
            info = zipfile.ZipInfo(name or "x")
            packing = zipfile.ZIP_DEFLATED
            if odd_form:
                packing = rng.choice((0, 8, 8, 8, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
                if rng.random() < 0.05:
                    info.external_attr = 0o120777 << 16
                if rng.random() < 0.05:
                    archive.writestr(info, b"twice")
            archive.writestr(info, content, packing)
    return _damaged(rng, stream.getvalue()) if odd_form else stream.getvalue()


def tarred(
    rng: random.Random, members: dict[str, bytes], *, mode: str = "w:gz", odd_form: bool
) -> bytes:
    """Return a tar; in an ``odd_form`` with links, devices, or other bytes."""
    stream = io.BytesIO()
    mode = rng.choice((mode, "w", "w:bz2", "w:xz")) if odd_form else mode
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name.replace("\x00", "") or "x")
            info.size = len(content)
            if odd_form and rng.random() < 0.1:
                info.type = rng.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, b"9"))
                info.linkname = "/etc/passwd"
                info.size = 0
            archive.addfile(info, io.BytesIO(content))
    return _damaged(rng, stream.getvalue()) if odd_form else stream.getvalue()


def _damaged(rng: random.Random, content: bytes) -> bytes:
    return change_bytes(rng, content) if rng.random() < 0.5 else content

"""Read one file of a release, from a folder or from a zip that was not unpacked."""

from pathlib import Path, PurePosixPath

from rue.data.archives import open_zip, read_zip
from rue.errors import FileError

__all__ = ["member_named", "read_member"]


def read_member(source: Path, name: str) -> bytes:
    """Read the file itself, or the one member of a zip that has this name.

    Parameters
    ----------
    source
        The file, or a zip that holds it, in whatever folder.
    name
        The file's name, without a folder.
    """
    if source.suffix.lower() != ".zip":
        return source.read_bytes()
    with open_zip(source) as archive:
        member = member_named(source, archive.namelist(), name)
    return read_zip(source, [member])[member]


def member_named(source: Path, members: list[str], name: str) -> str:
    """Return the only path of an archive that ends in this name; raise if there is none, or two."""
    # A Mac puts a twin of each file beside what it packs.
    paths = [PurePosixPath(member) for member in members if not member.startswith("__MACOSX/")]
    found = [str(path) for path in paths if path.name == name]
    if len(found) != 1:
        what = f"has no {name}" if not found else f"has {len(found)} files {name}"
        raise FileError(f"{source} {what}")
    return found[0]

"""Versions of the site: a folder for each, a switch in the header, and a start page.

::

    site/index.html                    leads to the newest version
    site/0.1.0/                        a whole site
    site/0.1.0/assets/versions.js      the versions beside it, for the switch

The list is a script in every version's own folder, because pages that are opened from a disk may
load scripts but not read other files.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import rue

_LIST = Path("assets") / "versions.js"
_NAME = re.compile(r"[0-9]+(\.[0-9]+)*\w*")


def add_version(site: Path, build: Callable[[Path], None], version: str = rue.__version__) -> None:
    """Build this version of the site into its folder, and list it in all others."""
    build(site / version)
    for left in site.iterdir():  # of a site without versions
        if left.is_file():
            left.unlink()
    names = versions_in(site)
    for each in names:
        write_list(site / each, names)
    (site / "index.html").write_text(_start(names[0]))


def versions_in(site: Path) -> list[str]:
    """Return the versions that a folder has, the newest first."""
    names = [folder.name for folder in site.iterdir() if (folder / _LIST).is_file()]
    return sorted(filter(_NAME.fullmatch, names), key=version_key, reverse=True)


def write_list(site: Path, versions: list[str]) -> None:
    """Write the list that the switch of one version shows."""
    (site / _LIST).write_text(f"window.rueVersions = {json.dumps(versions)};\n")


def version_key(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Return a key by which 0.10 follows 0.9, and 1.0 follows 1.0rc1."""
    numbers, rest = re.fullmatch(r"([0-9.]+)(.*)", version).groups()  # type: ignore[union-attr]
    return tuple(int(n) for n in numbers.split(".") if n), not rest, rest


def _start(version: str) -> str:
    address = f"{version}/index.html"
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>rue</title>\n'
        f'<meta http-equiv="refresh" content="0; url={address}">\n'
        f'<p><a href="{address}">rue {version}</a></p>\n</html>\n'
    )

"""Render a report as one self-contained HTML page.

The numbers for the figures are little-endian arrays in one block, compressed with gzip and encoded
in base64; names, texts and rows are JSON.

Text from users is never inserted as HTML: it is escaped in the title, and the scripts, which read
it as JSON, only set text. The content security policy forbids the browser to load anything, and to
run any script except the one with the given hash.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from rue import __version__
from rue._schema import plain
from rue._text import JsonObject
from rue.errors import FileError
from rue.io.atomic import replacing
from rue.plots.methods import COLOURS, COLOURS_ON_DARK, method_styles
from rue.report.items import votes_of
from rue.report.model import Report
from rue.report.page_content import (
    CORNERS,
    ArrayBlock,
    card_content,
    figure_content,
    leaderboard_columns,
    point_content,
    sampled_rows,
)

LIMIT = 8_000_000
"""The largest size of a page, in bytes."""

# The shares of the limits on points and texts to try, in order: all of it, or less if the page
# would be too large.
_ROOMS = (1.0, 0.5, 0.25, 0.125, 0.0625)

_SCRIPTS = (
    *("text", "arrays", "boundary", "turning", "selectors", "rules", "dom", "theme"),
    *("state", "chart", "table", "leaderboard", "curves", "calibration", "surfaces", "ribbons"),
    *("explorer", "attained", "scatter", "votes", "points", "ranks", "cards", "main"),
)


def write_report(
    report: Report, path: str | Path, *, step: Callable[[str], object] = lambda _: None
) -> int:
    """Write the page of a report, completely or not at all.

    Parameters
    ----------
    report : Report
        The content.
    path : path
        The .html file to write.
    step : callable
        Called with a short text before each step.

    Returns
    -------
    int
        The size of the page in bytes.

    Raises
    ------
    FileError
        If the page would be too large, or cannot be written.

    Examples
    --------
    >>> from rue.report import Report, write_report
    >>> write_report(None, "report.txt")
    Traceback (most recent call last):
    rue.errors.FileError: report.txt: a report must be .html, got '.txt'
    """
    path = Path(path)
    require_page(path)
    page = render(report, step=step).encode()
    with replacing(path) as file:
        file.write(page)
    return len(page)


def require_page(path: Path) -> None:
    """Raise if no page can be written to a path."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{path}: a report must be .html, got {path.suffix!r}")
    if not path.parent.is_dir():
        raise FileError(f"{path}: cannot be written: there is no folder {path.parent}")


def render(report: Report, *, step: Callable[[str], object] = lambda _: None) -> str:
    """Return the page of a report as text.

    If the page would be too large, the numbers of points, texts and thumbnails are halved until
    it fits.

    Parameters
    ----------
    report : Report
        The content.
    step : callable
        Called with a short text before each step.

    Returns
    -------
    str
        The HTML page.

    Raises
    ------
    FileError
        If the page is too large even so.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from rue.report import from_files, render
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ensemble.npz")
    ...     np.savez(path, probs=np.full((3, 2, 2), 0.5), counts=[[3, 1], [2, 2], [4, 0]])
    ...     page = render(from_files({"ensemble": path}, {"log": "log"}))
    >>> page.startswith("<!doctype html>")
    True
    """
    arrays = ArrayBlock()
    drawn = [figure_content(entry, arrays, step) for entry in report.entries]
    for room in _ROOMS:
        page = _page(report, drawn, arrays.copy(), room)
        n_bytes = len(page.encode())
        if n_bytes < LIMIT:
            return page
    raise FileError(
        f"a report must be smaller than {LIMIT:,} bytes, got {n_bytes:,}: "
        "pass fewer methods or losses"
    )


def _page(report: Report, drawn: list[JsonObject], arrays: ArrayBlock, room: float) -> str:
    n_drawn = sum(entry.run is not None for entry in report.entries)
    shown = {card.name: sampled_rows(card, n_drawn, room) for card in report.data}
    share = room / len(report.data)
    answers: dict[str, JsonObject] = {}
    predicted: dict[int, JsonObject] = {}
    for card in report.data:
        own = [entry for entry in report.entries if entry.data == card.name]
        answers[card.name], means = votes_of(card, own, shown[card.name], share, arrays.add)
        predicted |= {id(entry): mean for entry, mean in zip(own, means, strict=True)}
    styles = method_styles(card.name for card in report.methods)
    content = {
        "title": report.title,
        "version": __version__,
        "columns": leaderboard_columns(),
        "data": [
            card_content(card, shown[card.name], share) | answers[card.name] for card in report.data
        ],
        "methods": [
            asdict(card) | {"colour": style.colour, "dash": " ".join(map(str, style.dash))}
            for card in report.methods
            for style in [styles[card.name]]
        ],
        "runs": [
            part | point_content(entry, shown[entry.data], arrays) | predicted[id(entry)]
            for entry, part in zip(report.entries, drawn, strict=True)
        ],
        "provenance": asdict(report.provenance),
        "corners": CORNERS,
    }
    return assemble(
        asset("page.html"),
        kind="report",
        title=report.title,
        style=asset("style.css") + _colours(),
        scripts=[asset(f"{name}.js") for name in _SCRIPTS],
        content=content,
        blocks={"arrays": arrays.packed()},
    )


def _colours() -> str:
    """Return the colours of methods as variables of the style sheet, light and dark."""
    light, dark = (
        "".join(f"--m{i}: {colour}; " for i, colour in enumerate(colours))
        for colours in (COLOURS, COLOURS_ON_DARK)
    )
    return (
        f':root {{ {light}}}\n:root[data-theme="dark"] {{ {dark}}}\n'
        "@media (prefers-color-scheme: dark) "
        f'{{ :root:not([data-theme="light"]) {{ {dark}}} }}\n'
    )


def asset(name: str, package: str = "rue.report") -> str:
    """Return the text of a file in the folder ``assets`` of a package."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def assemble(
    body: str,
    *,
    kind: str,
    title: str,
    style: str,
    scripts: Sequence[str],
    content: Any,
    blocks: Mapping[str, str] | None = None,
) -> str:
    """Return a page, for example of the kind "report"; ``blocks`` are data by their id."""
    script = "(() => {\n" + "\n".join(scripts) + "\n})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = '<script type="application/octet-stream" id="{}">{}</script>\n'
    parts = {
        "kind": kind,
        "blocks": "".join(data.format(*block) for block in (blocks or {}).items()),
        "policy": f"'sha256-{digest}'",
        "title": html.escape(_writable(title)),
        "style": style,
        "content": _json(content),
        "script": script,
    }
    template = asset("frame.html").replace("{{body}}", body)
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], template)


def _writable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()


def _json(content: Any) -> str:
    """Return JSON that is safe inside an HTML script element."""
    text = json.dumps(plain(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _writable(text).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

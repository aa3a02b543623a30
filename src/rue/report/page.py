"""Render a report as one self-contained HTML page.

The numbers for the figures are little-endian arrays in one block, compressed with gzip and encoded
in base64; names, texts and rows are JSON. Text from users is never inserted as HTML: the scripts
only set text. The content security policy of the page forbids the browser to load anything, and to
run any script except the one with the given hash.
"""

import base64
import gzip
import hashlib
import html
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rue import __version__
from rue.errors import FileError
from rue.io.atomic import replacing
from rue.metrics.columns import COLUMNS
from rue.report.items import PICTURED
from rue.report.model import DataCard, Items, Report, ReportEntry
from rue.report.thinning import CORNERS, curves_of, slices_of

__all__ = ["LIMIT", "render", "require_page", "write_report"]

LIMIT = 8_000_000
"""The largest size of a page, in bytes."""

# The shares of the limits on points and texts to try, in order: all of it, or less if the page
# would be too large.
_ROOMS = (1.0, 0.5, 0.25, 0.125, 0.0625)
_POINTS_BYTES = 3_600_000
_TEXT_BYTES = 1_200_000
_POINTS = 20_000
_TEXT_LENGTH = 280
_TILE = 40
_SEED = 0

_SCRIPTS = (
    "text",
    "arrays",
    "boundary",
    "turning",
    "selectors",
    "rules",
    "dom",
    "state",
    "chart",
    "leaderboard",
    "curves",
    "surfaces",
    "ribbons",
    "explorer",
    "attained",
    "scatter",
    "points",
    "ranks",
    "cards",
    "main",
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
    >>> from rue.report import Report
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
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from rue.report import from_files
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ensemble.npz")
    ...     np.savez(path, probs=np.full((3, 2, 2), 0.5), counts=[[3, 1], [2, 2], [4, 0]])
    ...     page = render(from_files({"ensemble": path}, {"log": "log"}))
    >>> page.startswith("<!doctype html>")
    True
    """
    arrays = _Block()
    drawn = [_drawn(entry, arrays, step) for entry in report.entries]
    for room in _ROOMS:
        page = _page(report, drawn, arrays.copy(), room)
        n_bytes = len(page.encode())
        if n_bytes < LIMIT:
            return page
    raise FileError(
        f"a report must be smaller than {LIMIT:,} bytes, got {n_bytes:,}: "
        "pass fewer methods or losses"
    )


def _page(report: Report, drawn: list[dict[str, Any]], arrays: "_Block", room: float) -> str:
    n_drawn = sum(entry.run is not None for entry in report.entries)
    shown = {card.name: _sample(card, n_drawn, room) for card in report.data}
    share = room / len(report.data)
    content = {
        "title": report.title,
        "version": __version__,
        "columns": _columns(),
        "data": [_card(card, shown[card.name], share) for card in report.data],
        "methods": [asdict(card) for card in report.methods],
        "runs": [
            each | _points(entry, shown[entry.data], arrays)
            for entry, each in zip(report.entries, drawn, strict=True)
        ],
        "provenance": asdict(report.provenance),
        "corners": CORNERS,
    }
    script = "(() => {\n" + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS) + "\n})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "policy": f"'sha256-{digest}'",
        "title": html.escape(_plain(report.title)),
        "style": _asset("style.css"),
        "arrays": arrays.packed(),
        "content": _json(content),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], _asset("page.html"))


def _columns() -> list[dict[str, Any]]:
    """Return the columns of the leaderboard; it is sorted by the first, n-AuReC."""
    shown = sorted(COLUMNS.values(), key=lambda column: column.key != "n_aurec")
    return [
        {
            "key": column.key,
            "title": column.title,
            "digits": column.digits,
            "meaning": column.explanation,
            "better": column.better if column.better in ("low", "high") else "",
        }
        for column in shown
        if column.explanation
    ]


class _Block:
    """Arrays, one after the other; each is referenced as [type, offset, length]."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def copy(self) -> "_Block":
        other = _Block()
        other._parts, other._size = list(self._parts), self._size
        return other

    def add(self, array: NDArray[Any], kind: str) -> list[Any]:
        largest = np.abs(array).max(axis=0, initial=0.0)
        if ((largest > 0) & ((largest < 1e-30) | (largest > 1e38))).any():
            kind = "f8"  # too large for float32
        data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        content = [kind, self._size, array.size]
        data += b"\0" * (-len(data) % 8)
        self._parts.append(data)
        self._size += len(data)
        return content

    def packed(self) -> str:
        return base64.b64encode(gzip.compress(b"".join(self._parts), mtime=0)).decode()


def _asset(name: str) -> str:
    return (files("rue.report") / "assets" / name).read_text(encoding="utf-8")


def _json(content: Any) -> str:
    """Return JSON that is safe inside an HTML script element."""
    text = json.dumps(_plain(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(content: Any) -> Any:
    if isinstance(content, dict):
        return {_plain(str(key)): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, np.generic):
        content = content.item()
    if isinstance(content, float) and not math.isfinite(content):
        return None
    if isinstance(content, str):  # lone surrogates cannot be written
        return content.encode("utf-8", "replace").decode()
    return content


def _sample(card: DataCard, n_drawn: int, room: float) -> NDArray[np.int64]:
    """Return the rows of the points on the page: all, or a random sample if there are too many."""
    n_points = len(card.items.ids)
    most = max(int(room * min(_POINTS, _POINTS_BYTES // (24 * max(n_drawn, 1)))), 1)
    if n_points <= most:
        return np.arange(n_points)
    return np.sort(np.random.default_rng(_SEED).choice(n_points, most, replace=False))


def _card(card: DataCard, shown: NDArray[np.int64], share: float) -> dict[str, Any]:
    content: dict[str, Any] = {
        "name": card.name,
        "facts": card.facts,
        "nPoints": len(card.items.ids),
        "nShown": len(shown),
        "nClasses": card.n_classes,
        **_items(card.items, shown, share),
    }
    if card.entropies is not None:
        top = math.log(card.n_classes) if card.n_classes else float(card.entropies.max())
        counts, edges = np.histogram(card.entropies, bins=24, range=(0.0, top or 1.0))
        content["entropy"] = {"counts": counts.tolist(), "top": float(edges[-1])}
    return content


def _items(items: Items, shown: NDArray[np.int64], share: float) -> dict[str, Any]:
    content: dict[str, Any] = {"ids": items.ids[shown].tolist()}
    if items.texts is not None:
        room = int(share * _TEXT_BYTES) // max(len(shown), 1)
        length = min(_TEXT_LENGTH, max(room, 20))
        content["texts"] = [_cut(items.texts[i], length) for i in shown]
    if items.images:
        place = {int(row): k for k, row in enumerate(shown)}
        kept = [
            (place[row], image)
            for row, image in zip(items.pictured, items.images, strict=True)
            if row in place
        ][: max(int(share * PICTURED), 1)]
        content["sprite"] = _sprite([image for _, image in kept]) | {
            "rows": [row for row, _ in kept]
        }
    return content


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _sprite(images: list[NDArray[np.uint8]]) -> dict[str, Any]:
    """Return small images side by side in one image, as a data URL."""
    from PIL import Image

    columns = max(math.ceil(math.sqrt(len(images))), 1)
    rows = max(math.ceil(len(images) / columns), 1)
    sheet = Image.new("RGB", (columns * _TILE, rows * _TILE), "white")
    for k, image in enumerate(images):
        grey = image.ndim == 3 and image.shape[2] == 1  # pillow needs 2 dimensions
        tile = Image.fromarray(image[:, :, 0] if grey else image).convert("RGB")
        tile = tile.resize((_TILE, _TILE), Image.Resampling.BICUBIC)
        sheet.paste(tile, (k % columns * _TILE, k // columns * _TILE))
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=50)
    address = "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
    return {"address": address, "tile": _TILE, "columns": columns}


def _drawn(entry: ReportEntry, arrays: _Block, step: Callable[[str], object]) -> dict[str, Any]:
    """Return the row, curves and surfaces of an entry."""
    step(f"{entry.method} {entry.loss}")
    content: dict[str, Any] = {
        "data": entry.data,
        "method": entry.method,
        "loss": entry.loss,
        "row": dict(entry.row),
    }
    run = entry.run
    if run is None:
        return content
    content["all"] = {  # of these points; the row may be a mean over seeds
        "risk": float(run.star.total.mean()),
        "regret": float(run.star.epistemic.mean()),
    }
    content["curves"] = {
        name: arrays.add(c, "f4") for name, c in curves_of(run, entry.correct).items()
    }
    for name, slices in zip(("optimal", "achievable"), slices_of(run), strict=True):
        content[name] = {
            "points": arrays.add(slices.points, "f4"),
            "ends": slices.ends.tolist(),
        }
    return content


def _points(entry: ReportEntry, shown: NDArray[np.int64], arrays: _Block) -> dict[str, Any]:
    """Return the components of the points on the page."""
    run = entry.run
    if run is None:
        return {}
    return {
        "points": {
            "total": arrays.add(run.star.total[shown], "f8"),
            "epistemic": arrays.add(run.star.epistemic[shown], "f8"),
            "aleatoricHat": arrays.add(run.hat.aleatoric[shown], "f4"),
            "epistemicHat": arrays.add(run.hat.epistemic[shown], "f4"),
        }
    }

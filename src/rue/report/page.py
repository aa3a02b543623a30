"""A report as one HTML page: data packed, assets put in, nothing fetched.

The numbers that are drawn are little-endian arrays in one block, compressed (gzip) and written in
base64; names, texts and rows are JSON. Nothing that a user wrote becomes HTML: the scripts only
ever set text. The page's own policy forbids the browser to fetch anything, and to run any script
but the one whose hash it names.
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
"""A page is smaller than this, in bytes."""

# Room for the points of all runs, and for the texts: what is more is thinned. All of it, or less
# where the page would be too large.
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
    """Write the page, whole or not at all; give its size in bytes."""
    path = Path(path)
    require_page(path)
    page = render(report, step=step).encode()
    with replacing(path) as file:
        file.write(page)
    return len(page)


def require_page(path: Path) -> None:
    """Raise where no page can be written."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{path}: a report must be .html, got {path.suffix!r}")
    if not path.parent.is_dir():
        raise FileError(f"{path}: cannot be written: there is no folder {path.parent}")


def render(report: Report, *, step: Callable[[str], object] = lambda _: None) -> str:
    """Return the page as text; ``step`` is called with a word before each run.

    Where all that the rooms allow would make it too large, points, texts and thumbnails are
    halved until it fits.
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
        "give fewer methods or losses"
    )


def _page(report: Report, drawn: list[dict[str, Any]], arrays: "_Block", room: float) -> str:
    n_drawn = sum(entry.run is not None for entry in report.entries)
    shown = {card.name: _sample(card, n_drawn, room) for card in report.data}
    share = room / len(report.data)
    told = {
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
        "told": _json(told),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], _asset("page.html"))


def _columns() -> list[dict[str, Any]]:
    """Return what the page shows of each column; it sorts by n-AuReC, which comes first."""
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
    """Arrays, one after the other; each is told as [type, offset, length]."""

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
            kind = "f8"  # float32 has no room for these
        data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        told = [kind, self._size, array.size]
        data += b"\0" * (-len(data) % 8)
        self._parts.append(data)
        self._size += len(data)
        return told

    def packed(self) -> str:
        return base64.b64encode(gzip.compress(b"".join(self._parts), mtime=0)).decode()


def _asset(name: str) -> str:
    return (files("rue.report") / "assets" / name).read_text(encoding="utf-8")


def _json(told: Any) -> str:
    """Write JSON that no HTML parser takes for anything else."""
    text = json.dumps(_plain(told), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(told: Any) -> Any:
    if isinstance(told, dict):
        return {_plain(str(key)): _plain(value) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [_plain(value) for value in told]
    if isinstance(told, np.generic):
        told = told.item()
    if isinstance(told, float) and not math.isfinite(told):
        return None
    if isinstance(told, str):  # lone surrogates cannot be written
        return told.encode("utf-8", "replace").decode()
    return told


def _sample(card: DataCard, n_drawn: int, room: float) -> NDArray[np.int64]:
    """Choose the points that the page holds: all, or a random part where they are too many."""
    n_points = len(card.items.ids)
    most = max(int(room * min(_POINTS, _POINTS_BYTES // (24 * max(n_drawn, 1)))), 1)
    if n_points <= most:
        return np.arange(n_points)
    return np.sort(np.random.default_rng(_SEED).choice(n_points, most, replace=False))


def _card(card: DataCard, shown: NDArray[np.int64], share: float) -> dict[str, Any]:
    told: dict[str, Any] = {
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
        told["entropy"] = {"counts": counts.tolist(), "top": float(edges[-1])}
    return told


def _items(items: Items, shown: NDArray[np.int64], share: float) -> dict[str, Any]:
    told: dict[str, Any] = {"ids": items.ids[shown].tolist()}
    if items.texts is not None:
        room = int(share * _TEXT_BYTES) // max(len(shown), 1)
        length = min(_TEXT_LENGTH, max(room, 20))
        told["texts"] = [_cut(items.texts[i], length) for i in shown]
    if items.images:
        place = {int(row): k for k, row in enumerate(shown)}
        kept = [
            (place[row], image)
            for row, image in zip(items.pictured, items.images, strict=True)
            if row in place
        ][: max(int(share * PICTURED), 1)]
        told["sprite"] = _sprite([image for _, image in kept]) | {"rows": [row for row, _ in kept]}
    return told


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _sprite(images: list[NDArray[np.uint8]]) -> dict[str, Any]:
    """Put small images side by side into one, as a data address."""
    from PIL import Image

    columns = max(math.ceil(math.sqrt(len(images))), 1)
    rows = max(math.ceil(len(images) / columns), 1)
    sheet = Image.new("RGB", (columns * _TILE, rows * _TILE), "white")
    for k, image in enumerate(images):
        grey = image.ndim == 3 and image.shape[2] == 1  # pillow wants no channel then
        tile = Image.fromarray(image[:, :, 0] if grey else image).convert("RGB")
        tile = tile.resize((_TILE, _TILE), Image.Resampling.BICUBIC)
        sheet.paste(tile, (k % columns * _TILE, k // columns * _TILE))
    buffer = io.BytesIO()
    sheet.save(buffer, "JPEG", quality=50)
    address = "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
    return {"address": address, "tile": _TILE, "columns": columns}


def _drawn(entry: ReportEntry, arrays: _Block, step: Callable[[str], object]) -> dict[str, Any]:
    """Tell an entry's row, curves and surfaces."""
    step(f"{entry.method} {entry.loss}")
    told: dict[str, Any] = {
        "data": entry.data,
        "method": entry.method,
        "loss": entry.loss,
        "row": dict(entry.row),
    }
    run = entry.run
    if run is None:
        return told
    told["all"] = {  # of these points, as row may be a mean over seeds
        "risk": float(run.star.total.mean()),
        "regret": float(run.star.epistemic.mean()),
    }
    told["curves"] = {
        name: arrays.add(c, "f4") for name, c in curves_of(run, entry.correct).items()
    }
    for name, slices in zip(("optimal", "achievable"), slices_of(run), strict=True):
        told[name] = {
            "points": arrays.add(slices.points, "f4"),
            "ends": slices.ends.tolist(),
        }
    return told


def _points(entry: ReportEntry, shown: NDArray[np.int64], arrays: _Block) -> dict[str, Any]:
    """Tell the components of the points that the page holds."""
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

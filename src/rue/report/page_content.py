"""What the page of a report holds: rows, curves and surfaces of runs, points, texts, thumbnails."""

import base64
import gzip
import io
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rue._arrays import FloatArray, IntArray
from rue._text import JsonObject
from rue.components import Run
from rue.inference.reliability_bands import calibration_bands
from rue.metrics.clusters import cluster_codes
from rue.metrics.columns import COLUMNS
from rue.metrics.curves import Curve, regret_coverage_curve, risk_coverage_curve
from rue.metrics.second_order import Pair, few_answers
from rue.pareto.surfaces import Surface, achievable_surface, optimal_surface, surface_gap
from rue.report.items import PICTURED
from rue.report.model import DataCard, Items, ReportEntry

# The most corners of a curve in strips of coverage; the levels of a surface, and points of a level.
CORNERS = 200
LEVELS = 41
ACROSS = 25

# The most that points and texts take, in bytes; the most points, and characters of a text; the
# width of a thumbnail in pixels; the seed of the sample.
_POINTS_BYTES = 3_600_000
_TEXT_BYTES = 1_200_000
_POINTS = 20_000
_TEXT_LENGTH = 280
_TILE = 40
_SEED = 0


def leaderboard_columns() -> list[JsonObject]:
    """Return the columns of the leaderboard; it is sorted by the first, n-AuReC."""
    shown = sorted(COLUMNS.values(), key=lambda column: column.key != "n_aurec")
    return [
        {
            "key": column.key,
            "title": column.title,
            "digits": column.digits,
            "meaning": column.explanation,
            "better": column.better if column.better in ("low", "high") else "",
            "main": column.in_table,
        }
        for column in shown
        if column.explanation
    ]


class ArrayBlock:
    """Arrays, one after the other; each is referenced as [type, offset, length]."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def copy(self) -> "ArrayBlock":
        """Return a block with the same arrays, to which others can be added."""
        other = ArrayBlock()
        other._parts, other._size = list(self._parts), self._size
        return other

    def add(self, array: NDArray[Any], kind: str) -> list[Any]:
        """Add an array as numbers of a kind, f4 or f8, and return its reference."""
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
        """Return all arrays, compressed and encoded in base64."""
        return base64.b64encode(gzip.compress(b"".join(self._parts), mtime=0)).decode()


def sampled_rows(card: DataCard, n_drawn: int, room: float) -> NDArray[np.int64]:
    """Return the rows of the points on the page: all, or a random sample if there are too many."""
    n_points = len(card.items.ids)
    most = max(int(room * min(_POINTS, _POINTS_BYTES // (24 * max(n_drawn, 1)))), 1)
    if n_points <= most:
        return np.arange(n_points)
    return np.sort(np.random.default_rng(_SEED).choice(n_points, most, replace=False))


def card_content(card: DataCard, shown: NDArray[np.int64], share: float) -> JsonObject:
    """Return the facts about a data set, with the points on the page and their share of room."""
    answers = card.answers
    n_classes = 0 if answers is None else answers.n_classes
    content: JsonObject = {
        "name": card.name,
        "facts": card.facts,
        "nPoints": len(card.items.ids),
        "nShown": len(shown),
        "nClasses": n_classes or None,
        **_items(card.items, shown, share),
    }
    entropies = None if answers is None else answers.entropies()
    if entropies is not None:
        top = math.log(n_classes)
        counts, edges = np.histogram(entropies, bins=24, range=(0.0, top or 1.0))
        content["entropy"] = {"counts": counts.tolist(), "top": float(edges[-1])}
    return content


def _items(items: Items, shown: NDArray[np.int64], share: float) -> JsonObject:
    content: JsonObject = {"ids": items.ids[shown].tolist()}
    if items.texts is not None:
        room = int(share * _TEXT_BYTES) // max(len(shown), 1)
        length = min(_TEXT_LENGTH, max(room, 20))
        content["texts"] = [
            text if len(text) <= length else text[: length - 1] + "…"
            for text in (items.texts[i] for i in shown)
        ]
    if items.images:
        place = {int(row): k for k, row in enumerate(shown)}
        entries = [
            (place[row], image)
            for row, image in zip(items.pictured, items.images, strict=True)
            if row in place
        ][: max(int(share * PICTURED), 1)]
        content["sprite"] = _sprite([image for _, image in entries]) | {
            "rows": [row for row, _ in entries]
        }
    return content


def _sprite(images: list[NDArray[np.uint8]]) -> JsonObject:
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


def figure_content(
    entry: ReportEntry, arrays: ArrayBlock, step: Callable[[str], object]
) -> JsonObject:
    """Return the row, curves and surfaces of an entry."""
    step(f"{entry.method} {entry.loss}")
    content: JsonObject = {
        "data": entry.data,
        "method": entry.method,
        "loss": entry.loss,
        "row": dict(entry.row),
        "best": list(entry.best),
    }
    run = entry.run
    if run is None:
        return content
    content["all"] = {  # of these points; the row may be a mean over seeds
        "risk": float(run.star.total.mean()),
        "regret": float(run.star.epistemic.mean()),
    }
    content["calibration"] = _calibration(entry, run, arrays)
    agreement = _agreement(entry, run, arrays)
    if agreement is not None:
        content["agreement"] = agreement
    curves = curves_of(run, entry.correct)
    content["curves"] = {name: arrays.add(curve, "f4") for name, curve in curves.items()}
    for name, (points, ends) in zip(("optimal", "achievable"), run.once(slices_of), strict=True):
        content[name] = {"points": arrays.add(points, "f4"), "ends": ends.tolist()}
    return content


def _calibration(entry: ReportEntry, run: Run, arrays: ArrayBlock) -> JsonObject:
    """Return the bins of the reliability diagram of regret, or why there are none."""
    if run.hat.outside_score:
        return {
            "missing": "its epistemic score comes from another source and has no unit, so its size "
            "cannot be compared with the regret"
        }
    return _bins(run.star.epistemic, run.hat.epistemic, entry, run, arrays)


def _agreement(entry: ReportEntry, run: Run, arrays: ArrayBlock) -> JsonObject | None:
    """Return the bins of the agreement of annotators; None if the run has no belief about it."""
    predicted, observed = run.once(Pair("agreement_hat")), run.once(Pair("agreement_star"))
    if predicted is None:
        return None
    if observed is None:
        return {"missing": few_answers(run)}
    return _bins(observed, predicted, entry, run, arrays)


def _bins(
    observed: FloatArray, estimate: FloatArray, entry: ReportEntry, run: Run, arrays: ArrayBlock
) -> JsonObject:
    """Return what is observed in bins of an estimate, with bands."""
    cluster = None if entry.cluster is None else cluster_codes(run, entry.cluster)
    bands = calibration_bands(observed, estimate, level=entry.level, cluster=cluster)
    curve = bands.curve
    columns = [curve.estimated, curve.realised, bands.low, bands.high, curve.count]
    return {
        "bins": arrays.add(np.column_stack(columns), "f4"),
        "gap": curve.gap,
        "estimate": float(estimate.mean()),
        "observed": float(observed.mean()),
        "level": bands.level,
        "resampled": "points" if cluster is None else f"the clusters of {entry.cluster}",
    }


def point_content(entry: ReportEntry, shown: NDArray[np.int64], arrays: ArrayBlock) -> JsonObject:
    """Return the components of the points on the page."""
    run = entry.run
    if run is None:
        return {}
    points = {
        "total": arrays.add(run.star.total[shown], "f8"),
        "epistemic": arrays.add(run.star.epistemic[shown], "f8"),
        "aleatoricHat": arrays.add(run.hat.aleatoric[shown], "f4"),
        "epistemicHat": arrays.add(run.hat.epistemic[shown], "f4"),
    }
    if run.star.person is not None and np.isfinite(run.star.person).all():
        points["person"] = arrays.add(run.star.person[shown], "f4")
    return {"points": points}


def thinned(curve: Curve, corners: int = CORNERS) -> FloatArray:
    """Return the first and the last corner in each strip of coverage, shape (n, 2)."""
    strip = np.minimum(curve.coverage * corners, corners - 1).astype(np.int64)
    changes = strip[1:] != strip[:-1]
    keep = np.append(True, changes) | np.append(changes, True)
    return np.column_stack([curve.coverage[keep], curve.value[keep]])


def curves_of(run: Run, correct: FloatArray | None = None) -> dict[str, FloatArray]:
    """Return the thinned coverage curves of the page, and those of oracle rankings."""
    wrong = None if correct is None else 1.0 - correct
    ranks = {"epistemic": run.hat.epistemic, "total": run.hat.total}
    curves = {}
    for name, rank in ranks.items():
        curves[f"regret_{name}"] = regret_coverage_curve(run.star.epistemic, rank)
        curves[f"risk_{name}"] = risk_coverage_curve(run.star.total, rank)
        if wrong is not None:
            curves[f"wrong_{name}"] = risk_coverage_curve(wrong, rank)
    curves["regret_oracle"] = regret_coverage_curve(run.star.epistemic, run.star.epistemic)
    curves["risk_oracle"] = risk_coverage_curve(run.star.total, run.star.total)
    if wrong is not None:
        curves["wrong_oracle"] = risk_coverage_curve(wrong, wrong)
    return {name: thinned(curve) for name, curve in curves.items()}


class Slices(NamedTuple):
    """Points of a surface (coverage, risk, regret) at some coverages, and where each level ends."""

    points: FloatArray
    ends: IntArray


def slices_of(run: Run) -> tuple[Slices, Slices]:
    """Return the optimal and the achievable surface at 41 coverages, points sorted by regret."""
    return _slices(optimal_surface(run.star)), _slices(achievable_surface(run.star, run.hat))


def gap_and_run(run: Run) -> tuple[float, Run]:
    """Return the Pareto-gap, and the run with the slices of both surfaces, which it needs too."""
    surfaces = optimal_surface(run.star), achievable_surface(run.star, run.hat)
    return surface_gap(*surfaces), run.with_points({slices_of: tuple(map(_slices, surfaces))})


def _slices(surface: Surface) -> Slices:
    steps = np.sort(surface.coverage)
    steps = steps[np.append(True, np.diff(steps) > 0)]
    nearest = [steps[np.abs(steps - c).argmin()] for c in np.linspace(0.0, 1.0, LEVELS)]
    points = surface.points[np.isin(surface.coverage, nearest)]
    levels = []
    for coverage in nearest:
        level = np.unique(points[points[:, 0] == coverage][:, [2, 1]], axis=0)
        picked = np.unique(np.rint(np.linspace(0, len(level) - 1, ACROSS)).astype(np.int64))
        risk, regret = level[picked, 1], level[picked, 0]
        levels.append(np.column_stack([np.full(len(picked), coverage), risk, regret]))
    return Slices(np.concatenate(levels), np.cumsum([len(level) for level in levels]))

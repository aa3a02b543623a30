"""The image study of the atlas beside frozen features of the same data set."""

import json

import numpy as np

from rue.metrics.columns import title
from studies import RESULTS
from studies.atlas_analysis import tau
from studies.atlas_rows import read
from studies.pages import table

KEYS = ("aurec", "n_aurec")


def text() -> str:
    """Return n-AuReC on images beside that on frozen features of the same data set."""
    file = RESULTS / "atlas-images.json"
    features = read("paper", "ferplus-features")
    if not file.exists() or not features:
        return "Not run yet."
    record = json.loads(file.read_text())
    parts = []
    for loss in ("log", "zero_one"):
        there = {
            name: {
                row["method"]: row
                for row in one["table"]
                if row["loss"] == loss and row.get("n_aurec") is not None
            }
            for name, one in (("images", record), ("features", features))
        }
        methods = [m for m in there["images"] if m in there["features"]]
        methods.sort(key=lambda method: there["images"][method]["n_aurec"])
        lines = [
            [
                method,
                *(f"{there[name][method][key]:.3f}" for key in KEYS for name in there),
            ]
            for method in methods
        ]
        found = [
            np.array([there[name][m]["n_aurec"] for m in methods], dtype=float) for name in there
        ]
        head = [f"{title(key)}, {name}" for key in KEYS for name in there]
        parts.append(
            f"Under {loss} loss, Kendall's tau between the two orders by n-AuReC is "
            f"{tau(*found):+.2f}:\n\n" + table(["method", *head], lines)
        )
    row = record["rows"][0]
    n_seeds = len({cell["cell"]["seed"] for cell in record["rows"]})
    opening = (
        f"A small convolutional network, trained from scratch on {row['data']['n_train']:,} faces "
        f"of FER+ for {row['config']['settings']['training']['epochs']} epochs and tested on "
        f"{row['data']['n_test']:,}, {n_seeds} seeds ([all numbers](../atlas-images.md)). "
        "Beside it are the rows of the same methods on frozen features, in the paper's regime "
        f"({features['rows'][0]['data']['n_train']:,} training points)."
    )
    return "\n\n".join([opening, *parts])

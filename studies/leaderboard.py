"""Build the leaderboard that docs/leaderboard.md shows, and take its screenshots in chromium.

Its submissions are the published models of ChaosNLI's SNLI part (:mod:`studies.chaosnli`), with
and without a temperature, and one that claims more than its predictions give.
"""

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

from rue.io import save_predictions
from rue.leaderboard import write_submission
from studies import DOCS
from studies.blocks import with_output
from studies.chaosnli import MODELS, draws, load, temperatures
from studies.pictures import keep_image, page_source
from studies.report import browser, shoot
from studies.study import Options, Pages

PAGE = DOCS / "leaderboard.md"
SHOTS = (("laptop", 1366, 1150, "light"), ("phone", 390, 844, "dark"))
"""The name, width, height and theme of each screenshot."""


def run(options: Options) -> Pages:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_submissions(Path("submissions"), options.root)
        text = with_output(PAGE.read_text())
        page = Path("site/index.html").resolve()
        with browser() as driver:
            for name, width, height, theme in SHOTS:
                shot = shoot(driver, page, width, height, theme, "body")
                keep_image(shot, f"leaderboard-{name}", page_source("rue.leaderboard"))
    return {PAGE: text}


def sources() -> dict[str, Any]:
    return {f"leaderboard-{name}": page_source("rue.leaderboard") for name, *_ in SHOTS}


def write_submissions(folder: Path, root: str | None = None) -> None:
    """Write one submission for each model and temperature, and one with a changed claim."""
    for model in (each for each in MODELS if each.corpus == "SNLI"):
        _, truth, items, whole = load(model, root)
        answers, labels = temperatures(truth, items, whole)
        name = model.title.partition(",")[0]
        temperature_of = {"none": None, "labels": labels, "answers": answers}
        names = [(kind, name) for kind in temperature_of]
        if name == "BERT":
            names.append(("none", "Too good"))
        for kind, method in names:
            place = folder / f"{method.lower().replace(' ', '-')}-{kind}"
            settings: dict[str, Any] = {"network": model.network, "seeds": list(model.seeds)}
            settings["temperature fitted on"] = kind
            save_predictions(
                "mine.npz",
                draws(items, temperature_of[kind]),
                ids=items.ids,
                annotations=truth,
                method=method,
            )
            write_submission(
                "mine.npz",
                place,
                data=model.data,
                losses=("log", "zero_one"),
                regime="published" if kind == "none" else f"scaled by {kind}",
                settings=settings,
            )
    path = folder / "too-good-none" / "row.json"
    row = json.loads(path.read_text())
    row["rows"][0]["n_aurec"] = 0.4
    path.write_text(json.dumps(row))

"""Run the scripts of examples/gallery, and write their pages with what they print and draw."""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies import DOCS, ROOT
from studies.pages import code
from studies.pictures import keep_file
from studies.study import Options, Pages

SCRIPTS = ROOT / "examples" / "gallery"
PAGES = DOCS / "gallery"
ORDER = (
    "first_row",
    "four_losses",
    "finite_annotators",
    "rule_with_a_promise",
    "sampled_answers",
    "benchmark",
    "regression_ratings",
    "sandbox",
)
"""The scripts in the order of the menu."""


@dataclass(frozen=True)
class GalleryCell:
    """One cell of a script: prose in Markdown, or code."""

    kind: str
    text: str


def cells_of(script: str) -> list[GalleryCell]:
    """Return the cells of a script in the percent format."""
    cells = []
    for part in script.split("# %%")[1:]:
        title, _, text = part.partition("\n")
        if title.strip() == "[markdown]":
            lines = [line.removeprefix("#").removeprefix(" ") for line in text.strip().split("\n")]
            cells.append(GalleryCell("markdown", "\n".join(lines)))
        else:
            cells.append(GalleryCell("code", text.strip("\n")))
    return cells


def printed_by(cells: list[GalleryCell], folder: Path) -> Iterator[str]:
    """Run the code of a script in a folder, and yield what each of its cells prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for k, cell in enumerate(cells):
            printed = io.StringIO()
            if cell.kind == "code":
                with contextlib.redirect_stdout(printed):
                    exec(compile(cell.text, f"cell {k}", "exec"), names)
            yield printed.getvalue()


def page_of(name: str, cells: list[GalleryCell], printed: list[str]) -> str:
    """Return the page of a script."""
    title, *rest = cells
    parts = [title.text, f"![The figure of this example](../figures/gallery_{name}.png)"]
    for cell, text in zip(rest, printed[1:], strict=True):
        parts.append(cell.text if cell.kind == "markdown" else code(cell.text, "python"))
        if text.strip():
            parts.append(code(text))
    parts.append(f"The script is `examples/gallery/{name}.py`.")
    return "\n\n".join(parts) + "\n"


def index_of(pages: dict[str, str]) -> str:
    """Return the page that lists all examples."""
    cards = []
    for name, page in pages.items():
        heading, _, rest = page.partition("\n")
        first = rest.strip().split("\n\n")[0].replace("\n", " ")
        link = f"{name}.md"
        picture = f"[![{heading[2:]}](../figures/gallery_{name}.png)]({link})"
        cards.append(f"-   **[{heading[2:]}]({link})**\n\n    {picture}\n\n    {first}")
    text = (
        "# Gallery\n\nEight scripts, each with its figure and output. They run in seconds and "
        "need no network: open one in an editor that knows `# %%` cells, or run it with Python."
    )
    return "\n\n".join([text, '<div class="gallery" markdown>', *cards, "</div>"]) + "\n"


def run(options: Options) -> Pages:
    """Run the scripts that are named, or all."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    pages = {name: PAGES / f"{name}.md" for name in ORDER}
    texts = {name: path.read_text() for name, path in pages.items() if path.exists()}
    for name in options.words or ORDER:
        cells = cells_of((SCRIPTS / f"{name}.py").read_text())
        with tempfile.TemporaryDirectory() as folder:
            texts[name] = page_of(name, cells, list(printed_by(cells, Path(folder))))
            picture = f"gallery_{name}"
            keep_file(Path(folder, f"{name}.png"), picture, sources()[picture])
    index = index_of({name: texts[name] for name in ORDER})
    return {pages[name]: text for name, text in texts.items()} | {PAGES / "index.md": index}


def sources() -> dict[str, str]:
    """Return what each picture is drawn from: its script."""
    return {f"gallery_{name}": (SCRIPTS / f"{name}.py").read_text() for name in ORDER}

"""What all studies do in one way: they compute rows, store them, and fill pages from them.

A study is a module of this package with some of these functions:

``compute(record, options)``
    Yield the record of the study whenever it shall be stored; the runner adds the versions.
    `record` is what is stored so far, so a study may leave out what it has.
``pages(record)``
    Return the pages that follow from the record: a whole page, or texts between marks.
``figures(record)``
    Return the figures that follow from the record.
``drawn(root)``
    Return the figures that need data sets or predictions of a data root.
``run(options)``
    Run code, commands or a browser, keep the pictures, and return the pages that show the output.
``sources()``
    Return what the pictures that `compute` and `run` keep are drawn from, by their names.
"""

import importlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from matplotlib.figure import Figure

from studies.pages import fill_file
from studies.pictures import keep_figure
from studies.rows import Row, read_rows, versions, write_rows

Pages = Mapping[Path, str | Mapping[str, str]]


@dataclass(frozen=True)
class Options:
    """What a study is run with: a data root, and folders or parts; `again` computes all anew."""

    root: str | None = None
    words: tuple[str, ...] = ()
    again: bool = False

    def folders(self, *default: Path) -> list[Path]:
        """Return the words as folders, or the default."""
        return [Path(word) for word in self.words] or list(default)


def module_of(name: str) -> ModuleType:
    """Return the module of a study."""
    return importlib.import_module(f"studies.{name}")


def record_of(name: str) -> Row:
    """Return the stored record of a study; an empty one if it stores none."""
    return read_rows(name.replace("_", "-"))


def compute(name: str, options: Options) -> None:
    """Compute a study, store its record and fill its pages."""
    study, start = module_of(name), time.monotonic()
    if hasattr(study, "compute"):
        for record in study.compute({} if options.again else record_of(name), options):
            write_rows(name.replace("_", "-"), {"versions": versions()} | record)
    if hasattr(study, "drawn"):
        keep(study.drawn(options.root))
    if hasattr(study, "run"):
        write_pages(study.run(options))
    fill(name)
    print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)


def fill(name: str) -> None:
    """Fill the pages of a study and draw its figures, from its stored record alone."""
    study, record = module_of(name), record_of(name)
    if hasattr(study, "pages"):
        write_pages(study.pages(record))
    if hasattr(study, "figures"):
        keep(study.figures(record))


def keep(figures: Mapping[str, Figure]) -> None:
    """Keep figures as pictures of docs/figures, with their stamps."""
    for name, figure in figures.items():
        keep_figure(figure, name)


def write_pages(pages: Pages) -> None:
    """Write whole pages, and texts between the marks of others."""
    for path, text in pages.items():
        if isinstance(text, str):
            path.write_text(text)
        else:
            fill_file(path, text)

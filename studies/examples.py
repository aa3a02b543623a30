"""Run the code of the pages that show what they print, and put the output into them.

python -m studies.examples
"""

import contextlib
import tempfile
from typing import Any

from studies import DOCS
from studies.blocks import RUN, blocks, run
from studies.pages import code, fill

PAGES = {
    "quickstart.md": {"python": "row"},
    "forest.md": {"python": "why", "sh": "output"},
    "sandbox.md": {"sh": "output"},
}
"""For each page, the mark of the output of each language."""


def main() -> None:
    for name, marks in PAGES.items():
        page = DOCS / name
        page.write_text(filled(page.read_text(), marks))


def filled(page: str, marks: dict[str, str]) -> str:
    """Run all blocks of a page in an empty folder, and return it with what they print."""
    names: dict[str, Any] = {}
    printed = dict.fromkeys(marks, "")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in blocks(page):
            if block.language in RUN and not block.reason:
                text = run(block, names)
                printed[block.language] = printed.get(block.language, "") + text
    return fill(page, {mark: code(printed[language]) for language, mark in marks.items()})


if __name__ == "__main__":
    main()

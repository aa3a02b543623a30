"""Run the code of the pages that show what they print, and put the output into them.

python -m studies.examples
"""

import contextlib
import re
import tempfile
from typing import Any

from studies import DOCS
from studies.blocks import RUN, Block, blocks, run
from studies.pages import code, fill

PAGES = {
    "quickstart.md": {"python": "row"},
    "why_not_ood.md": {"sh": "output"},
}
"""For each page, the mark of what its blocks of a language above the mark print."""

PAIRED = ("your_model.md",)
"""Pages that show below each block what it prints."""

_PAIR = re.compile(r"(?<! -->\n)^```(python|sh)\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.M | re.S)


def main() -> None:
    for name, marks in PAGES.items():
        page = DOCS / name
        page.write_text(filled(page.read_text(), marks))
    for name in PAIRED:
        page = DOCS / name
        page.write_text(paired(page.read_text()))


def filled(page: str, marks: dict[str, str]) -> str:
    """Run all blocks of a page in an empty folder, and return it with what they print."""
    names: dict[str, Any] = {}
    printed = dict.fromkeys(marks, "")
    n_above = {
        language: len(blocks(page.partition(f"<!-- begin {mark} -->")[0]))
        for language, mark in marks.items()
    }
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for place, block in enumerate(blocks(page)):
            if block.language in RUN and not block.reason:
                text = run(block, names)
                if place < n_above.get(block.language, 0):
                    printed[block.language] += text
    return fill(page, {mark: code(printed[language]) for language, mark in marks.items()})


def paired(page: str) -> str:
    """Run all blocks of a page in an empty folder, and return it with the output below each."""
    names: dict[str, Any] = {}

    def answer(found: re.Match[str]) -> str:
        printed = run(Block(found[1], found[2], ""), names)
        shown = f"\n{code(printed)}\n" if printed.strip() else ""
        return f"```{found[1]}\n{found[2]}```\n{shown}"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _PAIR.sub(answer, page)


if __name__ == "__main__":
    main()

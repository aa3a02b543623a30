"""Run the blocks of the quick start and the example, and put what they print into the pages."""

import contextlib
import re
import tempfile
from typing import Any

from studies import DOCS
from studies.blocks import blocks, run

PAGES = {"index.md": {"python": "row"}, "forest.md": {"python": "why", "sh": "output"}}
"""Between which marks goes what the blocks of a language print."""


def printed(page: str) -> list[tuple[str, str]]:
    """Run all blocks of a page in an empty folder: what each has printed, with its language."""
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return [(b.language, run(b, names)) for b in blocks(page) if not b.reason and runs(b)]


def runs(block: Any) -> bool:
    return block.language in ("python", "sh")


def fill(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    block = f"{begin}\n```text\n{text.strip()}\n```\n{end}"
    return re.sub(f"{begin}.*?{end}", lambda _: block, page, flags=re.S)


def filled(page: str, marks: dict[str, str]) -> str:
    """Run a page, and give it with what it prints."""
    found = printed(page)
    for language, name in marks.items():
        page = fill(page, name, "".join(text for kind, text in found if kind == language))
    return page


def main() -> None:
    for file, marks in PAGES.items():
        (DOCS / file).write_text(filled((DOCS / file).read_text(), marks))


if __name__ == "__main__":
    main()

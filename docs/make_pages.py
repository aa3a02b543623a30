"""Run the blocks of the quick start and the example, and put what they print into the pages."""

import contextlib
import re
import tempfile
from pathlib import Path
from typing import Any

from blocks import blocks, run

HERE = Path(__file__).parent


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


def main() -> None:
    for file, name, language in (("index.md", "row", "python"), ("forest.md", "output", "sh")):
        page = (HERE / file).read_text()
        text = "".join(text for kind, text in printed(page) if kind == language)
        (HERE / file).write_text(fill(page, name, text))


if __name__ == "__main__":
    main()

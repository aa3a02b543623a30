"""Run the code of README and of the pages that show what they print, and put the output there."""

import contextlib
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from studies import DOCS, ROOT, blocks
from studies.blocks import RUN, Block
from studies.pages import code, fill
from studies.study import Options, Pages

README = ROOT / "README.md"
MARKED = {
    README: {"python": "row", "sh": "output"},
    DOCS / "quickstart.md": {"python": "row"},
    DOCS / "why_not_ood.md": {"sh": "output"},
}
"""For each page, the mark of what its blocks of a language above the mark print."""

PAIRED = (DOCS / "your_model.md",)
"""Pages that show below each block what it prints."""

_PAIR = re.compile(r"(?<! -->\n)^```(python|sh)\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.M | re.S)


def run(_: Options) -> Pages:
    pages = {page: filled(page) for page in MARKED}
    return pages | {page: paired(page.read_text()) for page in PAIRED}


def filled(path: Path) -> str:
    """Run all blocks of a page in an empty folder, and return it with what they print.

    The commands of README read what its Python code made: the ensemble, an evidential network
    whose mean is the ensemble's first member, and the answers.
    """
    page, marks = path.read_text(), MARKED[path]
    names: dict[str, Any] = {}
    printed = dict.fromkeys(marks, "")
    n_above = {
        language: len(blocks.blocks(page.partition(f"<!-- begin {mark} -->")[0]))
        for language, mark in marks.items()
    }
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for place, block in enumerate(blocks.blocks(page)):
            if block.language in RUN and not block.reason:
                text = blocks.run(block, names)
                if place < n_above.get(block.language, 0):
                    printed[block.language] += text
                if path == README and block.language == "python":
                    members = names["members"] / names["members"].sum(axis=2, keepdims=True)
                    np.savez("ensemble.npz", probs=members)
                    np.savez("evidential.npz", alpha=1 + 8 * members[:, 0])
                    np.save("counts.npy", names["answers"].counts)
    return fill(page, {mark: code(printed[language]) for language, mark in marks.items()})


def paired(page: str) -> str:
    """Run all blocks of a page in an empty folder, and return it with the output below each."""
    names: dict[str, Any] = {}

    def answer(match: re.Match[str]) -> str:
        printed = blocks.run(Block(match[1], match[2], ""), names)
        shown = f"\n{code(printed)}\n" if printed.strip() else ""
        return f"```{match[1]}\n{match[2]}```\n{shown}"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _PAIR.sub(answer, page)

"""Run README's code and put what it prints below it.

python -m studies.readme
"""

import contextlib
import os
import tempfile
from typing import Any

import numpy as np

from studies import ROOT
from studies.blocks import Block, blocks, run
from studies.pages import code, fill

PAGE = ROOT / "README.md"
MARKS = {"python": "row", "sh": "output"}
WIDTH = "80"
"""The columns of the terminal in which the command runs."""


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text()))


def filled(page: str) -> str:
    """Return the page with the output of its Python code and of its command.

    The command's files hold what the Python code made: the ensemble, an evidential network whose
    mean is the ensemble's first member, and the answers.
    """
    names: dict[str, Any] = {}
    printed = {}
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for block in blocks(page):
                if block.language in MARKS and not block.reason:
                    printed[MARKS[block.language]] = code(_run(block, names))
    finally:
        os.environ.pop("COLUMNS")
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return fill(page, printed)


def _run(block: Block, names: dict[str, Any]) -> str:
    text = run(block, names)
    if block.language == "python":
        members = names["members"] / names["members"].sum(axis=2, keepdims=True)
        np.savez("ensemble.npz", probs=members)
        np.savez("evidential.npz", alpha=1 + 8 * members[:, 0])
        np.save("counts.npy", names["answers"].counts)
    return text


if __name__ == "__main__":
    main()

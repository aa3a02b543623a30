"""Make README's table, and the sandbox's figures anew by running it.

README's table is that of docs/results/demo.json (studies/results.py), the demo suite's rows.
"""

import json
import re
import shutil
import tempfile
from pathlib import Path

from rue.cli.sandbox import write_sandbox
from rue.metrics.table import format_rows
from rue.sandbox import run_sandbox
from studies import DOCS

HIDDEN = ("dataset", "ci")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_sandbox(run_sandbox(seed=0), Path(folder))
        for name in ("sandbox.png", "sandbox_curves.png"):
            shutil.copy(Path(folder) / name, DOCS / "figures" / name)
    readme = DOCS.parent / "README.md"
    readme.write_text(fill(readme.read_text(), "demo", demo_table()))


def demo_table() -> str:
    """The demo suite's table, without intervals: README is short."""
    table = json.loads((DOCS / "results" / "demo.json").read_text())["table"]
    return format_rows(
        [{k: v for k, v in row.items() if k not in HIDDEN and "_ci_" not in k} for row in table],
        "markdown",
    )


def fill(page: str, name: str, text: str) -> str:
    """Put text between the marks of that name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", page, flags=re.S)


if __name__ == "__main__":
    main()

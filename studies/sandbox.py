"""Draw the figures of docs/sandbox.md; studies.examples writes its tables.

python -m studies.sandbox
"""

import shutil
import tempfile
from pathlib import Path

from rue.cli.sandbox import write_sandbox
from rue.sandbox import run_sandbox
from studies import FIGURES

NAMES = ("sandbox.png", "sandbox_curves.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_sandbox(run_sandbox(seed=0), Path(folder))
        for name in NAMES:
            shutil.copy(Path(folder) / name, FIGURES / name)


if __name__ == "__main__":
    main()

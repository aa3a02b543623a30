"""Draw the figures of docs/why_not_ood.md; studies.examples writes its tables.

python -m studies.sandbox
"""

import tempfile
from pathlib import Path
from typing import Any

from rue.cli.sandbox import write_sandbox
from rue.plots import plot_sandbox, plot_sandbox_curves
from rue.sandbox import run_sandbox
from studies.pictures import keep_file, shown_in

NAMES = ("sandbox", "sandbox_curves")


def sandbox_source() -> list[dict[str, Any]]:
    """Return what both figures show."""
    sandbox = run_sandbox(seed=0)
    return [shown_in(plot(sandbox)) for plot in (plot_sandbox, plot_sandbox_curves)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_sandbox(run_sandbox(seed=0), Path(folder))
        for name in NAMES:
            keep_file(Path(folder, f"{name}.png"), name, sandbox_source())


if __name__ == "__main__":
    main()

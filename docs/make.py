"""Make README's table and figure and the sandbox's figures anew, by running the commands.

The rows of README's table, with versions and checksums, are kept in docs/demo.json.
"""

import json
import platform
import re
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

import rue.data
from rue.cli.sandbox import write_sandbox
from rue.demo import DATASET, LOSSES, make_predictions
from rue.evaluation import evaluate_components
from rue.matching import read_components
from rue.plots.curves import plot_curves
from rue.plots.style import save
from rue.sandbox import run_sandbox
from rue.tables import format_rows

HERE = Path(__file__).parent
SEED = 0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        files = make_predictions(out, seed=SEED)
        runs = [(f.stem, loss, read_components(f, None, loss)) for loss in LOSSES for f in files]
        write_sandbox(run_sandbox(seed=0), out)
        for name in ("sandbox.png", "sandbox_curves.png"):
            shutil.copy(out / name, HERE / "figures" / name)
    save(
        plot_curves([(name, loss, c.star, c.hat) for name, loss, c in runs]),
        HERE / "figures" / "curves.png",
    )
    rows = [
        evaluate_components(c.star, c.hat, loss=loss, method=name, outside=c.outside)
        for name, loss, c in runs
    ]
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    record = {
        "command": "rue demo",
        "data": DATASET,
        "seed": SEED,
        "checksums": dict(rue.data.load(DATASET).checksums),
        "versions": {"rue": rue.__version__, "python": platform.python_version()}
        | {name: version(name) for name in packages},
        "rows": [row.to_dict() for row in rows],
    }
    (HERE / "demo.json").write_text(json.dumps(record, indent=1) + "\n")
    readme = HERE.parent / "README.md"
    readme.write_text(fill(readme.read_text(), "demo", format_rows(rows, "markdown")))


def fill(page: str, name: str, text: str) -> str:
    """Put text between the marks of that name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", page, flags=re.S)


if __name__ == "__main__":
    main()

"""Write README's table from the rows of the demo (docs/results/demo.json).

python -m studies.readme
"""

import json

from rue.metrics.table import format_rows
from studies import RESULTS, ROOT
from studies.pages import fill_file

PAGE = ROOT / "README.md"
LOSS = "log"
SHOWN = ("method", "loss", "aurec", "n_aurec", "aurc", "pareto_gap", "spearman_hat")


def main() -> None:
    fill_file(PAGE, blocks())


def blocks() -> dict[str, str]:
    return {"demo": demo_table()}


def demo_table() -> str:
    """Return the demo's table under one loss, without intervals: README is short."""
    table = json.loads((RESULTS / "demo.json").read_text())["table"]
    shown = {*SHOWN, *(f"{key}_std" for key in SHOWN)}
    rows = [
        {key: value for key, value in row.items() if key in shown}
        for row in table
        if row["loss"] == LOSS
    ]
    return format_rows(rows, "markdown")


if __name__ == "__main__":
    main()

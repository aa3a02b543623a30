"""README's table is that of the demo's rows."""

import json

from studies import RESULTS, readme
from studies.pages import fill


def test_readme_shows_the_demo():
    page = readme.PAGE.read_text()
    assert fill(page, readme.blocks()) == page


def test_the_table_is_of_one_loss_and_every_method():
    record = json.loads((RESULTS / "demo.json").read_text())
    lines = readme.demo_table().splitlines()[2:]
    rows = [row for row in record["table"] if row["loss"] == readme.LOSS]
    assert len(lines) == len(rows) > 3
    for line, row in zip(lines, rows, strict=True):
        assert line.startswith(f"| {row['method']} |")
        assert f"{row['aurec']:.4f}" in line

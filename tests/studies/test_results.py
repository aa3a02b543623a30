"""The tables of imported runs are means of their rows."""

import json
from statistics import fmean

import pytest

from studies import RESULTS, result_pages

NAMES = result_pages.names()


def test_there_are_pages():
    assert {"demo", "cifar10h-probe", "sentiment-movies"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_the_mean_of_its_rows(name):
    """From row.json to the table again, without the benchmark's own code."""
    record = json.loads((RESULTS / f"{name}.json").read_text())
    for line in record["table"]:
        if not line["loss"]:
            continue
        cells = [
            row
            for cell in record["rows"]
            if cell["cell"]["method"] == line["method"]
            and cell["cell"]["dataset"] == line["dataset"]
            for row in cell["rows"]
            if row["loss"] == line["loss"]
        ]
        assert len(cells) == line["n_seeds"]
        for key in ("aurec", "n_aurec", "pareto_gap", "aurc"):
            assert line[key] == pytest.approx(fmean(row[key] for row in cells), rel=1e-12)
            if (line["method"], key) == ("single", "n_aurec"):
                assert line[key] == 1  # a constant ranking is a random one
            elif f"{key}_ci_low" in line:
                assert line[f"{key}_ci_low"] <= line[key] <= line[f"{key}_ci_high"]

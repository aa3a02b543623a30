"""docs/results/*.md and README's table are what the rows beside them give."""

from pathlib import Path

import pytest

from studies import readme as readme_study
from studies import results

DOCS = Path(__file__).parents[2] / "docs"
NAMES = sorted(path.stem for path in (DOCS / "results").glob("*.json"))


def test_there_are_pages():
    assert {"demo", "cifar10h-probe", "sentiment-movies"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_that_of_its_rows(name):
    assert (DOCS / "results" / f"{name}.md").read_text() == results.page(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_the_mean_of_its_rows(name):
    """From row.json to the table again, without the benchmark's own code."""
    import json
    from statistics import fmean

    record = json.loads((DOCS / "results" / f"{name}.json").read_text())
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
            if f"{key}_ci_low" in line:
                assert line[f"{key}_ci_low"] < line[key] < line[f"{key}_ci_high"]


def test_readme_shows_the_demo():
    readme = (DOCS.parent / "README.md").read_text()
    assert readme_study.fill(readme, "demo", readme_study.demo_table()) == readme

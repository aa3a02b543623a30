"""What README and the home page say of their figures is so."""

import json

import pytest

from studies import DOCS, RESULTS, opening
from studies.claims import at, place


def test_evidential_networks_are_last_in_the_usual_tests_and_first_by_regret():
    for method in ("dropout", "evidential", "ensemble", "ddu"):
        assert len(opening.ranks(method)) == len(opening.USUAL) + len(opening.REGRET)
    assert opening.ranks("evidential") == [4, 4, 4, 1, 1, 1, 2]
    for loss in ("log", "zero_one"):
        assert at("cifar10h", "aurec", 1, loss) == "evidential"
    assert place("openml-156", "nauc_epistemic", "evidential") == 4


def test_what_the_home_page_says_of_cifar10h():
    record = json.loads((RESULTS / "cifar10h-probe.json").read_text())
    best = {t["loss"]: t["best"] for t in record["tests"] if t["criterion"] == "n_aurec"}
    assert best["log"] == ["evidential"]
    assert best["zero_one"] == ["ensemble"]
    rows = opening.run_rows()
    assert min(row["n_aurec"] for row in rows) > 0.3
    assert all(row["n_aurec"] > 0.5 for row in rows if row["method"] == "ddu")
    row = rows[0]
    assert (row["annotators_min"], row["annotators_max"]) == (47, 63)
    assert "47 to 63 annotators" in (DOCS / "index.md").read_text()


def test_what_readme_says_of_the_demo():
    table = json.loads((RESULTS / "demo.json").read_text())["table"]
    assert all(row["n_aurec"] > 0.5 for row in table)
    assert (table[0]["annotators_min"], table[0]["annotators_max"]) == (15, 29)


@pytest.mark.parametrize("figure", ["ranks", "regret"])
def test_figures_are_drawn(figure):
    drawn = opening.plot_ranks() if figure == "ranks" else opening.plot_found(opening.run_rows())
    labels = [text.get_text() for axes in drawn.axes for text in axes.get_yticklabels()]
    assert len(drawn.axes) == (1 if figure == "ranks" else 2)
    assert labels[:4] == (["1", "2", "3", "4"] if figure == "ranks" else labels[:4])
    if figure == "regret":
        assert labels[:5] == ["evidential", "MC dropout", "ensemble", "Laplace", "DDU"]

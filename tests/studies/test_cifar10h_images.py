"""The page that puts the paper's tables beside networks trained on images."""

import json

import pytest

from studies import RESULTS
from studies import cifar10h_images as study
from studies.rows import read_rows


def test_orders_and_their_tau():
    values = dict(zip(study.METHODS, (0.3, 0.1, 0.2, 0.4), strict=True))
    by_aurec = {(m, "log", "aurec"): v for m, v in values.items()}
    assert study.order(by_aurec, "log", "aurec") == ["evidential", "ensemble", "dropout", "ddu"]
    by_ood = {(m, "", "near_ood"): v for m, v in values.items()}
    assert study.order(by_ood, "", "near_ood") == ["ddu", "dropout", "ensemble", "evidential"]
    # One of six pairs is swapped: (5 - 1) / 6.
    assert study.tau(["a", "b", "c", "d"], ["b", "a", "c", "d"]) == pytest.approx(4 / 6)
    assert study.tau(["a", "b", "c"], ["c", "b", "a"]) == pytest.approx(-1)


def test_table_1_has_the_papers_cells_and_the_means_of_our_rows():
    record = study.read_run("cifar10h-images")
    lines = study.pages(read_rows("cifar10h-images"))[study.PAGE]["table 1"].splitlines()
    assert len(lines) == 2 + 4 * 2 * 3
    assert any(line.startswith("| evidential | log | paper | 0.0673 | 0.260 |") for line in lines)
    own = [
        row["n_aurec"]
        for cell in record["rows"]
        for row in cell["rows"]
        if (row["method"], row["loss"]) == ("ddu", "log")
    ]
    (line,) = (each for each in lines if each.startswith("| ddu | log | ours, Definition 1"))
    assert line.split(" | ")[4] == f"{sum(own) / len(own):.3f}"


def test_what_the_page_says_in_words_is_in_its_tables():
    """Evidential is first by n-AuReC and OOD detection in every seed, and DDU below chance."""
    record = study.read_run("cifar10h-images")
    for loss in study.LOSSES:
        for seed in study.seed_values(record, loss, "n_aurec").values():
            assert min(study.METHODS, key=seed.__getitem__) == "evidential"
    for column in ("near_ood", "far_ood"):
        for seed in study.seed_values(record, "", column).values():
            assert max(study.METHODS, key=seed.__getitem__) == "evidential"
            assert seed["ddu"] < 0.5
    values = study.table_values(record["table"])
    assert study.order(values, "log", "aurec")[0] == "ensemble"
    assert study.order(values, "log", "pareto_gap")[0] == "evidential"
    for loss in study.LOSSES:
        for column in ("aurec", "n_aurec", "aurc"):
            assert study.order(values, loss, column)[-1] == "ddu"


def test_the_networks_of_a_run_are_named_on_its_page():
    page = (RESULTS / "cifar10h-images.md").read_text()
    assert "train another network, resnet9" in page
    assert "probes" not in page.split("## Beside the paper")[1].split("|")[0]


def test_the_rows_of_table_5_are_of_its_budget():
    record = json.loads((study.DOCS / "rows" / "cifar10h-images.json").read_text())
    for name, step in (("openml-156-generated", 100), ("openml-6", 1_000)):
        for row in record.get(name, {"rows": []})["rows"]:
            assert row["config"]["active_learning"]["step"] == step
            for run in row["proxies"]["details"]["active_learning"]:
                assert len(run["n_labelled"]) == 11

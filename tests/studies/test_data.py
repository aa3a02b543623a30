"""docs/data.md shows what docs/rows/data.json measured, of data sets that the registry has."""

import numpy as np
import pytest

import rue.data
from studies import DOCS, data
from studies.rows import read_rows


@pytest.fixture(scope="module")
def rows():
    return read_rows("data")


def test_rows_are_of_the_data_that_the_registry_knows(rows):
    assert (len(rows["annotations"]), len(rows["ratings"])) == (14, 1)
    for row in rows["annotations"] + rows["ratings"]:
        entry = rue.data.ENTRIES[row["name"]]
        low, mean, high = row["annotators"]
        assert (row["n_points"], row.get("n_classes", 0)) == (entry.n_points, entry.n_classes)
        assert (low, high) == (entry.annotators[0], entry.annotators[2])
        assert mean == pytest.approx(entry.annotators[1])
        assert row["checksums"].items() <= entry.checksums.items()


def test_the_text_about_features_is_true(rows):
    gaps = {}
    for name in data.DOMAINS:
        scores = {
            encoder: [
                row["r2"]
                for row in rows["features"]
                if (row["name"], row["encoder"]) == (name, encoder)
            ]
            for encoder in ("tfidf", "sentence")
        }
        assert [len(values) for values in scores.values()] == [5, 5]
        gaps[name] = np.subtract(scores["sentence"], scores["tfidf"])
        assert (gaps[name] > 0).all()
    assert max(gaps, key=lambda name: gaps[name].mean()) == "sentiment-nyt"


def test_real_rows_are_reproduced(rows, sentiment):
    known = {row["name"]: row for row in rows["annotations"]}
    for name in data.DOMAINS:
        if not name.startswith("sentiment-"):
            continue
        row = data.row(rue.data.load(name, sentiment))
        for key in ("entropy", "unanimous", "bayes_error"):
            assert row[key] == pytest.approx(known[name][key], rel=1e-12)


def test_every_data_set_is_in_the_page():
    page = (DOCS / "data.md").read_text()
    for name in rue.data.ENTRIES:
        family, _, member = name.partition("-")
        assert name in page or (family in page and f"-{member}" in page), name
    assert (DOCS / "figures/data.png").read_bytes().startswith(b"\x89PNG")

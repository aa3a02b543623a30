"""What other code found about two cells: the stated agreement follows from the stored numbers."""

import json

import numpy as np
import pytest

from studies import RESULTS
from studies.rows import read_rows
from studies.two_cells_page import checked

RECORD = read_rows("two-cells")
COMPARED = [row for row in RECORD["comparisons"] if row["standard_errors"] is not None]


def test_stored_columns_agree_with_those_of_other_code():
    assert max(RECORD["columns"]["largest"].values()) < 1e-10
    assert {"r_aurec", "pair_log_loss", "n_aurec_total"} <= set(RECORD["columns"]["largest"])
    for one in RECORD["columns"]["sampled"].values():
        assert 0.8 < one["mean_square"] < 1.25


@pytest.mark.parametrize(
    "row", COMPARED, ids=lambda r: "-".join(r[k] for k in ("source", "dataset", "loss", "column"))
)
def test_no_column_differs_by_three_standard_errors(row):
    n = len(row["stored"])
    seeds = [
        [
            one[row["column"]]
            for one in RECORD["own"]
            if (one["dataset"], one["loss"], one["seed"]) == (row["dataset"], row["loss"], seed)
        ]
        for seed in range(5)
    ]
    noise = np.sqrt(np.mean(np.var(seeds, axis=1, ddof=1)))
    error = noise * np.sqrt(1 / n + 1 / (n * len(seeds[0])))
    difference = np.mean(row["stored"]) - np.mean(seeds[:n])
    assert row["standard_errors"] == pytest.approx(difference / error)
    assert abs(difference) < 3 * error


def test_other_code_measures_what_a_hand_does():
    measured = pytest.importorskip("studies.two_cells").measured
    counts = np.array([[4.0, 0, 0], [2, 2, 0], [0, 3, 1], [1, 1, 2]])
    draws = np.array([[[0.5, 0.25, 0.25]] * 2, [[0.5, 0.5, 0], [0.25, 0.75, 0]]] * 2)
    row = measured(counts, "brier", probs=draws)
    # Regrets |m - p*|^2 by hand; the epistemic parts are 0 and 1/32, two points each.
    regrets = np.array([3 / 8, 1 / 32, 1 / 2, 13 / 32])
    assert row["regret"] == pytest.approx(regrets.mean())
    low, high = regrets[[0, 2]].sum() / 4, regrets.sum() / 4
    assert row["aurec"] == pytest.approx(low / 4 + (low + high) / 4)
    assert row["agreement_star"] == pytest.approx((1 + 1 / 3 + 1 / 2 + 1 / 6) / 4)


def test_mistakes_are_found_and_the_page_says_so():
    assert all(abs(row["standard_errors"]) > 5 for row in RECORD["mistakes"])
    page = (RESULTS / "atlas" / "index.md").read_text()
    assert checked(RECORD) in page
    assert checked({}) == ""


def test_the_compared_rows_are_those_of_the_study():
    for row in COMPARED:
        if row["source"] != "atlas-paper":
            continue
        study = json.loads((RESULTS / "atlas" / f"paper-{row['dataset']}.json").read_text())
        values = [
            one[row["column"]]
            for cell in study["rows"]
            if cell["cell"]["method"] == row["method"]
            for one in cell["rows"]
            if one["loss"] == row["loss"]
        ]
        # Not to the bit: another processor trains to other last digits.
        assert np.abs(np.subtract(row["stored"], values)).max() < row["noise"]

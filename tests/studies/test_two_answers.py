"""docs/two_answers.md shows what docs/rows/two-answers.json measured, and claims no more."""

import pytest

from rue.errors import FileError
from studies import two_answers
from studies.rows import read_rows


@pytest.fixture(scope="module")
def rows():
    return read_rows("two-answers")["rows"]


def test_what_the_page_claims(rows):
    for model in {row["model"] for row in rows}:
        by_answers = {row["n_answers"]: row for row in rows if row["model"] == model}
        whole, two, ten = by_answers[100], by_answers[2], by_answers[10]
        for m in two_answers.NUMBERS:
            few = by_answers[m]
            error = 4 * few["r_aurec_sd"] / few["n_draws"] ** 0.5
            assert abs(few["r_aurec"] - whole["r_aurec"]) < error + 0.005
        assert abs(two["plugin"] - whole["plugin"]) > 0.02
        assert two["r_aurec_sd"] > 2 * ten["r_aurec_sd"]
        assert two["regret"] > 1.8 * whole["regret"]


def test_the_rows_can_be_measured_again(rows):
    try:
        again = two_answers.measure(None, n_draws=3)
    except FileError as error:
        pytest.skip(str(error))
    whole = [row for row in rows if row["n_answers"] == 100]
    for row, found in zip(whole, [r for r in again if r["n_answers"] == 100], strict=True):
        assert found["r_aurec"] == pytest.approx(row["r_aurec"], rel=1e-9)

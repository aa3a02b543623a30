"""Baselines of the atlas: numbers without annotator noise, worked by hand."""

import pytest

from studies.atlas_analysis import Answer
from studies.atlas_baselines import (
    baseline_rows,
    differences,
    epistemic_against_total,
    fair,
    noise,
    one_network,
    who_knows,
)

FIRST = Answer("Q?", "q", "An old sentence.", "An old table.")


def row(dataset, method, loss="log", **numbers):
    empty = dict.fromkeys(("n_aurec", "n_aurec_total", "n_aurec_corrected", "r_aurec", "aurec"))
    usual = {
        "notes": (),
        "annotators_min": 5,
        "regret": 0.4,
        "pair_log_loss": 1.0,
        "pair_gain": 0.0,
    }
    agreement = {"agreement_hat": 0.25, "agreement_star": 0.5}
    where = {"dataset": dataset, "method": method, "loss": loss, "seed": 0}
    return empty | usual | agreement | numbers | where


def test_a_number_is_corrected_unbiased_or_exact():
    corrected = row("a", "m", n_aurec=0.5, n_aurec_corrected=0.25)
    assert fair("")(corrected) == 0.25
    assert fair("")({**corrected, "annotators_min": None}) == 0.5
    assert fair("_total")(corrected) is None
    assert fair("")(row("a", "m", "brier", n_aurec_corrected=0.1, r_aurec=0.75)) == 0.75
    # p* is known: AuReC over that of a random ranking, half of the mean regret.
    assert fair("")(row("a", "m", "brier", annotators_min=None, aurec=0.05)) == pytest.approx(0.25)


@pytest.fixture
def rows():
    made = []
    for i, data in enumerate(["sentiment-movies", "sentiment-nyt", "b", "c", "d", "e", "f"]):
        base = 0.5 + i / 100
        made.append(row(data, "single", n_aurec_total_corrected=base))
        for method, epistemic, total in (
            ("ensemble", 0.1, -0.1),
            ("dropout", 0.1, 0.0),
            ("evidential", 0.0, 0.0),
            ("knn", 0.2, 0.0),
            ("ensemble of twenty", 0.0, -0.2),
            ("dirichlet_multinomial", 0.0, 0.0),
        ):
            made.append(
                row(
                    *(data, method),
                    n_aurec_corrected=base + epistemic,
                    n_aurec_total_corrected=base + total,
                    pair_log_loss=1 - (method == "dirichlet_multinomial") / 2,
                )
            )
    return made


def test_rankings_against_one_network(rows):
    found = differences(rows, "log", "ensemble", "_total")
    assert found == pytest.approx(dict.fromkeys(found, -0.1))
    assert len(found) == 7
    # The gaps of ensemble, dropout and evidential are 0.2, 0.1 and 0.
    gap = epistemic_against_total(rows, "log")
    assert (gap.mean, gap.n_families) == (pytest.approx(0.1), 6)
    answer = one_network({"tuned": rows, "paper": rows}, FIRST)
    assert answer.sentence.startswith(
        "Clearly better than one network's entropy: in the tuned regime ensemble (by total alone) "
        "and ensemble of twenty (by total alone); in the paper regime ensemble (by total alone)"
    )
    both = "+0.100 [+0.100, +0.100] tuned and +0.100 [+0.100, +0.100] paper with five networks"
    assert f"by epistemic uncertainty is {both}" in answer.sentence
    assert "| log | paper | knn | epistemic | +0.200 [+0.200, +0.200] | 6 families |" in answer.body
    assert answer.body.endswith("An old sentence.\n\nAn old table.")


def test_the_score_of_two_answers_orders_the_methods(rows):
    answer = who_knows({"tuned": rows, "paper": rows}, FIRST)
    assert (
        "have are dirichlet_multinomial (tuned, 7 methods, 6 families) and dir" in answer.sentence
    )
    assert (
        "agree with probability 0.500; the tuned sentence-encoder ensemble predicts 0.250"
        in answer.sentence
    )
    assert "| paper | 7 | 6 families | dirichlet_multinomial | 1.0 |" in answer.body
    assert "| b | tuned | dirichlet_multinomial | 0.500 | +0.000 | 0.250 | 0.500 |" in answer.body


def test_noise_is_what_the_unbiased_regret_leaves():
    single = {"aurec_low": 0.15, "aurec": 0.2, "annotators_mean": 9.0, "n_aurec_floor": 0.1}
    made = [
        row("a", "single", regret_unbiased=None, n_aurec_total=0.6, **single),
        row("a", "single", "brier", regret_unbiased=0.3, **single),
    ]
    # Brier: 1 - 0.3 / 0.4; log: at most 1 - 0.15 / 0.2.
    text = noise(made)
    assert "\n| a | 9 | 0.400 | 25 % | 0.400 | 25 % | 0.100 | 0.600 | - |\n" in text
    assert text.endswith("unreliable for some methods on no data set.")
    made[0]["notes"] = ("n-AuReC corr. is unreliable: it divides by little",)
    assert noise(made).endswith("unreliable for some methods on a.")


def test_there_are_rows_of_all_suites():
    expected = {"single", "strength", "knn", "ensemble of twenty"}
    for regime, more in (("tuned", {"ensemble, tempered"}), ("paper", set())):
        assert expected | more <= {row["method"] for row in baseline_rows(regime)}

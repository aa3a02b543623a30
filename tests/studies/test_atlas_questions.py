"""The six answers in a made world in which they are known."""

import numpy as np
import pytest

from rue import Components
from studies.atlas_criteria import proxies, two_components, what_moves_ranks
from studies.atlas_methods import better_than_total, replicates, which_method
from studies.atlas_questions import answers
from studies.atlas_rows import matched_coverage

METHODS = ("ensemble", "evidential", "laplace", "pairs")
N_SETS = 4


def rows(**changes):
    """Method i has n-AuReC 0.8 - 0.1 i; its total ranks 0.05 worse; AuAC orders methods alike."""
    made = []
    for d in range(N_SETS):
        for i, method in enumerate(METHODS):
            for seed in range(2):
                n_aurec = 0.8 - 0.1 * i + 0.001 * d
                row = {
                    "dataset": f"d{d}",
                    "method": method,
                    "seed": seed,
                    "loss": "log",
                    "n_aurec": n_aurec,
                    "n_aurec_total": n_aurec + 0.05,
                    "aurec": n_aurec / 2,
                    "regret_calibration": 0.1 if method == "pairs" else 0.4,
                    "auac": 0.5 + 0.1 * i,
                    "near_ood": 0.9 - 0.1 * i,
                    "aurec_low": n_aurec / 2 - 0.01,
                    "aurec_high": n_aurec / 2 + 0.01,
                    "published": {"n_aurec": -n_aurec},
                    "corrected": {"n_aurec": n_aurec**2},
                    "rules": {
                        name: {"coverage": 0.6 + 2 * gain, "kept": True, "matched": 0.5 + gain}
                        for name, gain in (("learned", 0.03), ("total", 0.0), ("epistemic", 0.01))
                    },
                }
                made.append(row | changes)
    return made


def test_the_first_method_is_found():
    answer = which_method(rows())
    assert answer.sentence == (
        "By n-AuReC, the method with the lowest mean rank is pairs under log, whichever loss is "
        "used."
    )
    assert "| log | 4 | 4 | pairs | 0.501 | 1.0 [1.0, 1.0] |" in answer.body


def test_the_gain_over_total_is_found():
    answer = better_than_total(rows())
    assert "finds regret better than total uncertainty does" in answer.sentence
    assert "its n-AuReC is 0.050 lower (gain +0.050" in answer.sentence
    assert "better for ensemble, evidential, laplace and pairs" in answer.sentence
    worse = better_than_total(rows(n_aurec_total=0.1))
    assert worse.sentence.endswith("clearly better for no method.")
    assert "d0, d1, d2, d3" in worse.body


def test_the_effect_of_replicates_worked_by_hand():
    # Means on the first set: 0.5 against (0.8 + 0.7 + 0.6) / 3 = 0.7, 29 % less; gaps 0.1 and 0.4.
    answer = replicates(rows())
    assert "n-AuReC by -29 [-29, -28] %" in answer.sentence
    assert "by -75 [-75, -75] % of the other methods' mean over 4 data sets" in answer.sentence
    assert answer.sentence.endswith("so it matters more for calibration.")


def test_proxies_agree_or_not():
    answer = proxies(rows(), [], [])
    assert (
        "near-OOD detection -1.00 [-1.00, -1.00] (4 data sets); AuAC +1.00 [+1.00, +1.00]"
        in answer.sentence
    )
    assert "| AuAC | n_aurec | +1.000 [+1.000, +1.000] |" in answer.body
    assert "| 4 of 4 |" in answer.body
    assert "far-OOD" not in answer.sentence  # no data set has it
    assert "active learning" not in answer.sentence


def test_active_learning_is_compared_with_the_regime_it_trains_in():
    learnt = [
        {key: row[key] for key in ("dataset", "method", "seed")}
        | {"nauc_epistemic": 1 - row["n_aurec"], "nauc_total": row["n_aurec"]}
        for row in rows()
    ]
    reverse = [row | {"n_aurec": -row["n_aurec"]} for row in rows()]
    assert "active learning +1.00 [" in proxies(reverse, rows(), learnt).sentence
    answer = proxies(rows(), reverse, learnt)
    assert "active learning -1.00 [-1.00, -1.00] (4 data sets)" in answer.sentence
    assert "| active learning, asking by total | n_aurec | +1.000 [" in answer.body
    assert "| ensemble | 0.200 | 0.800 |" in answer.body


def test_what_moves_a_ranking():
    answer = what_moves_ranks(rows(), rows())
    assert "1.00 [1.00, 1.00] when the paper's settings replace tuned ones" in answer.sentence
    assert "-1.00 [-1.00, -1.00] under the published convention" in answer.sentence
    assert "overlap for 0 of 24 pairs" in answer.body  # six pairs on each of four data sets
    without = what_moves_ranks(rows(), [])
    assert "paper's settings" not in without.sentence


def test_what_two_components_gain():
    answer = two_components(rows())
    assert "accepts +3.0 [+3.0, +3.0] percentage points more" in answer.sentence
    assert "| epistemic | +2.0 [+2.0, +2.0] | 0.125 | +4.0 [+4.0, +4.0] |" in answer.body


def test_matched_coverage_worked_by_hand():
    # In the order of the score: totals 1, 2, then 4 and 1 tied, and regrets 0, 1, then 0 and 0.
    score = np.array([0.3, 0.1, 0.2, 0.3])
    star = Components(np.array([4.0, 1, 2, 1]), np.array([4.0, 1, 1, 1]), np.array([0.0, 0, 1, 0]))
    assert matched_coverage(score, star, 2.0, 1.0) == 1.0
    assert matched_coverage(score, star, 1.9, 1.0) == 0.5  # the tied pair costs 8 of 7.6
    assert matched_coverage(score, star, 2.0, 0.2) == 0.25
    assert matched_coverage(score, star, 0.2, 1.0) == 0.0


@pytest.mark.parametrize("n_sets", [1, 2])
def test_few_data_sets_have_no_intervals(n_sets):
    few = [row for row in rows() if row["dataset"] in [f"d{i}" for i in range(n_sets)]]
    for answer in answers(few, []):
        assert "nan" not in answer.sentence + answer.body
        assert not np.any([mark in answer.sentence for mark in "[]"])

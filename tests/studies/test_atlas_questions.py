"""The eight answers in a made world in which they are known."""

import numpy as np
import pytest

from rue import Components
from studies.atlas_criteria import proxies, two_components, what_moves_ranks
from studies.atlas_methods import (
    better_than_total,
    one_network,
    replicates,
    which_method,
    who_knows,
)
from studies.atlas_rows import matched_coverage

METHODS = ("ensemble", "evidential", "laplace", "pairs")
N_SETS = 6


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
                    "predicted_regret": 0.3 if method == "pairs" else 0.1,
                    "regret_low": 0.2,
                    "regret_high": 0.4,
                    "rules": {
                        name: {"coverage": 0.6 + 2 * gain, "kept": True, "matched": 0.5 + gain}
                        for name, gain in (("learned", 0.03), ("total", 0.0), ("epistemic", 0.01))
                    },
                }
                made.append(row | changes)
    return made


def both(**changes):
    return {"tuned": rows(**changes), "paper": rows(**changes)}


def test_the_first_method_is_named():
    answer = which_method(both())
    assert (
        "under log loss pairs has the lowest mean rank by both criteria in both regimes"
        in answer.sentence
    )
    assert "| log | tuned | n-AuReC | 4 | 6 | pairs | 1.0 [1.0, 1.0] |" in answer.body
    turned = [row | {"aurec": -row["aurec"]} for row in rows()]
    answer = which_method({"tuned": turned, "paper": rows()})
    assert (
        "by n-AuReC that of pairs and by AuReC that of ensemble (tuned) and pairs (paper)"
        in answer.sentence
    )


def test_the_difference_to_total_is_reported():
    answer = better_than_total(both(), "+0.1 (m)")
    assert answer.sentence.endswith("is +0.1 (m).")
    assert "Uncorrected, of all methods: under log loss -0.050 [" in answer.body
    assert "(6 families), clear in both regimes" in answer.body
    assert "in both regimes for ensemble, evidential, laplace and pairs:" in answer.body
    worse = better_than_total({"tuned": rows(), "paper": rows(n_aurec_total=0.1)}, "+0.1 (m)")
    assert "better in both regimes for no method:" in worse.body
    mixed = [row | {"n_aurec_total": 0.6 + 0.1 * (row["dataset"] < "d3")} for row in rows()]
    answer = better_than_total({"tuned": mixed, "paper": mixed}, "+0.1 (m)")
    assert "clear in neither regime" in answer.body


def test_the_effect_of_replicates_worked_by_hand():
    # Means on the first set: 0.5 against (0.8 + 0.7 + 0.6) / 3 = 0.7, 29 % less; gaps 0.1 and 0.4.
    # Against the others' total, 0.5 against 0.75: 33 % less.
    answer = replicates(both())
    assert "an n-AuReC that is 28.5 % [28.4, 28.5] lower (tuned)" in answer.sentence
    assert "and 33.2 % [33.2, 33.3] lower (tuned)" in answer.sentence
    assert "calibration gap of regret is 75.0 % [75.0, 75.0] lower (tuned)" in answer.sentence
    assert "(6 families)" in answer.sentence


def test_proxies_agree_or_not():
    answer = proxies(both(), [])
    assert "near-OOD -1.00 [-1.00, -1.00] tuned" in answer.sentence
    assert "AuAC +1.00 [+1.00, +1.00] tuned" in answer.sentence
    assert "| AuAC | tuned | n-AuReC | +1.00 [+1.00, +1.00] | 6 families |" in answer.body
    assert "| 6 of 6 |" in answer.body
    assert "far-OOD" not in answer.sentence  # no data set has it
    assert "active learning" not in answer.sentence


def test_active_learning_is_compared_with_the_regime_it_trains_in():
    learnt = [
        {key: row[key] for key in ("dataset", "method", "seed")}
        | {"nauc_epistemic": 1 - row["n_aurec"], "nauc_total": row["n_aurec"]}
        for row in rows()
    ]
    reverse = [row | {"n_aurec": -row["n_aurec"]} for row in rows()]
    answer = proxies({"tuned": reverse, "paper": rows()}, learnt)
    assert "| active learning, asking by epistemic | paper | n-AuReC | +1.00 [" in answer.body
    answer = proxies({"tuned": rows(), "paper": reverse}, learnt)
    assert "active learning +1.00 [+1.00, +1.00] paper (6 families)" in answer.sentence
    assert "| active learning, asking by epistemic | paper | n-AuReC | -1.00 [" in answer.body
    assert "| active learning, asking by total | paper | n-AuReC | +1.00 [" in answer.body
    assert "| ensemble | 0.200 | 0.800 |" in answer.body


def test_what_moves_a_ranking():
    answer = what_moves_ranks(both())
    assert "1.00 [1.00, 1.00] when the paper's settings replace tuned ones" in answer.sentence
    assert "| published convention instead of Definition 1 | log | -1.00 [" in answer.body
    assert "overlap for 0 of 36 pairs" in answer.body  # six pairs on each of six data sets
    without = what_moves_ranks({"tuned": rows(), "paper": []})
    assert "paper's settings" not in without.sentence


def test_what_two_components_gain():
    answer = two_components(both())
    assert "accepts +3.00 [+3.00, +3.00] tuned and +3.00" in answer.sentence
    assert "| epistemic | tuned | +2.0 [+2.0, +2.0] | 0.031 | +4.0 [+4.0, +4.0] |" in answer.body
    scores = [row | {"predicted_regret": None} for row in rows() if row["method"] == "pairs"]
    assert "accepts - tuned" in two_components({"tuned": scores, "paper": scores}).sentence


def test_a_method_is_compared_with_the_total_of_one_network():
    # One network has 0.6 by total; n-AuReC by epistemic is 0.8, 0.7, 0.6 and 0.5.
    group = [row | {"loss": loss} for row in rows() for loss in ("log", "zero_one")]
    single = [
        row | {"method": "single", "n_aurec_total": 0.6, "aurec_total": 0.3}
        for row in group
        if row["method"] == "pairs"
    ]
    answer = one_network({"tuned": group, "paper": group}, {"tuned": single, "paper": single})
    assert "| log | tuned | ensemble | +34 [+34, +34] |" in answer.body
    assert "| log | tuned | pairs | -16 [-16, -16] |" in answer.body
    assert "in the tuned regime pairs (log loss, by n-AuReC)" in answer.sentence


def test_who_knows_its_regret_worked_by_hand():
    # The bracket is 0.2 to 0.4: pairs predict 0.3, the others 0.1.
    answer = who_knows(both())
    assert "for pairs (tuned) and pairs (paper)" in answer.sentence
    assert "| pairs | 6 of 6 | 6 of 6 |" in answer.body
    assert "| ensemble | 0 of 6 | 0 of 6 |" in answer.body


def test_matched_coverage_worked_by_hand():
    # In the order of the score: totals 1, 2, then 4 and 1 tied, and regrets 0, 1, then 0 and 0.
    score = np.array([0.3, 0.1, 0.2, 0.3])
    star = Components(np.array([4.0, 1, 2, 1]), np.array([4.0, 1, 1, 1]), np.array([0.0, 0, 1, 0]))
    assert matched_coverage(score, star, 2.0, 1.0) == 1.0
    assert matched_coverage(score, star, 1.9, 1.0) == 0.5  # the tied pair costs 8 of 7.6
    assert matched_coverage(score, star, 2.0, 0.2) == 0.25
    assert matched_coverage(score, star, 0.2, 1.0) == 0.0


@pytest.mark.parametrize("n_sets", [1, 4])
def test_few_families_have_no_intervals(n_sets):
    few = [row for row in rows() if row["dataset"] in [f"d{i}" for i in range(n_sets)]]
    group = {"tuned": few, "paper": few}
    answers = [
        *(ask(group) for ask in (which_method, replicates, who_knows)),
        better_than_total(group, "+0.1 (m)"),
        *(ask(group) for ask in (what_moves_ranks, two_components)),
        proxies(group, []),
    ]
    for answer in answers:
        assert "nan" not in answer.sentence + answer.body
        assert not np.any([mark in answer.sentence for mark in "[]"])

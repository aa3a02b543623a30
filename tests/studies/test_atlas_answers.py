"""The eight answers in a made world in which they are known."""

import numpy as np
import pytest

from rue import Components
from studies.atlas_answers import (
    better_than_total,
    differences,
    epistemic_against_total,
    fair,
    one_network,
    proxies,
    replicates,
    two_components,
    what_moves_ranks,
    which_method,
    who_knows,
)
from studies.atlas_pages import noise
from studies.atlas_rows import baseline_rows, matched_coverage

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
                    "annotators_min": 5,
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
        "under log loss: pairs, 1.0 [1.0, 1.0] tuned and 1.0 [1.0, 1.0] paper (of 4 methods, "
        "6 families), a lead that is clear in neither regime; first by AuReC: pairs."
        in answer.sentence
    )
    assert "| log | tuned | n-AuReC | 4 | 6 | pairs | 1.0 [1.0, 1.0] |" in answer.body
    # laplace is one rank apart.
    assert answer.line == (
        "Lowest mean rank by n-AuReC: pairs, 1.0 [1.0, 1.0] of 4 methods (tuned, 6 "
        "families); the lead is clear in neither regime."
    )
    turned = [row | {"corrected": {"n_aurec": -row["n_aurec"]}} for row in rows()]
    answer = which_method({"tuned": turned, "paper": rows()})
    assert "loss: ensemble, 1.0 [1.0, 1.0] tuned and pairs, 1.0 [1.0, 1.0]" in answer.sentence
    turned = [row | {"n_aurec": -row["n_aurec"], "annotators_min": None} for row in rows()]
    answer = which_method({"tuned": turned, "paper": rows()})
    assert "loss: ensemble, 1.0 [1.0, 1.0] tuned and pairs, 1.0 [1.0, 1.0]" in answer.sentence
    turned = [row | {"aurec": -row["aurec"]} for row in rows()]
    answer = which_method({"tuned": turned, "paper": rows()})
    assert "by AuReC: ensemble (tuned) and pairs (paper)" in answer.sentence


def without_noise(**changes):
    """Corrected, of one method that all data sets have: epistemic is worse by 0.1."""
    made = [
        row
        | {"notes": (), "annotators_min": 5}
        | {"n_aurec_corrected": 0.6, "n_aurec_total_corrected": 0.5}
        for row in rows()
        if row["method"] in ("ensemble", "pairs")
    ]
    zero_one = [row | {"loss": "zero_one", "n_aurec_corrected": 0.5} for row in made]
    return [row | changes for row in made + zero_one]


def test_the_difference_to_total_is_reported():
    plain = {"tuned": without_noise(), "paper": without_noise(n_aurec_corrected=0.4)}
    answer = better_than_total(both(), plain)
    assert answer.sentence.startswith("It is clearly better in the paper regime only. ")
    assert answer.line == (
        "It is clearly better in the paper regime only and clearly worse in the tuned regime only: "
        "n-AuReC by epistemic minus that by total uncertainty is +0.100 [+0.100, "
        "+0.100] (tuned, 6 families)."
    )
    plain["paper"] = without_noise(n_aurec_corrected=0.5)
    answer = better_than_total(both(), plain)
    assert answer.sentence == (
        "It is clearly better in neither regime. Averaged over the methods, corrected n-AuReC by "
        "epistemic uncertainty minus that by total uncertainty (positive is worse) is +0.100 "
        "[+0.100, +0.100] tuned and +0.000 [+0.000, +0.000] paper (6 families) under log loss; "
        "this is clearly worse in the tuned regime only. Under 0/1 loss it is clearly worse in "
        "neither regime."
    )
    assert "as unreliable, under log loss +0.100 [+0.100, +0.100] tuned" in answer.body
    doubted = [
        row | {"notes": ("it is unreliable",) * (row["dataset"] < "d2")} for row in plain["tuned"]
    ]
    answer = better_than_total(both(), plain | {"tuned": doubted})
    assert "as unreliable, under log loss +0.100 tuned" in answer.body  # four families are left
    assert answer.line.endswith(" correction is unreliable, this is not clear (tuned).")
    assert "Uncorrected, of all methods: under log loss -0.050 [" in answer.body
    assert "(6 families), clear in both regimes" in answer.body
    assert "in both regimes for ensemble, evidential, laplace and pairs:" in answer.body
    worse = better_than_total({"tuned": rows(), "paper": rows(n_aurec_total=0.1)}, plain)
    assert "better in both regimes for no method:" in worse.body
    mixed = [row | {"n_aurec_total": 0.6 + 0.1 * (row["dataset"] < "d3")} for row in rows()]
    answer = better_than_total({"tuned": mixed, "paper": mixed}, plain)
    assert "clear in neither regime" in answer.body


def test_the_effect_of_replicates_worked_by_hand():
    # Means on the first set: 0.5 against (0.8 + 0.7 + 0.6) / 3 = 0.7, 29 % less; gaps 0.1 and 0.4.
    # Against the others' total, 0.5 against 0.75: 33 % less.
    answer = replicates(both())
    assert "changes the calibration gap by -75 [-75, -75] % tuned" in answer.sentence
    assert "and n-AuReC by -33 [-33, -33] % tuned" in answer.sentence
    assert "(log loss, 6 families)" in answer.sentence
    assert "regret) by -75 [-75, -75] % (tuned, 6 families)." in answer.line
    assert "against epistemic | tuned | -28.5 [-28.5, -28.4] %" in answer.body


def test_proxies_agree_or_not():
    answer = proxies(both(), [])
    assert "by AuAC and by AuReC is +1.00 [+1.00, +1.00] tuned" in answer.sentence
    assert "by n-AuReC +1.00 and +1.00 (log loss)" in answer.sentence
    assert "is +1.00 [+1.00, +1.00] (tuned, 6 families), clear in both regimes; " in answer.line
    assert "; active learning (0 families) cannot be tested" in answer.sentence  # nobody has it
    assert "| near-OOD | tuned | AuReC | -1.00 [-1.00, -1.00] | 6 families |" in answer.body
    assert "| AuAC | tuned | n-AuReC | +1.00 [+1.00, +1.00] | 6 families |" in answer.body
    assert "| 6 of 6 |" in answer.body
    assert "far-OOD" not in answer.body  # no data set has it
    few = [row for row in rows() if row["dataset"] < "d4"]
    near = [row | ({} if row in few else {"near_ood": None}) for row in rows()]
    answer = proxies({"tuned": near, "paper": near}, [])
    assert "; OOD detection (4 families) and active learning (0 families) can" in answer.sentence


def test_active_learning_is_compared_with_the_regime_it_trains_in():
    learnt = [
        {key: row[key] for key in ("dataset", "method", "seed")}
        | {"nauc_epistemic": 1 - row["n_aurec"], "nauc_total": row["n_aurec"]}
        for row in rows()
    ]
    reverse = [row | {"n_aurec": -row["n_aurec"]} for row in rows()]
    answer = proxies({"tuned": reverse, "paper": rows()}, learnt)
    assert "| active learning, asking by epistemic | paper | n-AuReC | +1.00 [" in answer.body
    assert "cannot be tested" not in answer.sentence
    answer = proxies({"tuned": rows(), "paper": reverse}, learnt)
    assert "| active learning, asking by epistemic | paper | n-AuReC | -1.00 [" in answer.body
    assert "| active learning, asking by total | paper | n-AuReC | +1.00 [" in answer.body
    assert "| ensemble | 0.200 | 0.800 |" in answer.body


def test_what_moves_a_ranking():
    answer = what_moves_ranks(both())
    assert "+1.00 [+1.00, +1.00] with the order of the paper's settings" in answer.sentence
    assert answer.line.endswith(" and with the paper's is +1.00 [+1.00, +1.00] (6 families).")
    assert "| published convention instead of Definition 1 | log | -1.00 [" in answer.body
    assert "overlap for 0 of 36 pairs" in answer.body  # six pairs on each of six data sets
    without = what_moves_ranks({"tuned": rows(), "paper": []})
    assert "paper's settings" not in without.sentence


def test_what_two_components_gain():
    answer = two_components(both())
    assert "accepts +3.00 [+3.00, +3.00] tuned and +3.00" in answer.sentence
    assert "+3.00 [+3.00, +3.00] percentage points (tuned, 6 families), clear in" in answer.line
    assert "| epistemic | tuned | +2.0 [+2.0, +2.0] | 0.031 | +4.0 [+4.0, +4.0] |" in answer.body
    scores = [row | {"predicted_regret": None} for row in rows() if row["method"] == "pairs"]
    assert "accepts - tuned" in two_components({"tuned": scores, "paper": scores}).sentence


def baseline(dataset, method, loss="log", **numbers):
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
    corrected = baseline("a", "m", n_aurec=0.5, n_aurec_corrected=0.25)
    assert fair("")(corrected) == 0.25
    assert fair("")({**corrected, "annotators_min": None}) == 0.5
    assert fair("_total")(corrected) is None
    assert fair("")(baseline("a", "m", "brier", n_aurec_corrected=0.1, r_aurec=0.75)) == 0.75
    # p* is known: AuReC over that of a random ranking, half of the mean regret.
    assert fair("")(baseline("a", "m", "brier", annotators_min=None, aurec=0.05)) == pytest.approx(
        0.25
    )


def baselines():
    made = []
    for i, data in enumerate(["sentiment-movies", "sentiment-nyt", "b", "c", "d", "e", "f"]):
        base = 0.5 + i / 100
        made.append(baseline(data, "single", n_aurec_total_corrected=base))
        for method, epistemic, total in (
            ("ensemble", 0.1, -0.1),
            ("dropout", 0.1, 0.0),
            ("evidential", 0.0, 0.0),
            ("knn", 0.2, 0.0),
            ("ensemble of twenty", 0.0, -0.2),
            ("dirichlet_multinomial", 0.0, 0.0),
        ):
            made.append(
                baseline(
                    *(data, method),
                    n_aurec_corrected=base + epistemic,
                    n_aurec_total_corrected=base + total,
                    pair_log_loss=1
                    - (method == "dirichlet_multinomial") / 2
                    + (method == "knn") / 4,
                )
            )
    return made


@pytest.fixture
def plain():
    return {"tuned": baselines(), "paper": baselines()}


def test_rankings_against_one_network(plain):
    gaps = differences(plain["tuned"], "log", "ensemble", "_total")
    assert gaps == pytest.approx(dict.fromkeys(gaps, -0.1))
    assert len(gaps) == 7
    # The gaps of ensemble, dropout and evidential are 0.2, 0.1 and 0.
    gap = epistemic_against_total(plain["tuned"], "log")
    assert (gap.mean, gap.n_families) == (pytest.approx(0.1), 6)
    answer = one_network(plain, both(), dict.fromkeys(plain, ()))
    assert answer.sentence.startswith(
        "Clearly better: ensemble (by total alone) and ensemble of twenty (by total alone) (tuned)"
    )
    assert "is +0.100 [+0.100, +0.100] tuned and +0.100 [+0.100, +0.100] paper" in answer.sentence
    assert answer.line.startswith("Some method clearly is in both regimes; ")
    assert answer.line.endswith(" is +0.100 [+0.100, +0.100] (tuned, 6 families).")
    assert "| log | paper | knn | epistemic | +0.200 [+0.200, +0.200] | 6 families |" in answer.body
    worse = [row for row in baselines() if row["method"] in ("single", "ensemble", "dropout")]
    worse += [row | {"method": "ensemble of twenty"} for row in worse if row["method"] == "dropout"]
    worse = [row | {"n_aurec_total_corrected": 0.9} for row in worse if row["method"] != "single"]
    worse += [row for row in baselines() if row["method"] == "single"]
    answer = one_network(dict.fromkeys(plain, worse), both(), dict.fromkeys(plain, ()))
    assert answer.sentence.startswith("Clearly better: nothing (tuned) and nothing (paper).")


def test_the_score_of_two_answers_orders_the_methods(plain):
    answer = who_knows(plain, both())
    assert "annotators: dirichlet_multinomial, 1.0 [1.0, 1.0] tuned and 1.0" in answer.sentence
    assert "(of 7 methods)" in answer.sentence
    assert "loss: dirichlet_multinomial, 1.0 [1.0, 1.0] of 7 methods (tuned, 6" in answer.line
    assert "as the ensemble predicts it, is off by 0.250 [0.250, 0.250] tuned" in answer.sentence
    fewer = [row for row in plain["paper"] if row["method"] != "dirichlet_multinomial"]
    assert "(of 6 methods)" in who_knows({**plain, "paper": fewer}, both()).sentence
    assert "| paper | 7 | 6 families | dirichlet_multinomial | 1.0 |" in answer.body
    assert "| b | tuned | dirichlet_multinomial | 0.500 | +0.000 | 0.250 | 0.500 |" in answer.body


def test_noise_is_what_the_unbiased_regret_leaves():
    single = {"aurec_low": 0.15, "aurec": 0.2, "annotators_mean": 9.0, "n_aurec_floor": 0.1}
    made = [
        baseline("a", "single", regret_unbiased=None, n_aurec_total=0.6, **single),
        baseline("a", "single", "brier", regret_unbiased=0.3, **single),
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


def test_a_method_is_compared_with_the_total_of_one_network(plain):
    # One network has 0.6 by total; n-AuReC by epistemic is 0.8, 0.7, 0.6 and 0.5.
    group = [row | {"loss": loss} for row in rows() for loss in ("log", "zero_one")]
    single = [
        row | {"method": "single", "n_aurec_total": 0.6, "aurec_total": 0.3}
        for row in group
        if row["method"] == "pairs"
    ]
    answer = one_network(plain, {"tuned": group, "paper": group}, dict.fromkeys(plain, single))
    assert "| log | tuned | ensemble | +34 [+34, +34] |" in answer.body
    assert "| log | tuned | pairs | -16 [-16, -16] |" in answer.body
    assert "in the tuned regime pairs (log loss, by n-AuReC)" in answer.body


def test_who_knows_its_regret_worked_by_hand(plain):
    # The bracket is 0.2 to 0.4: pairs predict 0.3, the others 0.1.
    answer = who_knows(plain, both())
    assert "for pairs (tuned) and pairs (paper)" in answer.body
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
    names = [f"d{i}" for i in range(n_sets)]
    few = [row for row in rows() if row["dataset"] in names]
    group = {"tuned": few, "paper": few}
    plain = [row for row in without_noise() if row["dataset"] in names]
    answers = [
        *(ask(group) for ask in (which_method, replicates, what_moves_ranks, two_components)),
        better_than_total(group, {"tuned": plain, "paper": plain}),
        proxies(group, []),
    ]
    for answer in answers:
        assert "nan" not in answer.sentence + answer.body
        assert not np.any([mark in answer.sentence for mark in "[]"])

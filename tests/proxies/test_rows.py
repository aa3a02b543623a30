"""A row of table 4, against a naive twin and values worked by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_proxies
import rue
from rue.errors import InputError, ShapeError
from rue.proxies import evaluate_proxies

GROUPS = {"near": ["a", "b"], "far": ["c"]}


def draws(n, seed):
    return rue.Draws(np.random.default_rng(seed).dirichlet(np.ones(3), (n, 4)))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 9))
def test_a_row_equals_its_naive_twin(seed, n):
    rng = np.random.default_rng(seed)
    belief = draws(n, seed)
    outside = {name: draws(1 + i, seed + 1 + i) for i, name in enumerate("abc")}
    counts, labels = rng.integers(1, 5, (n, 3)), rng.integers(0, 3, n)
    row = evaluate_proxies(
        belief,
        outside=outside,
        groups=GROUPS,
        answers=rue.Annotations(counts),
        labels=labels,
    )
    hat = rue.decompose(belief, "log")
    found = {
        name: naive_proxies.auroc(hat.epistemic, rue.decompose(each, "log").epistemic)
        for name, each in outside.items()
    }
    predicted = belief.probs.mean(axis=1).argmax(axis=1)
    share = counts[np.arange(n), predicted] / counts.sum(axis=1)
    assert row.near_ood == pytest.approx((found["a"] + found["b"]) / 2)
    assert row.far_ood == pytest.approx(found["c"])
    assert row.auac == pytest.approx(naive_proxies.auac(share, hat.total))
    assert row.auac_labels == pytest.approx(naive_proxies.auac(predicted == labels, hat.total))


def test_the_two_accuracies_by_hand():
    """Totals rise from point to point; argmax is 0, 0, 1.

    Answers: right with 9/10, 4/10, 1, so AuAC = (0.9 + (1.3)/2 + (2.3)/3) / 3.
    Labels 0, 1, 1: right, wrong, right, so AuAC = (1 + 1/2 + 2/3) / 3.
    """
    belief = rue.Dirichlet([[90, 1], [7, 3], [2, 3]])
    answers = rue.Annotations([[9, 1], [4, 6], [0, 10]])
    row = evaluate_proxies(belief, answers=answers, labels=[0, 1, 1])
    assert np.diff(rue.decompose(belief, "log").total).min() > 0
    assert row.auac == pytest.approx((0.9 + 1.3 / 2 + 2.3 / 3) / 3)
    assert row.auac_labels == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    assert row.near_ood is None
    assert row.far_ood is None
    assert row.ood is None
    assert row.to_dict()["selective"]["labels"][0]["accuracy"] == pytest.approx(2 / 3)


def test_the_published_convention_detects_by_vacuity():
    """Definition 1 ranks Dirichlet(1, 1) above (9, 1) by 0/1-free log loss; vacuity is 2 / a0.

    Inside a0 = 10 and 4, outside a0 = 5: vacuity 0.2 and 0.5 against 0.4, AUROC 1/2.
    """
    belief = rue.Dirichlet([[9, 1], [2, 2]])
    outside = {"a": rue.Dirichlet([[4, 1]])}
    row = evaluate_proxies(belief, outside=outside, groups=GROUPS, convention="published")
    assert row.near_ood == 0.5


def test_what_cannot_be_evaluated_raises():
    belief = draws(2, 0)
    with pytest.raises(InputError, match="nothing to evaluate against"):
        evaluate_proxies(belief)
    with pytest.raises(InputError, match="labels must be from 0 to 2, got 3 at row 1"):
        evaluate_proxies(belief, labels=[0, 3])
    with pytest.raises(InputError, match="labels must be whole numbers, got float64"):
        evaluate_proxies(belief, labels=[0.0, 1.0])
    with pytest.raises(ShapeError, match=r"labels must have shape \(2,\), got \(1,\)"):
        evaluate_proxies(belief, labels=[0])

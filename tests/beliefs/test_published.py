"""The published convention of the components, against slow twins and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_published as naive
from rue import CostMatrix, Dirichlet, Draws, Scored, decompose
from rue.errors import InputError

LOSSES = ("log", "zero_one", "squared", "absolute")


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6))
def test_dirichlet_is_that_of_the_twin(loss, seed, k):
    rng = np.random.default_rng(seed)
    alpha = 1 + rng.gamma(1.0, 3.0, (7, k))
    values = np.cumsum(rng.integers(1, 4, k)).astype(float)
    found = decompose(Dirichlet(alpha), loss, values=values, convention="published")
    for got, want in zip(
        (found.total, found.aleatoric, found.epistemic),
        naive.dirichlet(alpha, loss, values),
        strict=True,
    ):
        assert got == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6), n_draws=st.integers(1, 6))
def test_draws_are_those_of_the_twin(loss, seed, k, n_draws):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.ones(k), (5, n_draws))
    values = np.cumsum(rng.integers(1, 4, k)).astype(float)
    found = decompose(Draws(probs), loss, values=values, convention="published")
    total, aleatoric, epistemic = naive.draws(probs, loss, values)
    assert found.total == pytest.approx(total, abs=1e-9)
    assert found.aleatoric == pytest.approx(aleatoric, abs=1e-9)
    if loss == "zero_one":  # E[max p] - max E[p]
        assert found.epistemic == pytest.approx(np.maximum(epistemic, 0), abs=1e-9)
    else:
        assert found.epistemic == pytest.approx(epistemic, abs=1e-9)


def test_by_hand():
    # alpha = (6, 2): mean (3/4, 1/4), alpha_0 = 8, vacuity 2/8.
    for loss, risk in (("zero_one", 0.25), ("log", -0.75 * np.log(0.75) - 0.25 * np.log(0.25))):
        found = decompose(Dirichlet([[6, 2]]), loss, convention="published")
        assert found.total == pytest.approx([risk])
        assert found.aleatoric == pytest.approx([risk])
        assert found.epistemic.tolist() == [0.25]
    # Medians 0, 2, 2, 0: their lower median is 0, the mean distance 1. Each draw is certain.
    sure = np.eye(3)[[0, 2, 2, 0]]
    found = decompose(Draws(sure[None]), "absolute", convention="published")
    assert (found.aleatoric[0], found.epistemic[0]) == (0, 1)
    assert found.total == pytest.approx([1.0])  # mean (1/2, 0, 1/2), median 0


def test_a_score_stays_as_given_and_the_total_is_the_bayes_risk():
    found = decompose(Scored([[0.75, 0.25]], [-30.0]), "zero_one", convention="published")
    assert (found.total[0], found.aleatoric[0], found.epistemic[0]) == (0.25, 0.25, -30)


@pytest.mark.parametrize("loss", ["log", "zero_one", "squared"])
def test_draws_are_the_same_but_under_absolute_loss(rng, loss):
    belief = Draws(rng.dirichlet(np.ones(4), (30, 5)))
    a, b = decompose(belief, loss), decompose(belief, loss, convention="published")
    assert a.epistemic.tolist() == b.epistemic.tolist()
    assert a.aleatoric.tolist() == b.aleatoric.tolist()


def test_vacuity_ignores_the_loss_where_there_are_two_classes(rng):
    # Table 10 of the paper shows the same r_s hat under both losses, which only this can give.
    belief = Dirichlet(1 + rng.gamma(1, 2, (50, 2)))
    log, zero_one = (decompose(belief, loss, convention="published") for loss in LOSSES[:2])
    assert log.epistemic.tolist() == zero_one.epistemic.tolist()
    assert np.argsort(log.aleatoric).tolist() == np.argsort(zero_one.aleatoric).tolist()


@pytest.mark.parametrize("loss", ["brier", CostMatrix([[0, 1], [2, 0]])])
def test_other_losses_are_refused(loss):
    with pytest.raises(InputError, match=r"defined for log, zero_one, squared and absolute"):
        decompose(Dirichlet([[1.0, 2.0]]), loss, convention="published")


def test_an_unknown_convention_is_refused():
    with pytest.raises(InputError, match="convention must be one of definition, published"):
        decompose(Dirichlet([[1.0, 2.0]]), convention="paper")

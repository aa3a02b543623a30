"""Exact Dirichlet expectations against numerical integration and closed forms."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.special import betainc, gammainc, gammaincc, gammaln

import naive
from rue import CostMatrix, Dirichlet, decompose
from rue.losses import LOSSES, _expected_lead, get_loss
from rue.losses._expected_lead import expected_lead

VALUES = {name: [-1.0, 0.5, 4.0] for name in ("squared", "absolute", "rps", "pinball:0.8")}


def expected_max(alpha):
    return alpha.max(axis=1) / alpha.sum(axis=1) + expected_lead(alpha)


def integrate(function, alpha):
    """Integral of function(p) over the Dirichlet density on the 3-simplex."""
    norm = gammaln(sum(alpha)) - sum(gammaln(a) for a in alpha)

    def integrand(y, x):
        # x = p_0, y = share of p_1 in the rest: a smooth square instead of a triangle
        p = (x, (1 - x) * y, (1 - x) * (1 - y))
        logs = [(a - 1) * np.log(max(q, 1e-300)) for a, q in zip(alpha, p, strict=True)]
        return function(p) * np.exp(norm + sum(logs)) * (1 - x)

    return dblquad(integrand, 0, 1, 0, 1, epsabs=1e-11, epsrel=1e-11)[0]


@pytest.mark.parametrize("name", ["log", "brier", "squared", "rps"])
@pytest.mark.parametrize("alpha", [(1.0, 1.0, 1.0), (2.0, 3.5, 1.5), (7.0, 2.0, 2.0)])
def test_smooth_losses_equal_numerical_integration(name, alpha):
    more = {"values": VALUES[name]} if name in VALUES else {}
    m = [a / sum(alpha) for a in alpha]
    action = naive.action(name, m, **more)
    bayes = integrate(lambda p: naive.bayes_risk(name, p, **more), alpha)
    risk = naive.risk(name, m, action, **more)  # risk is linear in p
    hat = decompose(Dirichlet([alpha]), name, **more)
    assert hat.aleatoric[0] == pytest.approx(bayes, abs=1e-9)
    assert hat.epistemic[0] == pytest.approx(risk - bayes, abs=1e-9)
    assert hat.total[0] == pytest.approx(risk, abs=1e-9)


@pytest.mark.parametrize("alpha", [(1.0, 1.0, 1.0), (2.0, 3.5, 1.5), (0.5, 0.2, 3.0), (40, 30, 2)])
@pytest.mark.parametrize(("name", "q", "weight"), [("absolute", 0.5, 2), ("pinball:0.8", 0.8, 1)])
def test_quantile_losses_equal_one_dimensional_integrals(alpha, name, q, weight):
    # E min((1-q) F_j, q (1-F_j)) for F_1 ~ Beta(a_0, a_1 + a_2), F_2 ~ Beta(a_0 + a_1, a_2)
    v = VALUES[name]
    bayes = 0
    for j in (0, 1):
        a, b = mpmath.mpf(sum(alpha[: j + 1])), mpmath.mpf(sum(alpha[j + 1 :]))

        def density(x, a=a, b=b):
            least = weight * min((1 - q) * x, q * (1 - x))
            return least * x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)

        bayes += (v[j + 1] - v[j]) * mpmath.quad(density, [0, 0.25, 0.5, 0.8, 1])
    m = [a / sum(alpha) for a in alpha]
    total = naive.bayes_risk(name, m, values=v)
    hat = decompose(Dirichlet([alpha]), name, values=v)
    assert hat.aleatoric[0] == pytest.approx(float(bayes), abs=1e-9)
    assert hat.epistemic[0] == pytest.approx(total - float(bayes), abs=1e-9)


def two_class_max(a, b):
    """E max(p, 1 - p) for p ~ Beta(a, b), by the incomplete beta function."""
    m = a / (a + b)
    return 1 - m * betainc(a + 1, b, 0.5) - (1 - m) * betainc(b + 1, a, 0.5)


@given(st.floats(-3, 6), st.floats(-3, 6))
def test_expected_max_of_two_classes_has_a_closed_form(log_a, log_b):
    a, b = 10**log_a, 10**log_b
    assert expected_max(np.array([[a, b]]))[0] == pytest.approx(two_class_max(a, b), abs=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100, 1000])
def test_expected_max_of_the_flat_dirichlet_is_a_harmonic_number(n_classes):
    # The largest of K spacings of the unit interval: (1 + 1/2 + ... + 1/K) / K.
    harmonic = sum(1 / k for k in range(1, n_classes + 1)) / n_classes
    assert expected_max(np.ones((1, n_classes)))[0] == pytest.approx(harmonic, abs=1e-12)


@pytest.mark.parametrize(
    "alpha",
    [
        [1e-3] * 5,
        [1e-3, 1e6, 1.0],
        [0.5, 0.5, 3.0, 10.0],
        [1e6, 1e6 + 500, 1e6 - 500],
        [1e-3] * 1000,
        [*np.repeat(np.linspace(1, 3, 37), 27), 50.0],
    ],
)
def test_expected_max_equals_a_fine_quadrature(alpha):
    # E max G = integral of 1 - prod P(a_k, x), in log x by 40,000 trapezoids: the integrand
    # vanishes at both ends once the part where it is e^t is subtracted by parts.
    a = np.array(alpha)
    t = np.linspace(-60, np.log(a.max() + 60 * np.sqrt(a.max()) + 60), 400_001)
    below = np.ones_like(t)
    for value, count in zip(*np.unique(a, return_counts=True), strict=True):
        below *= gammainc(value, np.exp(t)) ** count
    x = np.exp(t)
    # integral of (1 - below) dx = sum over cells, Simpson
    f = (1 - below) * x
    h = t[1] - t[0]
    simpson = h / 3 * (f[0] + f[-1] + 4 * f[1:-1:2].sum() + 2 * f[2:-1:2].sum())
    expected = (simpson + np.exp(-60)) / a.sum()
    assert expected_max(a[None])[0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("largest", [-1, 0, 1, 2, 4])
def test_running_integrals_equal_the_special_functions(monkeypatch, rng, largest):
    alpha = 10 ** rng.uniform(-3, largest, (200, 6))
    fast = expected_lead(alpha)
    monkeypatch.setattr(_expected_lead, "PRECISION", -1.0)  # every point by the functions
    assert np.abs(fast - expected_lead(alpha)).max() < 1e-12


@pytest.mark.parametrize(("least", "largest"), [(-11, -3), (-3, 0), (-1, 2), (0, 1), (2, 6)])
def test_the_range_omits_no_more_than_the_cut(rng, least, largest):
    alpha = np.sort(10 ** rng.uniform(least, largest, (100, 6)), axis=1)
    alpha_0 = alpha.sum(axis=1)
    low, high = _expected_lead._range(alpha, alpha_0)
    x = np.exp(np.linspace(low, high, 1_001))
    share = x * np.prod(gammainc(alpha, x[..., None]), axis=-1) / alpha_0
    assert (share[0] <= _expected_lead.CUT * (1 + 1e-6)).all()
    assert (gammaincc(alpha[:, -1] + 1, x[-1]) <= _expected_lead.CUT * (1 + 1e-6)).all()
    wide = (share > _expected_lead.CUT).mean(axis=0)  # of the range, what is needed
    assert wide.min() > 0.85


def test_expected_max_does_not_know_the_order_of_classes(rng):
    alpha = 10 ** rng.uniform(-2, 3, (50, 7))
    assert (expected_lead(alpha) == expected_lead(alpha[:, rng.permutation(7)])).all()


@pytest.mark.parametrize("tiny", [1e-6, 1e-12, 1e-100, 1e-280])
def test_beyond_the_promised_range_nothing_breaks(tiny):
    for name in (*LOSSES, "pinball:0.8"):
        hat = decompose(Dirichlet([[tiny, tiny, 2 * tiny]]), name)
        assert np.isfinite(hat.total).all()
        assert hat.aleatoric[0] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("name", [*LOSSES, "pinball:0.8"])
def test_total_is_the_bayes_risk_of_the_mean(name, rng):
    alpha = 10 ** rng.uniform(-2, 4, (200, 6))
    hat = decompose(Dirichlet(alpha), name)
    loss = get_loss(name)
    m = alpha / alpha.sum(axis=1, keepdims=True)
    assert np.abs(hat.total - loss.bayes_risk(m)).max() <= 2e-10 * loss.scale(6)
    assert np.abs(hat.total - hat.aleatoric - hat.epistemic).max() <= 3e-12 * loss.scale(6)
    assert (hat.epistemic >= 0).all()
    assert hat.standard_error is None


def test_zero_one_as_a_cost_matrix_within_its_error(rng):
    alpha = 10 ** rng.uniform(-1, 1.5, (40, 4))
    sampled = decompose(Dirichlet(alpha), CostMatrix(1 - np.eye(4)), seed=3)
    exact = decompose(Dirichlet(alpha), "zero_one")
    error = sampled.standard_error
    assert (error < 2e-3).all()
    # 4,096 points may miss what happens once in ten thousand, and then see no error either.
    assert (np.abs(sampled.aleatoric - exact.aleatoric) <= 5 * error + 1e-4).all()
    assert (np.abs(sampled.epistemic - exact.epistemic) <= 5 * error + 1e-4).all()
    assert sampled.total == pytest.approx(exact.total, abs=1e-11)
    again = decompose(Dirichlet(alpha), CostMatrix(1 - np.eye(4)), seed=3)
    assert (again.aleatoric == sampled.aleatoric).all()


def test_cost_matrix_survives_tiny_concentrations():
    sampled = decompose(Dirichlet([[1e-3, 1e-3, 1e-3]]), CostMatrix(1 - np.eye(3)))
    exact = decompose(Dirichlet([[1e-3, 1e-3, 1e-3]]), "zero_one")
    assert sampled.aleatoric[0] == pytest.approx(exact.aleatoric[0], abs=2e-3)


@pytest.mark.parametrize("alpha", [[1e6, 1e8], [5e6, *[1.0] * 9], [1e8, 3e6, 2.0], [1e12, 1.0]])
def test_no_competitor_means_exactly_no_regret(alpha):
    assert decompose(Dirichlet([alpha]), "zero_one").epistemic[0] == 0

"""Beliefs about real numbers: what they take, and what their mixtures are."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue import Gaussians, NormalInverseGamma, Samples, decompose
from rue.errors import InputError, ShapeError
from rue.losses._student import gamma_ratio
from rue.losses.real import Ragged

LEVELS = [0.5, 0.8, 0.1, 1e-6, 0.999]


def exact_quantile(mean, sd, q, guess):
    """The mixture's quantile with so many digits that a gap between draws is not flat."""
    with mpmath.workdps(130):
        pairs = list(zip(mean, sd, strict=True))

        def excess(a):
            tails = [mpmath.erfc((m - a) / (s * mpmath.sqrt(2))) / 2 for m, s in pairs]
            return sum(tails) / len(tails) - mpmath.mpf(q)

        return mpmath.findroot(excess, (guess - 1e-8, guess + 1e-8), solver="secant", tol=1e-110)


@pytest.mark.parametrize("q", LEVELS)
def test_quantiles_of_mixtures_are_right_to_1e_10(q, rng):
    mean, sd = rng.normal(0, 3, (25, 4)), 10 ** rng.uniform(-0.5, 1, (25, 4))
    found = Gaussians(mean, sd).mixture_quantile(q)
    for i in range(25):
        exact = float(exact_quantile(mean[i].tolist(), sd[i].tolist(), q, found[i]))
        assert found[i] == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("gap", [5.0, 20.0, 70.0, 1000.0, 1e6, 1e12])
@pytest.mark.parametrize("origin", [0.0, 1e7])
def test_the_median_of_two_far_apart_is_in_their_middle(gap, origin):
    # Between them the density underflows; the median is the middle all the same, by symmetry.
    belief = Gaussians([[origin, origin + gap]], [[1.0, 1.0]])
    middle = origin + gap / 2
    assert belief.mixture_quantile(0.5)[0] == pytest.approx(middle, abs=1e-10 * max(1, middle))


def test_a_gap_is_shared_by_the_spreads():
    # Tails of N(0, 1) above and N(1000, 3) below are equal where x = (1000 - x)/3, about, up to
    # the factor 3 of the spreads: x^2/2 + log(x) = z^2/2 + log(z), z = (1000 - x)/3: x = z.
    belief = Gaussians([[0.0, 1000.0]], [[1.0, 3.0]])
    assert belief.mixture_quantile(0.5)[0] == pytest.approx(250.0, rel=1e-12)
    # Four of five are below: the level 0.8 is in the gap as well.
    belief = Gaussians([[0.0, 0.0, 0.0, 0.0, 1000.0]], [[1.0] * 5])
    assert 499 < belief.mixture_quantile(0.8)[0] < 501


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(0.01, 20)), min_size=1, max_size=6),
    st.floats(0.001, 0.999),
)
def test_the_quantile_is_that_of_the_mixture(draws, q):
    mean, sd = np.array([draws]).transpose(2, 0, 1)
    (a,) = Gaussians(mean, sd).mixture_quantile(q)
    below = np.mean([mpmath.ncdf((a - m) / s) for m, s in draws])
    assert float(below) == pytest.approx(q, abs=1e-12)


def test_the_quantile_of_samples_is_the_smallest_that_reaches_it():
    belief = Samples([[[3.0, 1.0], [2.0, 4.0], [2.0, 9.0]]])
    for q, value in ((0.5, 2.0), (1 / 6, 1.0), (0.17, 2.0), (2 / 3, 3.0), (0.99, 9.0), (1e-9, 1.0)):
        assert belief.mixture_quantile(q)[0] == value


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_samples_are_streamed_and_of_any_precision(dtype, rng, monkeypatch):
    import rue.beliefs.samples as module
    from rue._arrays import chunked

    values = rng.normal(0, 1, (300, 3, 5)).astype(dtype)
    answers = Ragged(np.sort(rng.normal(0, 1, (300, 4)), axis=1).ravel(), np.arange(0, 1201, 4))
    of = (
        lambda belief: decompose(belief, "crps").epistemic,
        lambda belief: decompose(belief, "absolute").total,
        lambda belief: belief.mixture_mean(),
        lambda belief: belief.mixture_quantile(0.3),
        lambda belief: belief.mixture_spread(),
        lambda belief: belief.mixture_distances(answers),
    )
    whole = [f(Samples(values)) for f in of]
    double = [f(Samples(values.astype(float))) for f in of]
    monkeypatch.setattr(module, "chunked", lambda array: chunked(array, n_bytes=999))
    for f, once, wide in zip(of, whole, double, strict=True):
        assert (f(Samples(values)) == once).all()
        assert once == pytest.approx(wide, rel=1e-12, abs=1e-13)


def test_a_memory_map_stays_one(tmp_path):
    np.save(tmp_path / "values.npy", np.arange(24.0).reshape(2, 3, 4))
    belief = Samples(np.load(tmp_path / "values.npy", mmap_mode="r"))
    assert isinstance(belief.values, np.memmap)
    assert decompose(belief, "squared").epistemic == pytest.approx([32 / 3, 32 / 3])


@pytest.mark.parametrize("alpha", [0.51, 0.9, 3.0, 19.99, 20.0, 20.01, 300.0, 1e6, 1e12])
def test_the_ratio_of_gamma_functions_is_right_to_rounding(alpha):
    with mpmath.workdps(40):
        exact = float(mpmath.gammaprod([mpmath.mpf(alpha) + 0.5], [alpha]))
    assert gamma_ratio(np.array([alpha]))[0] == pytest.approx(exact, rel=1e-15)


@pytest.mark.parametrize("loss", ["squared", "absolute", "pinball:0.9", "crps"])
def test_a_known_variance_is_the_limit_of_the_normal_inverse_gamma(loss):
    # sigma = 2, and a mean of N(1, 0.75 sigma^2): the mixture is N(1, 7), in closed form.
    large = 1e13
    hat = decompose(NormalInverseGamma([1.0], [4 / 3], [large], [4 * large]), loss)
    unit = decompose(Gaussians([[0.0]], [[1.0]]), loss).total[0]
    power = 2 if loss == "squared" else 1
    assert hat.aleatoric[0] == pytest.approx(unit * 2**power, rel=1e-11)
    assert hat.total[0] == pytest.approx(unit * 7 ** (power / 2), rel=1e-11)


def test_they_are_indexed_and_printed_as_others_are(rng):
    mean, sd = rng.normal(0, 1, (5, 2)), np.ones((5, 2))
    assert repr(Gaussians(mean, sd)) == "Gaussians(5 points x 2 draws)"
    assert repr(Samples(mean[..., None])) == "Samples(5 points x 2 draws)"
    belief = NormalInverseGamma(*np.full((4, 1000), 2.0))
    assert repr(belief) == "NormalInverseGamma(1,000 points)"
    assert len(belief[3]) == 1
    assert (Gaussians(mean, sd)[np.array([4, 0])].mean == mean[[4, 0]]).all()
    assert len(Samples(mean[..., None])[mean[:, 0] > 0]) == (mean[:, 0] > 0).sum()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussians([[1.0]], [[0.0]]), r"sd must be above 0, got 0 at row 0"),
        (lambda: Gaussians([[1.0]] * 3, [[1.0], [1.0], [-2.0]]), r"got -2 at row 2"),
        (lambda: Gaussians([[np.nan]], [[1.0]]), "mean must be finite, got nan at row 0"),
        (lambda: Gaussians([[1.0]], [[np.inf]]), "sd must be finite"),
        (lambda: Gaussians([1.0], [1.0]), r"\(n_points, n_draws\), got \(1,\)"),
        (lambda: Gaussians([[1.0, 2.0]], [[1.0]]), "same shape"),
        (lambda: Gaussians([[1e200]], [[1.0]]), "mean must be between -1e.50 and 1e.50"),
        (lambda: Gaussians([[1.0]], [[1e-200]]), "sd must be between 1e-50 and"),
        (lambda: Gaussians(np.empty((0, 1)), np.empty((0, 1))), "at least one of n_points"),
        (lambda: Samples([[1.0, 2.0]]), r"\(n_points, n_draws, n_values\)"),
        (lambda: Samples([[[1.0, np.nan]]]), "values must be finite"),
        (lambda: NormalInverseGamma([0], [0], [2], [1]), "nu must be above 0, got 0 at row 0"),
        (lambda: NormalInverseGamma([0], [1], [0.5], [1]), "alpha must be above 0.5, got 0.5"),
        (lambda: NormalInverseGamma([0], [1], [2], [-1]), "beta must be above 0, got -1"),
        (lambda: NormalInverseGamma([0, 1], [1], [2], [1]), "nu must have 2 points, got 1"),
    ],
)
def test_broken_input_is_refused(make, words):
    with pytest.raises((InputError, ShapeError), match=words):
        make()

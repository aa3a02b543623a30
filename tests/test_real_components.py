"""Definition 1 for real-valued outcomes: integration twins, values by hand, laws, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from scipy.special import stdtr

import naive_real as naive
from rue import (
    CRPS,
    RPS,
    Annotations,
    Dirichlet,
    Draws,
    Gaussians,
    NormalInverseGamma,
    Pinball,
    Ratings,
    Samples,
    Squared,
    decompose,
    evaluate,
    realize,
)
from rue.errors import InputError, ShapeError
from rue.losses import REAL_LOSSES, get_loss

NAMES = [*REAL_LOSSES, "pinball:0.8", "pinball:0.1"]
PARTS = ("total", "aleatoric", "epistemic")


def parts(components):
    return np.array([getattr(components, part) for part in PARTS])


def world(rng, n=12, n_draws=3):
    """Beliefs of every kind, and ragged answers with ties."""
    mean, sd = rng.normal(0, 2, (n, n_draws)), rng.gamma(2, 0.7, (n, n_draws))
    beliefs = {
        "gaussians": Gaussians(mean, sd),
        "samples": Samples(np.round(rng.normal(mean[:, :, None], 1, (n, n_draws, 4)), 1)),
        "evidential": NormalInverseGamma(
            mean[:, 0], rng.gamma(2, 1, n), 2.5 + rng.gamma(2, 1, n), rng.gamma(2, 1, n)
        ),
    }
    answers = [np.round(rng.normal(0, 2, m), 1).tolist() for m in rng.integers(2, 7, n)]
    return beliefs, answers


def draws_of(belief, i):
    if isinstance(belief, Gaussians):
        return [naive.normal(m, s) for m, s in zip(belief.mean[i], belief.sd[i], strict=True)]
    if isinstance(belief, Samples):
        return [naive.empirical(v) for v in belief.values[i].tolist()]
    scale = math.sqrt(belief.beta[i] / belief.alpha[i] * (1 + 1 / belief.nu[i]))
    n, mu = 2 * belief.alpha[i], belief.mu[i]
    t, tails = stats.t(n, mu, scale), 10.0 ** np.arange(-16, 0)
    below = lambda x: stdtr(n, (x - mu) / scale)  # noqa: E731
    return [(below, [*t.ppf(tails), *t.ppf([0.25, 0.5, 0.75]), *t.isf(tails[::-1])])]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["gaussians", "samples"])
def test_estimated_components_equal_numerical_integration(name, kind, rng):
    belief = world(rng)[0][kind]
    hat = parts(decompose(belief, name))
    for i in range(len(belief)):
        twin = naive.decompose(name, draws_of(belief, i))
        assert hat[:, i] == pytest.approx(twin, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["gaussians", "samples"])
def test_realised_components_equal_numerical_integration(name, kind, rng):
    beliefs, answers = world(rng, n=8)
    star = parts(realize(Ratings(answers), beliefs[kind], name))
    for i, own in enumerate(answers):
        twin = naive.realize(name, draws_of(beliefs[kind], i), own)
        assert star[:, i] == pytest.approx(twin, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_normal_inverse_gamma_equals_numerical_integration(name, rng):
    # The mixture is a t distribution; over the draws only sigma matters to the Bayes risk.
    beliefs, answers = world(rng, n=3)
    belief = beliefs["evidential"]
    hat = parts(decompose(belief, name))
    star = parts(realize(Ratings(answers), belief, name))
    unit = naive.normal(0.0, 1.0)
    least = naive.risk(name, unit, naive.action(name, unit))
    power = 2 if name == "squared" else 1
    for i, own in enumerate(answers):
        precision = stats.gamma(belief.alpha[i], scale=1 / belief.beta[i])
        expected = precision.expect(lambda x: x ** (-power / 2), epsabs=1e-12)
        (t,) = draws_of(belief, i)
        total = naive.risk(name, t, naive.action(name, t))
        assert hat[1, i] == pytest.approx(least * expected, rel=1e-8)
        assert hat[0, i] == pytest.approx(total, rel=1e-7)
        assert hat[2, i] == pytest.approx(hat[0, i] - hat[1, i], rel=1e-9)
        assert star[:, i] == pytest.approx(naive.realize(name, [t], own), rel=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_many_gaussians_tend_to_the_normal_inverse_gamma(name):
    rng = np.random.default_rng(0)
    mu, nu, alpha, beta = 1.0, 0.8, 4.0, 3.0
    variance = beta / rng.gamma(alpha, size=(1, 1500))
    mean = rng.normal(mu, np.sqrt(variance / nu))
    sampled = parts(decompose(Gaussians(mean, np.sqrt(variance)), name))
    exact = parts(decompose(NormalInverseGamma([mu], [nu], [alpha], [beta]), name))
    # 1,500 draws: the epistemic part has a standard error of some 5 %.
    assert sampled[:, 0] == pytest.approx(exact[:, 0], rel=0.12)


@pytest.mark.parametrize("name", NAMES)
def test_many_samples_tend_to_the_gaussians(name):
    mean, sd = np.array([[0.0, 2.0, -1.0]]), np.array([[1.0, 0.5, 2.0]])
    levels = (np.arange(2000) + 0.5) / 2000
    samples = Samples(stats.norm.ppf(levels, mean[..., None], sd[..., None]))
    coarse, exact = parts(decompose(samples, name)), parts(decompose(Gaussians(mean, sd), name))
    assert coarse[:, 0] == pytest.approx(exact[:, 0], rel=2e-3)


def test_by_hand():
    # Draws N(0, 1) and N(2, 1). squared: 1 + 1. absolute: the median is 1 by symmetry; its risk
    # under each draw is E|N(1, 1)| = 2 phi(1) + 2 Phi(1) - 1, the least one 2 phi(0).
    belief = Gaussians([[0.0, 2.0]], [[1.0, 1.0]])
    assert parts(decompose(belief, "squared"))[:, 0].tolist() == [2, 1, 1]
    total = 2 * stats.norm.pdf(1) + 2 * stats.norm.cdf(1) - 1
    hat = decompose(belief, "absolute")
    assert hat.total[0] == pytest.approx(total)
    assert hat.aleatoric[0] == pytest.approx(math.sqrt(2 / math.pi))
    # crps: E|X - X'|/2 = 1/sqrt(pi) for each draw; the mixture's is half of that, and half of
    # E|N(2, sqrt 2)|/2 = sqrt 2 phi(sqrt 2) + 2 Phi(sqrt 2) - 1.
    r = math.sqrt(2)
    mixed = (1 / math.sqrt(math.pi) + r * stats.norm.pdf(r) + 2 * stats.norm.cdf(r) - 1) / 2
    hat = decompose(belief, "crps")
    assert hat.aleatoric[0] == pytest.approx(1 / math.sqrt(math.pi))
    assert hat.total[0] == pytest.approx(mixed)
    # Answers 0, 1, 5, a point prediction of 1 (one value in each of two draws, both 1):
    # squared: mean 2, variance 14/3, regret 1; absolute: median 1, 5/3; crps of a point: the
    # same 5/3, of which E|Y - Y'|/2 = (1 + 5 + 4)/9.
    people, point = Ratings([[5, 0, 1]]), Samples([[[1.0], [1.0]]])
    star = realize(people, point, "squared")
    assert parts(star)[:, 0] == pytest.approx([17 / 3, 14 / 3, 1])
    assert parts(realize(people, point, "absolute"))[:, 0] == pytest.approx([5 / 3, 5 / 3, 0])
    assert parts(realize(people, point, "crps"))[:, 0] == pytest.approx([5 / 3, 10 / 9, 5 / 9])
    # pinball at 0.8: the answers' quantile is 5, which costs 0.2 (5 + 4)/3 = 0.6; the action 1
    # costs 0.2 / 3 + 0.8 * 4 / 3 = 3.4/3.
    star = realize(people, point, "pinball:0.8")
    assert parts(star)[:, 0] == pytest.approx([3.4 / 3, 0.6, 1.6 / 3])
    # Evidential: E sigma^2 = 4/2 = 2, and a half of it is the variance of the mean.
    belief = NormalInverseGamma([0.0], [2.0], [3.0], [4.0])
    assert parts(decompose(belief, "squared"))[:, 0].tolist() == [3, 2, 1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["gaussians", "samples", "evidential"])
def test_laws_of_components(name, kind, rng):
    beliefs, answers = world(rng)
    belief, people = beliefs[kind], Ratings(answers)
    for found in (decompose(belief, name), realize(people, belief, name)):
        assert (found.epistemic >= 0).all()
        assert (found.aleatoric >= 0).all()
        gap = found.total - found.aleatoric - found.epistemic
        assert (np.abs(gap) <= 3e-11 * found.total).all()
    # The order of points, draws and answers does not matter.
    order = rng.permutation(len(people))
    assert parts(decompose(belief[order], name)) == pytest.approx(
        parts(decompose(belief, name))[:, order], rel=1e-11, abs=1e-14
    )
    backwards = Ratings([own[::-1] for own in answers])
    assert (parts(realize(backwards, belief, name)) == parts(realize(people, belief, name))).all()
    part = parts(realize(people[order[:5]], belief[order[:5]], name))
    assert (part == parts(realize(people, belief, name))[:, order[:5]]).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["gaussians", "samples", "evidential"])
@pytest.mark.parametrize(("scale", "shift"), [(3.5, -40.0), (1e-6, 0.25), (1e9, 1e12), (1.0, 1e7)])
def test_components_move_and_stretch_with_the_outcomes(name, kind, scale, shift, rng):
    beliefs, answers = world(rng)
    belief = beliefs[kind]
    if isinstance(belief, Gaussians):
        moved = Gaussians(shift + scale * belief.mean, scale * belief.sd)
    elif isinstance(belief, Samples):
        moved = Samples(shift + scale * belief.values)
    else:
        moved = NormalInverseGamma(
            shift + scale * belief.mu, belief.nu, belief.alpha, scale**2 * belief.beta
        )
    factor = scale**2 if name == "squared" else scale
    lost = 1e-9 + 4e-16 * (1 + abs(shift) / scale) ** (2 if name == "squared" else 1)
    near, far = decompose(belief, name), decompose(moved, name)
    tolerance = max(lost, 1e-16 * abs(shift) / scale * 100)
    assert parts(far) / factor == pytest.approx(parts(near), rel=tolerance, abs=tolerance)
    people = Ratings([[shift + scale * y for y in own] for own in answers])
    near, far = realize(Ratings(answers), belief, name), realize(people, moved, name)
    assert parts(far) / factor == pytest.approx(parts(near), rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["gaussians", "samples"])
def test_nothing_is_epistemic_in_one_draw_or_in_equal_draws(name, kind, rng):
    belief = world(rng, n=200)[0][kind]
    for n in (1, 2, 7):
        if kind == "gaussians":
            mean, sd = np.repeat(belief.mean[:, :1], n, 1), np.repeat(belief.sd[:, :1], n, 1)
            same = Gaussians(1e6 + mean, sd)
        else:
            same = Samples(np.repeat(belief.values[:, :1], n, axis=1))
        assert (decompose(same, name).epistemic == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_total_of_samples_is_the_bayes_risk_of_all_values(name, rng):
    values = np.round(rng.normal(0, 1, (30, 3, 5)), 1)
    pooled = Ratings(values.reshape(30, 15))
    whole = realize(pooled, Samples(values), name)
    assert (whole.epistemic == 0).all()
    assert decompose(Samples(values), name).total == pytest.approx(whole.aleatoric, rel=1e-11)


scales = hnp.arrays(np.int64, (3, 2, 4), elements=st.integers(0, 3))


@settings(max_examples=25)
@given(values=scales, counts=hnp.arrays(np.int64, (3, 4), elements=st.integers(0, 3)))
def test_answers_on_a_scale_are_classes(values, counts):
    # Samples of whole numbers are frequencies of classes, and the losses are the classes' own:
    # crps the ranked probability score, the others under their own names.
    counts = counts + np.eye(4, dtype=np.int64)[0]
    scale = [-1.0, 0.5, 4.0, 5.0]
    draws = Draws((values[..., None] == np.arange(4)).mean(axis=2))
    samples = Samples(np.array(scale)[values])
    people, ratings = Annotations(counts, scale), Ratings.from_counts(counts, scale)
    for name, twin in [("crps", RPS(scale)), ("crps", CRPS(scale))] + [
        (name, get_loss(name, values=scale)) for name in NAMES if name != "crps"
    ]:
        for mine, its in (
            (decompose(samples, name), decompose(draws, twin)),
            (realize(ratings, samples, name), realize(people, draws, twin)),
        ):
            assert parts(mine) == pytest.approx(parts(its), abs=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_the_bayes_action_is_the_best_of_its_kind(name, rng):
    # No other action has less regret when the answers are drawn from the mixture itself.
    values = rng.normal(0, 1, (20, 3, 5))
    people, belief = Ratings(values.reshape(20, 15)), Samples(values)
    other = rng.normal(0, 1, (20, 7) if name == "crps" else 20)
    best, worse = realize(people, belief, name), realize(people, None, name, actions=other)
    assert (best.total <= worse.total + 1e-12).all()
    assert worse.epistemic == pytest.approx(worse.total - worse.aleatoric, abs=1e-10)


def test_a_point_forecast_under_crps_pays_the_absolute_error(rng):
    people, guess = Ratings(rng.normal(0, 1, (10, 4))), rng.normal(0, 1, 10)
    crps = realize(people, None, "crps", actions=guess)
    assert crps.total == pytest.approx(realize(people, None, "absolute", actions=guess).total)
    three = realize(people, None, "crps", actions=np.repeat(guess[:, None], 3, axis=1))
    assert three.total == pytest.approx(crps.total)


def test_evaluate_takes_them_as_it_takes_the_others(rng):
    beliefs, answers = world(rng, n=40)
    for belief in beliefs.values():
        row = evaluate(Ratings(answers), belief, "crps", method="m")
        assert (row.loss, row.method, row.n_points) == ("crps", "m", 40)
        assert row.aurec_low <= row.aurec == row.aurec_high
        assert 0 <= row.pareto_gap <= 1
    alone = evaluate(Ratings([[own[0]] for own in answers]), belief, "absolute", gap=False)
    assert math.isnan(alone.aurec_low)
    assert any("40 of 40 points have one annotator" in note for note in alone.notes)


PEOPLE, NORMAL = Ratings([[1.0, 2.0]]), Gaussians([[1.0]], [[1.0]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: decompose(NORMAL), "log loss cannot be used.*finitely many real answers have no"),
        (lambda: realize(PEOPLE, NORMAL, "zero_one"), "zero_one loss cannot.*hardly ever equal"),
        (lambda: evaluate(PEOPLE, NORMAL, "brier"), "brier loss cannot be used.*use squared"),
        (lambda: decompose(NORMAL, "rps"), "its twin for real numbers is crps"),
        (lambda: decompose(NORMAL, Squared([0, 1])), "values are the scale of classes"),
        (lambda: decompose(NORMAL, "absolute", values=[0, 1]), "leave them out"),
        (lambda: decompose(NORMAL, "crps", convention="published"), "tables have classes only"),
        (lambda: realize(PEOPLE, Draws([[[0.5, 0.5]]]), "squared"), "for a belief about classes"),
        (lambda: realize(Annotations([[1, 1]]), NORMAL, "squared"), "about real numbers use Rati"),
        (lambda: realize(PEOPLE, Dirichlet([[1, 1]]), "squared"), "got Dirichlet"),
        (
            lambda: realize(PEOPLE, Gaussians([[1.0]] * 2, [[1.0]] * 2), "crps"),
            "2 points but the truth has 1",
        ),
        (lambda: realize(PEOPLE, None, "crps"), "belief or actions"),
        (lambda: realize(PEOPLE, None, "crps", actions=[[[1.0]]]), "equally likely values"),
        (lambda: realize(PEOPLE, None, "crps", actions=[np.nan]), "actions must be finite"),
        (lambda: realize(PEOPLE, None, "squared", actions=[1.0, 2.0]), "1 points, got 2"),
        (
            lambda: decompose(NormalInverseGamma([0], [1], [0.9], [1]), "squared"),
            "squared loss needs alpha above 1.*got 0.9 at row 0",
        ),
        (lambda: decompose(np.zeros((1, 1)), "crps"), "Gaussians, Samples or NormalInverseGamma"),
    ],
)
def test_what_cannot_be_is_refused_and_why(make, words):
    with pytest.raises((InputError, ShapeError), match=words):
        make()


def test_alpha_down_to_a_half_is_enough_for_the_other_losses():
    belief = NormalInverseGamma([0.0], [1.0], [0.9], [1.0])
    for loss in ("absolute", "crps", Pinball(0.9)):
        assert np.isfinite(decompose(belief, loss).total).all()

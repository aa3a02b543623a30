"""The sandbox's world, posterior, closed forms, scorers and split."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue.errors import InputError
from rue.sandbox import REGIONS, SANDBOX_LOSSES, SCORERS, make_world, run_sandbox, split_regret
from rue.sandbox.posterior import PRIOR_SD, expected_components, fit_posterior, realized_components
from rue.sandbox.summary import bald, expected_error, jaccard, reject
from rue.sandbox.world import Features, noise, rossellini

C = math.sqrt(2 / math.pi)


# --- the world ---


def test_rossellini_by_hand():
    # at x = 0.84 the cube is 1, at x = 0.34 it is 1/8
    np.testing.assert_allclose(
        rossellini(np.array([0.84, 0.34])), [math.sin(0.2), math.sin(1.6)], rtol=1e-12
    )


def test_density_integrates_to_one(world):
    assert world.mass.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(world.density / len(world.x), world.mass, rtol=1e-14)


def test_inputs_follow_the_density():
    world = make_world(n_train=100_000)
    counts, _ = np.histogram(world.x_train, bins=20, range=(0, 1))
    expected = world.mass.reshape(20, -1).sum(axis=1)
    error = np.sqrt(expected * (1 - expected) / len(world.x_train))
    assert (np.abs(counts / len(world.x_train) - expected) <= 4 * error).all()


def test_labels_are_f_star_plus_noise():
    world = make_world(n_train=100_000)
    f = world.features(world.x_train) @ world.weights_star
    z = (world.y_train - f) / noise(world.x_train)
    assert abs(z.mean()) < 4 / math.sqrt(len(z))
    assert abs((z**2).mean() - 1) < 4 * math.sqrt(2 / len(z))


def test_f_star_is_the_best_fit_of_the_class(world):
    residual = rossellini(world.x) - world.f_star
    # normal equations of least squares: the residual is orthogonal to every feature
    assert np.abs(world.features(world.x).T @ residual).max() < 1e-9
    assert np.abs(residual[world.x > 0.1]).max() < 0.01


def test_regions_are_what_they_are_called(world):
    inside = {name: (low <= world.x) & (world.x < high) for name, (low, high) in REGIONS.items()}
    swing = np.abs(np.diff(world.f_star, append=world.f_star[-1]))
    a, b, c = inside.values()
    assert swing[a].sum() > 10 * max(swing[b].sum(), swing[c].sum())
    assert world.density[b].mean() < 0.2 * min(world.density[a].mean(), world.density[c].mean())
    assert world.sigma[c].min() > 4 * max(world.sigma[a].max(), world.sigma[b].max())


def test_only_the_sample_depends_on_the_seed(world):
    other = make_world(seed=1)
    assert (other.f_star == world.f_star).all()
    assert (other.mass == world.mass).all()
    assert not (other.x_train == world.x_train).any()
    assert (make_world(seed=0).y_train == world.y_train).all()


@pytest.mark.parametrize(
    "options",
    [
        {"seed": -1},
        {"n_train": -1},
        {"n_grid": 1},
        {"n_features": 1},
        {"seed": 1.5},
        {"seed": True},
    ],
)
def test_world_refuses(options):
    with pytest.raises(InputError, match="must be a whole number of at least"):
        make_world(**options)


# --- the posterior ---


def test_posterior_equals_the_function_space_view():
    # The Gaussian process with kernel k(s, t) = prior_sd^2 phi(s)' phi(t) has the same predictions
    # by quite another formula: mean k (K + R)^-1 y, variance k(t, t) - k (K + R)^-1 k.
    world = make_world(seed=3, n_train=30, n_features=8, n_grid=50)
    mean, variance = fit_posterior(world.features, world.x_train, world.y_train).predict(world.x)
    at_train, at_grid = world.features(world.x_train), world.features(world.x)
    gram = PRIOR_SD**2 * at_train @ at_train.T + np.diag(noise(world.x_train) ** 2)
    cross = PRIOR_SD**2 * at_grid @ at_train.T
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(gram, world.y_train), atol=1e-9)
    expected = PRIOR_SD**2 * (at_grid**2).sum(axis=1)
    expected -= (cross * np.linalg.solve(gram, cross.T).T).sum(axis=1)
    np.testing.assert_allclose(variance, expected, atol=1e-9)


def test_without_data_the_posterior_is_the_prior():
    features = Features(5)
    posterior = fit_posterior(features, np.empty(0), np.empty(0))
    np.testing.assert_allclose(posterior.covariance, PRIOR_SD**2 * np.eye(5), rtol=1e-14)
    assert (posterior.mean == 0).all()


# --- Definition 1 in closed form ---


def test_components_by_hand():
    # sigma 3 and variance 16, so s = 5
    sigma, variance = np.array([3.0]), np.array([16.0])
    by_hand = {
        "squared": (25, 9, 16),
        "absolute": (5 * C, 3 * C, 2 * C),
        "log": (
            math.log(5) + math.log(2 * math.pi * math.e) / 2,
            math.log(3) + math.log(2 * math.pi * math.e) / 2,
            math.log(5 / 3),
        ),
    }
    for loss, expected in by_hand.items():
        hat = expected_components(loss, sigma, variance)
        np.testing.assert_allclose(
            [hat.total[0], hat.aleatoric[0], hat.epistemic[0]], expected, rtol=1e-14
        )


def test_realised_components_by_hand():
    # sigma 1, variance 3 (s = 2), error 1. absolute: E|N(1, 1)| = C e^-1/2 + erf(1/sqrt 2).
    # log: KL(N(0, 1), N(1, 4)) = log 2 + (1 + 1)/8 - 1/2.
    one, three = np.array([1.0]), np.array([3.0])
    by_hand = {
        "squared": (2.0, 1.0),
        "absolute": (C * math.exp(-0.5) + math.erf(math.sqrt(0.5)), None),
        "log": (None, math.log(2) - 0.25),
    }
    for loss, (total, regret) in by_hand.items():
        star = realized_components(loss, one, three, one)
        assert total is None or star.total[0] == pytest.approx(total, rel=1e-14)
        assert regret is None or star.epistemic[0] == pytest.approx(regret, rel=1e-14)
        assert star.total[0] == star.aleatoric[0] + star.epistemic[0]


positive = st.floats(1e-6, 1e6)


@given(positive, positive, st.floats(-1e3, 1e3), st.sampled_from(SANDBOX_LOSSES))
def test_regret_is_never_negative(sigma, variance, error, loss):
    arguments = np.array([sigma]), np.array([variance])
    assert expected_components(loss, *arguments).epistemic[0] > 0
    assert realized_components(loss, *arguments, np.array([error])).epistemic[0] >= 0


# --- the scorers ---


@pytest.mark.parametrize("loss", SANDBOX_LOSSES)
def test_expected_error_by_refitting_does_not_depend_on_the_label(world, posterior, loss):
    closed_form = expected_error(world, posterior, loss)
    for cell, label in [(3, -7.0), (840, 0.0), (1999, 5.0)]:
        refit = fit_posterior(
            world.features,
            np.append(world.x_train, world.x[cell]),
            np.append(world.y_train, label),
        )
        hat = expected_components(loss, world.sigma, refit.predict(world.x)[1])
        assert closed_form[cell] == pytest.approx(hat.epistemic @ world.mass, rel=1e-9)


def test_a_label_never_hurts(world, posterior):
    before = posterior.predict(world.x)[1] @ world.mass
    assert (expected_error(world, posterior, "squared") < before).all()


def test_reject_by_hand():
    # 0.4 of the mass goes: the first cell (0.1), then 0.3 of the tied block's 0.5
    score, mass = np.array([3.0, 1.0, 2.0, 2.0]), np.array([0.1, 0.4, 0.2, 0.3])
    np.testing.assert_allclose(reject(score, mass, 0.6), [1, 0, 0.6, 0.6], rtol=1e-14)


def test_jaccard_by_hand():
    # both: 0.1 + 0.3 * 0.6 = 0.28; either: 0.1 + 0.4 + 0.2 * 0.6 + 0.3 * 0.6 = 0.8
    mass = np.array([0.1, 0.4, 0.2, 0.3])
    first, second = np.array([1, 0, 0.6, 0.6]), np.array([1, 1, 0, 0.6])
    assert jaccard(first, second, mass) == pytest.approx(0.35, rel=1e-14)
    assert jaccard(first, first, mass) == 1.0


@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(0.01, 1)), min_size=1, max_size=20),
    st.floats(0.01, 0.99),
)
def test_reject_takes_the_worst_and_exactly_the_share(cells, coverage):
    score, mass = (np.array(column, dtype=float) for column in zip(*cells, strict=True))
    rejected = reject(score, mass, coverage)
    assert mass @ rejected == pytest.approx((1 - coverage) * mass.sum(), rel=1e-9)
    for a, r in zip(score, rejected, strict=True):
        for b, q in zip(score, rejected, strict=True):
            assert r == q if a == b else (r == 1 or q == 0 if a > b else True)


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_reject_refuses(coverage):
    with pytest.raises(InputError, match=r"coverage must lie strictly between 0 and 1, got"):
        reject(np.ones(2), np.ones(2), coverage)


def test_run_refuses_an_unknown_loss():
    with pytest.raises(InputError, match=r"loss must be one of .*, got 'cubic'"):
        run_sandbox(loss="cubic")


# --- approximation against estimation ---


@pytest.mark.parametrize("n_features", [2, 6, 12, 24, 36, 50])
def test_split_adds_up(world, n_features):
    split = split_regret(world, n_features)
    np.testing.assert_allclose(
        split.regret, split.approximation + split.estimation + split.cross, rtol=1e-6, atol=1e-12
    )
    whole, approximation, estimation = (
        world.mass @ part for part in (split.regret, split.approximation, split.estimation)
    )
    assert whole == pytest.approx(approximation + estimation, rel=1e-10)


def test_approximation_is_the_best_of_the_class(world):
    phi = Features(12)(world.x)
    best = world.mass @ split_regret(world, 12).approximation
    root = np.sqrt(world.mass)
    weights = np.linalg.lstsq(root[:, None] * phi, root * world.f_star, rcond=None)[0]
    rng = np.random.default_rng(6)
    for _ in range(100):
        other = phi @ (weights + 0.1 * rng.standard_normal(12))
        assert world.mass @ (other - world.f_star) ** 2 > best > 0.01


def test_the_full_class_has_no_approximation_error(world):
    split = split_regret(world, world.features.n_features)
    assert world.mass @ split.approximation < 1e-20
    np.testing.assert_allclose(split.estimation, split.regret, rtol=1e-6, atol=1e-15)


def test_a_small_class_does_not_see_its_approximation_error(world):
    """Its posterior expects less than a hundredth of the regret that it has."""
    split = split_regret(world, 12)
    assert world.mass @ split.epistemic < 0.01 * (world.mass @ split.regret)


# --- one run ---


@pytest.mark.parametrize("loss", SANDBOX_LOSSES)
def test_summary_against_a_naive_twin(loss):
    run = run_sandbox(loss=loss, coverage=0.7, seed=1)
    mass = run.world.mass
    for scorer in SCORERS:
        score = run.scores[scorer]
        blocks = [score == level for level in np.unique(score)]  # equal scores: one segment
        covered = np.cumsum([0, *(mass[block].sum() for block in blocks)])
        for value, area, left in [
            (run.hat.epistemic, "aurec", "regret"),
            (run.hat.total, "aurc", "risk"),
            (run.star.epistemic, "aurec_star", "regret_star"),
            (run.star.total, "aurc_star", "risk_star"),
        ]:
            curve = np.cumsum([0, *(mass[block] @ value[block] for block in blocks)])
            assert run.areas[scorer][area] == pytest.approx(np.trapezoid(curve, covered), rel=1e-9)
            at_coverage = np.interp(0.7, covered, curve)
            assert run.left[scorer][left] == pytest.approx(at_coverage, rel=1e-9)
    assert all(run.overlap[a][b] == run.overlap[b][a] for a in SCORERS for b in SCORERS)


def test_bald_is_the_score_whatever_the_loss():
    runs = [run_sandbox(loss=loss) for loss in SANDBOX_LOSSES]
    for run in runs:
        variance = run.posterior.predict(run.world.x)[1]
        assert (run.scores["bald"] == bald(run.world.sigma, variance)).all()
        assert (run.scores["ood"] == 1 / run.world.density).all()

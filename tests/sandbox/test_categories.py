"""A world of categories: exact parts, limits, and a posterior that knows one of them."""

import numpy as np
import pytest

from rue.errors import InputError
from rue.losses import LOSSES
from rue.sandbox import CategoryWorld, make_category_world, split_category_regret


def test_by_hand():
    # Two inputs in one cell, twice as much mass on the first; counts (1, 0) and (0, 2).
    world = CategoryWorld(
        probs=np.array([[0.9, 0.1], [0.3, 0.7]]),
        mass=np.array([2 / 3, 1 / 3]),
        counts=np.array([[1.0, 0.0], [0.0, 2.0]]),
    )
    assert world.limit(1) == pytest.approx(np.array([[0.7, 0.3]] * 2))
    assert world.posterior(1).alpha == pytest.approx(np.array([[2.0, 3.0]] * 2))
    assert world.posterior(2).alpha == pytest.approx(np.array([[2.0, 1.0], [1.0, 3.0]]))
    parts, epistemic = split_category_regret(world, 1, "squared")
    # Means: p* .1 and .7, limit .3, belief .6. Approximation .04 and .16, regret .25 and .01.
    assert parts.approximation == pytest.approx([0.04, 0.16])
    assert parts.estimation == pytest.approx([0.21, -0.15])
    assert world.mass @ parts.estimation == pytest.approx(0.3**2)  # (.6 - .3)^2
    assert epistemic == pytest.approx([2 * 3 / (5**2 * 6)] * 2)  # the variance of Beta(3, 2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_cells", [1, 4, 32])
def test_the_mean_estimation_is_the_regret_inside_the_class(loss, n_cells):
    world = make_category_world(depth=5, n_train=200)
    parts, _ = split_category_regret(world, n_cells, loss)
    cells = world.mass.reshape(n_cells, -1)
    inside = (cells * parts.in_class.reshape(n_cells, -1)).sum(axis=1)
    found = (cells * parts.estimation.reshape(n_cells, -1)).sum(axis=1)
    assert found == pytest.approx(inside, abs=1e-9)  # in each cell, so never negative there


@pytest.mark.parametrize("loss", ["log", "zero_one", "absolute"])
def test_limits(loss):
    few, many = (make_category_world(depth=5, n_train=n) for n in (100, 10**9))
    exact, _ = split_category_regret(few, 32, loss)
    assert not exact.approximation.any()  # the class contains p*
    for n_cells in (2, 8):
        one, said = split_category_regret(many, n_cells, loss)
        assert abs(one.estimation).max() < 1e-3  # unlimited data
        assert said.max() < 1e-3
        other, _ = split_category_regret(few, n_cells, loss)
        assert (one.approximation == other.approximation).all()  # whatever the data are


def test_finer_classes_have_less_approximation():
    world = make_category_world()
    means = [
        world.mass @ split_category_regret(world, n, "zero_one")[0].approximation
        for n in (1, 2, 4, 8, 16, 32, 64, 128)
    ]
    assert means == sorted(means, reverse=True)


def test_the_posterior_expects_its_estimation_error_where_the_prior_is_true(rng):
    # p* of each input drawn from the uniform prior: the expected regret is that of the posterior.
    probs = rng.dirichlet(np.ones(3), 40_000)
    world = CategoryWorld(probs, np.full(40_000, 1 / 40_000), np.zeros((40_000, 3)))
    world = world.drawn(200_000, seed=1)
    for loss in ("log", "zero_one", "squared"):
        parts, epistemic = split_category_regret(world, 40_000, loss)
        error = (parts.estimation - epistemic).std() / 200
        assert abs((parts.estimation - epistemic).mean()) < 4 * error


def test_a_coarse_class_announces_estimation_alone():
    world = make_category_world(n_train=2000)
    parts, epistemic = split_category_regret(world, 4)
    said = world.mass @ epistemic
    assert said == pytest.approx(world.mass @ parts.in_class, rel=0.8)
    assert said < 0.05 * (world.mass @ parts.approximation)


def test_seeds_and_broken_calls():
    world = make_category_world(depth=3, seed=1, sample=2)
    again = make_category_world(depth=3, seed=1, sample=3)
    assert (world.probs == again.probs).all()
    assert (world.counts != again.counts).any()
    assert world.n_inputs == 8
    with pytest.raises(InputError, match="n_cells must divide 8 inputs, got 3"):
        world.limit(3)
    with pytest.raises(InputError, match="n_train must be a whole number"):
        world.drawn(-1)
    with pytest.raises(InputError, match="depth must be a whole number of at least 1"):
        make_category_world(depth=0)

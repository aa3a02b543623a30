"""The world of most tests, and its posterior."""

import pytest

from rue.sandbox import make_world
from rue.sandbox.posterior import fit_posterior


@pytest.fixture(scope="session")
def world():
    return make_world(seed=0)


@pytest.fixture(scope="session")
def posterior(world):
    return fit_posterior(world.features, world.x_train, world.y_train)

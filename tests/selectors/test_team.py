"""The selector of the team: no decisions cost less, and what it says is what it does."""

from itertools import product

import numpy as np
import pytest

from rue import Annotations, Components, Draws, realize
from rue.errors import InputError
from rue.selectors import team_selector


@pytest.mark.parametrize("fee", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("loss", ["zero_one", "squared", "absolute", "log", "rps"])
def test_no_decisions_cost_less(rng, loss, fee):
    truth = Annotations(rng.multinomial(4, rng.dirichlet(np.ones(3), 8)))
    star = realize(truth, Draws(rng.dirichlet(np.ones(3), (8, 2))), loss)
    asked = star.person + fee
    costs = [np.where(accept, star.total, asked).mean() for accept in product((0, 1), repeat=8)]
    selector = team_selector(star, defer_fee=fee)
    assert selector.team_risk == pytest.approx(min(costs))
    assert selector.acceptance.tolist() == (star.total <= asked + 1e-11).tolist()
    assert selector.coverage == selector.acceptance.mean()
    assert selector.risk == pytest.approx((selector.acceptance * star.total).mean())
    assert selector.person_risk == pytest.approx(star.person.mean())


def test_equal_costs_are_accepted():
    star = Components([0.1 + 0.2, 0.4], [0.3, 0.4], [0.0, 0.0], person=np.array([0.3, 0.3]))
    assert team_selector(star).acceptance.tolist() == [True, False]
    assert "plus the fee of 0.1" in str(team_selector(star, defer_fee=0.1))


def test_what_is_refused():
    star = Components([0.3], [0.3], [0.0])
    with pytest.raises(InputError, match="needs two answers for every point"):
        team_selector(star)
    with pytest.raises(InputError, match="defer_fee must be a number from 0 on, got -1"):
        team_selector(star, defer_fee=-1)

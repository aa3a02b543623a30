"""Arguments that every public function takes: seeds, points, and arrays that stay the caller's."""

import numpy as np
import pytest

import rue
from rue import Annotations, Components, Draws, Problem, Run
from rue.deploy import betting, fit_recalibration_map
from rue.errors import InputError, PointError
from rue.inference import calibration_bands
from rue.sandbox import make_category_world, make_world, run_sandbox

DOUBT = np.linspace(0, 1, 40)
POINTS = Components(DOUBT**2, 0 * DOUBT, DOUBT**2)
PROBS = np.random.default_rng(0).dirichlet(np.ones(3), (40, 4))
TRUTH = Annotations(np.random.default_rng(1).integers(1, 5, (40, 3)))
BELIEF = Draws(PROBS)
ALPHA = rue.Dirichlet(np.ones((4, 2)))
ASKED = Problem(maximize="coverage", risk_max=0.5)

SEEDED = {
    "decompose": lambda seed: rue.decompose(ALPHA, rue.CostMatrix([[0, 1], [2, 0]]), seed=seed),
    "decompose without random numbers": lambda seed: rue.decompose(BELIEF, seed=seed),
    "evaluate": lambda seed: rue.evaluate(TRUTH, BELIEF, seed=seed),
    "from_belief": lambda seed: Run.from_belief(TRUTH, BELIEF, seed=seed),
    "compare": lambda seed: rue.compare(
        [Run(POINTS, POINTS, method="a"), Run(POINTS, POINTS[::-1], method="b")], seed=seed
    ),
    "plan": lambda seed: rue.plan(
        [Run.from_belief(TRUTH, BELIEF, "log", with_answers=True)], annotators=[2], seed=seed
    ),
    "recalibrate": lambda seed: rue.recalibrate(DOUBT, DOUBT, seed=seed),
    "map": lambda seed: fit_recalibration_map(POINTS, POINTS, seed=seed),
    "bands": lambda seed: calibration_bands(DOUBT, DOUBT, seed=seed),
    "fit_selector": lambda seed: rue.fit_selector(POINTS, POINTS, **ASKED.to_dict(), seed=seed),
    "try_promise": lambda seed: rue.try_promise(
        POINTS, POINTS, ASKED, n_points=10, n_draws=1, seed=seed
    ),
    "compare_rules": lambda seed: rue.compare_rules(
        POINTS, POINTS, POINTS, POINTS, ASKED, seed=seed
    ),
    "betting": lambda seed: betting(DOUBT, 0.5, seed=seed),
    "accumulator": lambda seed: rue.Accumulator(seed=seed),
    "sandbox": lambda seed: run_sandbox(seed=seed),
    "world": lambda seed: make_world(seed=seed),
    "categories": lambda seed: make_category_world(depth=2, seed=seed),
    "sample": lambda seed: make_category_world(depth=2, sample=seed),
}


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, True, [1]], ids=repr)
@pytest.mark.parametrize("name", SEEDED)
def test_a_wrong_seed_is_an_error_of_rue(name, seed):
    with pytest.raises(InputError, match="seed must be a whole number of at least 0, got"):
        SEEDED[name](seed)


WRONG = (40, -41, [True, False], np.ones(41, bool), "a", 0.5, [0.5], None, [[0, 1]], object())
WRONG += (slice("a", 2), slice(None, None, 0), [3, 99])


@pytest.mark.parametrize("things", [POINTS, BELIEF, TRUTH], ids=["components", "draws", "truth"])
@pytest.mark.parametrize("rows", WRONG, ids=lambda rows: type(rows).__name__)
def test_wrong_points_are_an_error_of_rue(things, rows):
    with pytest.raises(PointError):
        things[rows]


@pytest.mark.parametrize("things", [POINTS, BELIEF, TRUTH], ids=["components", "draws", "truth"])
def test_a_loop_ends_after_the_last_point(things):
    assert [len(point) for point in things] == [1] * 40


def test_components_stay_as_they_are():
    total, high = DOUBT + 1, DOUBT + 2.0
    components = Components(total, total, 0 * total, aleatoric_high=high)
    total[0] = high[0] = 99.0
    assert (components.total[0], components.aleatoric_high[0]) == (1.0, 2.0)
    for name in ("total", "aleatoric", "epistemic", "aleatoric_high"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(components[1:], name)[0] = 0.0
    again = Components(components.total, components.aleatoric, components.epistemic)
    assert again.total is components.total  # what cannot change is not copied
    for made in (rue.decompose(BELIEF), rue.realize(TRUTH, BELIEF)):
        assert not made.total.flags.writeable

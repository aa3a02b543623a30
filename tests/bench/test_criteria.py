"""What a data set cannot have is told before anything is trained; small pools get small budgets."""

from dataclasses import replace

import numpy as np
import pytest

from rue.bench.cells import cells, configuration
from rue.bench.suite import parse_suite
from rue.bench.tasks import learn_actively, require_criteria, run_task, tasks
from rue.data import load
from rue.errors import InputError
from rue.methods import METHODS, PROBE, Learner


@pytest.mark.usefixtures("here")  # a task changes the number of threads
def test_what_a_data_set_cannot_have_is_told_before_it_is_trained_on(monkeypatch):
    monkeypatch.setattr(Learner, "fit", lambda *_, **__: pytest.fail("was trained"))
    suite = parse_suite(
        'name = "x"\ndatasets = ["random-rbf"]\nmethods = ["ddu"]\ncriteria = ["ood"]'
    )
    wanted = cells(suite)
    (task,) = tasks(suite, wanted, {cell: configuration(suite, cell) for cell in wanted})
    with pytest.raises(InputError, match="random-rbf has no OOD sets"):
        run_task(suite, task)


def test_regret_takes_answers_and_active_learning_features():
    data = load("random-rbf", n_points=50)
    require_criteria(["regret", "selective", "active_learning"], data)
    nobody = replace(data, annotations=None, annotated=np.array([], int), labels=np.zeros(50, int))
    with pytest.raises(InputError, match="every test point must have answers"):
        require_criteria(["regret"], nobody)
    require_criteria(["selective", "active_learning"], nobody)
    images = replace(data, task="image", inputs=np.zeros((50, 4, 4, 3), np.uint8))
    with pytest.raises(InputError, match="active_learning takes matrices of features"):
        require_criteria(["active_learning"], images)


def test_at_most_half_of_a_pool_is_labelled():
    """240 points train: 20 to start with and 10 a round, 120 in the end."""
    data = load("random-rbf", n_points=400)
    assert len(data.train) == 240
    config = METHODS["evidential"].Config(training=replace(PROBE, epochs=1))
    (runs,) = learn_actively([data], "evidential", [0], config)
    assert [one.acquisition for one in runs] == ["epistemic", "total"]
    for one in runs:
        assert one.n_labelled == tuple(range(20, 121, 10))
        assert len(one.accuracy) == 11
        assert np.isfinite(one.nauc)

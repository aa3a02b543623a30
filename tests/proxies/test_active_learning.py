"""Active learning: the rounds, what is asked for, and that runs do not see each other."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import rue
from made import data_set
from rue.errors import InputError, ShapeError
from rue.methods import METHODS, Training
from rue.methods.learner import Learner
from rue.proxies.active_learning import (
    ACQUISITIONS,
    BUDGETS,
    Budget,
    acquire,
    get_budget,
    nauc,
    run,
)
from rue.proxies.selective import correctness

SOME = ("dropout", "ensemble", "evidential", "ddu", "laplace", "pairs")
SIZES = {"n_initial": 20, "n_batch": 10, "n_rounds": 2}


@pytest.fixture(scope="module")
def data():
    """200 points to learn from and 100 to test, three classes, single labels and 10 answers."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 4)).astype(np.float32)
    logits = 3 * x @ rng.normal(size=(4, 3))
    probs = np.exp(logits - logits.max(axis=1, keepdims=True))
    probs = probs / probs.sum(axis=1, keepdims=True)
    return data_set(x, probs, n_train=200, soft=False, counts=rng.multinomial(10, probs))


def config(method, epochs=4):
    training = Training(width=16, epochs=epochs, batch_size=32)
    return METHODS[method].Config(training=training)


def learn(data, method="dropout", seeds=(0,), **options):
    return run(data, method, seeds, config=config(method), **(SIZES | options))


def test_nauc_by_hand():
    # Trapezoids 0.3, 0.5, 0.7 over three rounds.
    assert nauc([0.2, 0.4, 0.6, 0.8]) == pytest.approx(0.5)
    # A step in the middle counts more than one at the end.
    assert nauc([0, 1, 1]) == pytest.approx(0.75)
    assert nauc([0, 0, 1]) == pytest.approx(0.25)
    assert nauc([0.7] * 11) == pytest.approx(0.7)
    with pytest.raises(InputError, match="at least 2 rounds, got 1"):
        nauc([0.5])


def test_acquire_takes_the_highest_and_breaks_ties_by_chance():
    values = [0.0, 3.0, 1.0, 1.0, 1.0, 2.0]
    taken = [acquire(values, 3, np.random.default_rng(seed)) for seed in range(300)]
    assert all({1, 5} < set(rows.tolist()) for rows in taken)
    third = np.bincount([rows[2] for rows in taken], minlength=6)
    assert third[[0, 1, 5]].sum() == 0
    assert third[2:5].min() > 70  # a third of 300 each, to 3.7 standard deviations
    with pytest.raises(InputError, match="n must be from 1 to 6, got 7"):
        acquire(values, 7, np.random.default_rng(0))


@pytest.mark.parametrize("method", SOME)
def test_every_method_and_acquisition_runs(data, method):
    rows = learn(data, method, seeds=(0, 3), acquisitions=ACQUISITIONS)
    assert [(row.acquisition, row.seed) for row in rows] == [
        (acquisition, seed) for acquisition in ACQUISITIONS for seed in (0, 3)
    ]
    for row in rows:
        assert (row.data, row.method, row.loss) == ("made", method, "log")
        assert row.n_labelled == (20, 30, 40)
        assert len(row.accuracy) == len(row.log_loss) == 3
        assert 0 < min(row.accuracy) <= max(row.accuracy) <= 1
        assert row.nauc == nauc(row.accuracy)
        record = row.to_dict()
        assert record["nauc"] == row.nauc
        assert record["accuracy"] == list(row.accuracy)
    # Runs of a seed start alike, and part.
    assert len({(row.seed, row.accuracy[0], row.log_loss[0]) for row in rows}) == 2
    assert len({row.log_loss for row in rows}) == len(rows)


@pytest.mark.parametrize("method", SOME)
def test_a_run_does_not_depend_on_what_runs_beside_it(data, method):
    together = learn(data, method, seeds=(0, 1, 2), acquisitions=("total", "epistemic", "oracle"))
    alone = learn(data, method, seeds=(1,), acquisitions=("epistemic",))[0]
    same = next(row for row in together if (row.acquisition, row.seed) == ("epistemic", 1))
    np.testing.assert_allclose(same.log_loss, alone.log_loss, rtol=1e-4)
    np.testing.assert_allclose(same.accuracy, alone.accuracy, atol=1e-9)


def test_the_model_of_a_round_is_tested_against_the_truth(data, monkeypatch):
    """Accuracy and log loss are those of the model that was trained on what is labelled."""
    fits = spy(monkeypatch)
    row = learn(data, acquisitions=("total",))[0]
    test = data.part("test")
    assert [len(train) for train, _ in fits] == [20, 30, 40]
    for number, (_, model) in enumerate(fits):
        belief = model.predict(test.inputs)
        assert row.accuracy[number] == pytest.approx(correctness(test.truth(), belief).mean())
        mean = belief.mean()
        expected = -(test.annotations.probs * np.log(mean)).sum(axis=1).mean()
        assert row.log_loss[number] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("acquisition", ["total", "aleatoric", "epistemic", "oracle"])
def test_the_highest_scores_are_labelled_next(data, monkeypatch, acquisition):
    fits = spy(monkeypatch)
    learn(data, "ensemble", acquisitions=(acquisition,), loss="brier")
    for (before, model), (after, _) in pairwise(fits):
        rest = np.setdiff1d(data.train, before)
        belief = model.predict(data.inputs[rest])
        if acquisition == "oracle":
            truth = rue.Annotations.from_probs(data.annotations.probs[rest])
            values = rue.realize(truth, belief, "brier").epistemic
        else:
            values = getattr(rue.decompose(belief, "brier"), acquisition)
        best = rest[np.argsort(-values)[:10]]
        assert set(after.tolist()) == set(before.tolist()) | set(best.tolist())


def test_random_asks_at_random(data, monkeypatch):
    fits = spy(monkeypatch)
    learn(data, seeds=range(30), acquisitions=("random",), n_rounds=1)
    labelled = [train for train, _ in fits]
    asked = [np.setdiff1d(b, a) for a, b in zip(labelled[:30], labelled[30:], strict=True)]
    assert all(len(rows) == 10 for rows in asked)
    assert len({tuple(rows) for rows in asked}) == 30
    assert abs(np.concatenate(asked).mean() - 99.5) < 4 * 57.7 / np.sqrt(300)


def test_labels_that_were_not_asked_for_are_not_looked_at(data, monkeypatch):
    """Other labels for what is not labelled in the end leave the run as it was."""
    fits = spy(monkeypatch)
    before = learn(data, acquisitions=("epistemic",))[0]
    labels = data.labels.copy()
    unused = np.setdiff1d(data.train, fits[-1][0])
    labels[unused] = (labels[unused] + 1) % 3
    after = learn(dataclasses.replace(data, labels=labels), acquisitions=("epistemic",))[0]
    assert after == before


def test_single_labels_are_the_oracles_truth(data, monkeypatch):
    """Without p* the label is the truth, so the oracle ranks by the loss itself."""
    single = dataclasses.replace(data, annotations=None, annotated=np.zeros(0, int))
    fits = spy(monkeypatch)
    learn(single, acquisitions=("oracle",), n_rounds=1)
    (before, model), (after, _) = fits
    rest = np.setdiff1d(data.train, before)
    loss = -np.log(model.predict(data.inputs[rest]).mean()[np.arange(len(rest)), data.labels[rest]])
    assert set(np.setdiff1d(after, before)) == set(rest[np.argsort(-loss)[:10]])


def test_more_labels_help(data):
    rows = run(
        data,
        "dropout",
        range(4),
        acquisitions=("random",),
        n_initial=10,
        n_batch=70,
        n_rounds=2,
        config=config("dropout", 40),
    )
    start, end = (np.mean([row.accuracy[place] for row in rows]) for place in (0, -1))
    assert end > start + 0.05


def test_one_data_set_for_each_seed(data):
    other = dataclasses.replace(data, train=data.train[20:], name="other")
    pair = learn((data, other), seeds=(0, 1), acquisitions=("total",))
    assert pair[1].data == "other"
    assert pair[1] == learn(other, seeds=(1,), acquisitions=("total",))[0]
    with pytest.raises(ShapeError, match="each of 2 seeds, got 1"):
        learn([data], seeds=(0, 1))


def test_bad_input_is_refused(data):
    with pytest.raises(
        InputError, match=r"method must be one of dropout, evidential, .*, got 'tree'"
    ):
        run(data, "tree")
    with pytest.raises(InputError, match=r"acquisition must be one of total, .*, got 'bald'"):
        learn(data, acquisitions=("bald",))
    with pytest.raises(InputError, match="seeds must be a non-empty list of whole numbers without"):
        learn(data, seeds=(1, 1))
    with pytest.raises(InputError, match="acquisitions must be a non-empty list without"):
        learn(data, acquisitions=())
    with pytest.raises(InputError, match="n_batch must be a whole number of at least 1, got 0"):
        learn(data, n_batch=0)
    with pytest.raises(InputError, match=r"more than the 3,000 points .* of made has 200"):
        run(data, "dropout")
    with pytest.raises(InputError, match="made has no test points"):
        learn(dataclasses.replace(data, test=data.test[:0]))
    images = data_set(np.zeros((60, 4, 4, 1), np.uint8), np.full((60, 2), 0.5), n_train=50)
    with pytest.raises(InputError, match="needs a matrix of features, made has none"):
        learn(images)
    texts = dataclasses.replace(data, task="text")
    with pytest.raises(InputError, match="featurize first"):
        learn(texts)


def spy(monkeypatch):
    """Note the training rows and the model of each fit, and change nothing."""
    fits = []
    original = Learner.fit

    def fit(learner, data, *args, **options):
        fitted = original(learner, data, *args, **options)
        fits.extend((one.train, model) for one, model in zip(data, fitted, strict=True))
        return fitted

    monkeypatch.setattr(Learner, "fit", fit)
    return fits


def test_the_budgets_of_table_5():
    letter, rbf = BUDGETS["openml-6"], BUDGETS["openml-156"]
    assert (letter.start, letter.step, letter.rounds, letter.runs) == (1000, 1000, 10, 10)
    assert (rbf.start, rbf.step, rbf.rounds, rbf.runs) == (100, 100, 10, 10)
    assert letter.n_labelled == 11_000
    assert rbf.n_labelled == 1_100


def test_a_table_is_a_budget():
    assert get_budget({"start": 3, "step": 2, "rounds": 4}) == Budget(start=3, step=2, rounds=4)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("openml-7", "active_learning must be of openml-6, openml-156 or a table, got 'openml-7'"),
        (5, "active_learning must be a name .* or a table with start, step, rounds, runs, got 5"),
        ({"start": 1}, "the field active_learning.step is missing"),
        ({"start": 1, "step": 1, "stop": 1}, "stop is no known field: must be one of start, step"),
        ({"start": 0, "step": 1}, r"active_learning\.start must be .* got 0"),
        ({"start": 1, "step": 2.5}, r"active_learning\.step must be .* got 2.5"),
    ],
)
def test_invalid_budgets_raise(value, message):
    with pytest.raises(InputError, match=message):
        get_budget(value)

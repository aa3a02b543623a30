"""docs/chaosnli.md shows what docs/rows/chaosnli.json measured, and claims no more."""

import numpy as np
import pytest

from rue import evaluate
from rue.errors import FileError
from studies import chaosnli
from studies.rows import read_rows


@pytest.fixture(scope="module")
def rows():
    return read_rows("chaosnli")


@pytest.fixture(scope="module")
def loaded():
    try:
        return chaosnli.load(chaosnli.MODELS[0])
    except FileError as error:
        pytest.skip(str(error))


def chosen(rows, **wanted):
    return [row for row in rows if wanted.items() <= row.items()]


def test_the_verdict_is_true(rows):
    for row in chosen(rows["verdict"], belief="published", loss="log"):
        assert 1 < row["epistemic_low"] < row["epistemic"]
        assert row["total"] > row["epistemic"]
    for row in chosen(rows["verdict"], belief="published", loss="zero_one"):
        assert row["epistemic"] < row["epistemic_high"] < 1
        assert row["total"] < row["epistemic"]


def test_the_reason_is_true(rows):
    for model in chaosnli.titles(rows):
        log = chosen(rows["why"], model=model, loss="log")
        every, items, answers, least, middle, most = (row["epistemic"] for row in log)
        assert every < 0.6 < 0.8 < items < 1 < answers
        assert least < middle < most
        (row,) = chosen(rows["mechanism"], model=model)
        parts = [row[name] for name in ("least", "middle", "most")]
        regrets = [part["regret"] for part in parts]
        estimates = [part["epistemic"] for part in parts]
        assert regrets == sorted(regrets)
        assert estimates == sorted(estimates, reverse=True)


def test_what_is_said_of_temperatures_is_true(rows):
    for row in rows["temperature"]:
        assert all(1 < value < 1.15 for value in row["labels"].values())
        assert all(2 < value < 4 for value in row["answers"].values())
        model = row["model"]
        (labels,) = chosen(rows["verdict"], model=model, loss="log", belief="labels")
        (answers,) = chosen(rows["verdict"], model=model, loss="log", belief="answers")
        assert labels["epistemic_low"] > 1 > answers["epistemic_high"]
        (sure,) = chosen(rows["confidence"], model=model, belief="answers")
        assert sure["confidence"] == pytest.approx(sure["share"], abs=0.03)
        (sure,) = chosen(rows["confidence"], model=model, belief="published")
        assert sure["confidence"] > sure["share"] + 0.15
        zero_one = chosen(rows["verdict"], model=model, loss="zero_one")
        values = [found["epistemic"] for found in zero_one]
        assert max(values) - min(values) < 0.04


def test_real_rows_are_reproduced(rows, loaded):
    _, truth, items, whole = loaded
    assert (len(items.ids), items.logits.shape) == (1514, (1514, 3, 3))
    row = evaluate(truth, chaosnli.draws(items), "log", gap=False)
    assert row.n_aurec == pytest.approx(1.221, abs=5e-4)  # the value we were given
    (known,) = chosen(
        rows["verdict"], model=chaosnli.MODELS[0].title, loss="log", belief="published"
    )
    assert row.n_aurec == pytest.approx(known["epistemic"], rel=1e-9)
    answers, labels = chaosnli.temperatures(truth, items, whole)
    assert answers == pytest.approx(rows["temperature"][0]["answers"], rel=1e-4)
    assert labels == pytest.approx(rows["temperature"][0]["labels"], rel=1e-4)


def test_a_temperature_is_found_again():
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3, size=(500, 1, 3))
    hot = np.exp(logits[:, 0] / 2.5)
    found = chaosnli.fit_temperature(logits, hot / hot.sum(axis=1, keepdims=True))
    assert found == pytest.approx(2.5, rel=1e-4)

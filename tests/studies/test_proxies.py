"""docs/proxies.md shows what its rows in docs/rows/ measured."""

import numpy as np
import pytest

from studies import proxies
from studies.rows import read_rows


@pytest.fixture(scope="module")
def records():
    return {(job["data"], job["method"]): job for job in read_rows("proxies")["jobs"]}


@pytest.mark.parametrize("data", ["letter", "random-rbf"])
def test_every_method_was_run_with_three_seeds_and_all_acquisitions(records, data):
    for method in proxies.METHODS:
        record = records[data, method]
        runs = {(row["acquisition"], row["seed"]) for row in record["rows"]}
        assert runs == {(a, s) for a in proxies.ACQUISITIONS for s in range(3)}
        for row in record["rows"]:
            assert row["n_labelled"] == list(range(500, 3001, 250))
            assert len(row["accuracy"]) == len(row["log_loss"]) == 11
            assert row["nauc"] == pytest.approx(
                (sum(row["accuracy"]) - (row["accuracy"][0] + row["accuracy"][-1]) / 2) / 10
            )


def by_seed(records, data):
    """NAUC and accuracies of each method and acquisition, a seed a row."""
    nauc, accuracy = {}, {}
    for method in proxies.METHODS:
        for row in records[data, method]["rows"]:
            nauc.setdefault((method, row["acquisition"]), []).append(row["nauc"])
            accuracy.setdefault((method, row["acquisition"]), []).append(row["accuracy"])
    return (*({key: np.array(rows) for key, rows in part.items()} for part in (nauc, accuracy)),)


def test_the_text_about_letter_is_true(records):
    nauc, accuracy = by_seed(records, "letter")
    for method in proxies.METHODS:
        for acquisition in ("epistemic", "total"):
            assert (nauc[method, acquisition] < nauc[method, "random"]).all()
        ahead = nauc[method, "epistemic"].mean() - nauc[method, "total"].mean()
        assert round(ahead, 3) == 0.003 if method == "ensemble" else ahead < 0
        gain = (accuracy[method, "oracle"] - accuracy[method, "random"]).mean(axis=0)
        assert gain[1] < 0
        assert (gain[-1] > 0) == (method != "evidential")
    assert lasts(nauc) == {"evidential"}


def test_the_text_about_random_rbf_is_true(records):
    nauc, _ = by_seed(records, "random-rbf")
    for method in proxies.METHODS:
        assert nauc[method, "oracle"].mean() > nauc[method, "random"].mean()
        assert (nauc[method, "epistemic"] < nauc[method, "random"]).all()
        apart = nauc[method, "total"].mean() - nauc[method, "random"].mean()
        assert apart < -0.01 if method in ("evidential", "ddu") else abs(apart) < 0.002
    assert lasts(nauc) == {"evidential"}


def lasts(nauc):
    """The methods that are last with some acquisition."""
    return {
        min(proxies.METHODS, key=lambda method, a=a: nauc[method, a].mean())
        for a in proxies.ACQUISITIONS
    }

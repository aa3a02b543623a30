"""docs/ratings.md shows answers as classes beside the same answers as real numbers."""

import numpy as np
import pytest

from made import data_set
from rue import Ratings
from studies import answer_scales
from studies.rows import read_rows


@pytest.fixture(scope="module")
def rows():
    return read_rows("answer-scales")["rows"]


def test_both_forms_have_every_seed(rows):
    keys = {(r["dataset"], r["regime"], r["loss"], r["method"]) for r in rows}
    for name, regime, loss, method in keys:
        same = {"dataset": name, "regime": regime, "loss": loss, "method": method}
        for form in answer_scales.FORMS:
            part = [r for r in rows if r.items() >= {**same, "form": form}.items()]
            assert sorted(r["seed"] for r in part) == list(answer_scales.SEEDS[name])


def test_bins_are_of_equal_width():
    """-50 to 50 in five bins: -50 and -30.1 are in the first, -30 in the second, 50 in the last."""
    import dataclasses

    data = data_set(np.zeros((2, 1), np.float32), np.full((2, 2), 0.5), n_train=1)
    ratings = Ratings([[-50.0, -30.1, -30.0, 0.0], [50.0, 29.9]], range=(-50, 50))
    data = dataclasses.replace(
        data, ratings=ratings, annotations=None, labels=None, class_names=(), values=np.zeros(0)
    )
    binned = answer_scales.binned(data)
    assert binned.annotations.counts.tolist() == [[2, 1, 1, 0, 0], [0, 0, 0, 1, 1]]
    assert binned.values.tolist() == [-40.0, -20.0, 0.0, 20.0, 40.0]

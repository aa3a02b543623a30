"""The page of others' networks: its tables are those of its rows, its words follow from them."""

import numpy as np
import pytest

from studies import others
from studies.rows import read_rows


def test_what_the_first_paragraph_says_follows_from_the_rows():
    record = read_rows("others")
    regret = {
        (row["model"], row["loss"], row["fitted"]): row["regret"][0]
        for row in record["rows"]
        if row["data"] == "CIFAR-10H"
    }
    ratio = regret["DenseNet-BC-190", "log", False] / regret["HMC", "log", False]
    assert round(ratio, 1) == 1.6
    ends = {(r["model"], r["loss"], r["fitted"]): r["difference"] for r in record["pairs"]}
    for network in ("DenseNet-BC-190", "PreResNet-110", "ResNet-110"):
        assert ends[network, "log", False][1] > 0
        assert all(ends[network, loss, True][2] < 0 for loss in others.LOSSES)
    assert all(ends["smaller network", loss, True][1] > 0 for loss in others.LOSSES)


def test_a_temperature_is_fitted_on_the_other_half(rng):
    """Even rows were sharpened by 2 and odd ones by 3, so each half gets the other's."""
    star = rng.dirichlet(np.ones(3), 400)
    probs = star[:, None].copy()
    probs[0::2] = others.sharpened(probs[0::2], 1 / 2)
    probs[1::2] = others.sharpened(probs[1::2], 1 / 3)
    assert others.temperatures(probs, star) == pytest.approx([3.0, 2.0], rel=1e-3)

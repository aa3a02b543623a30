"""docs/replicates.md shows what learning from replicates gains, as it was measured."""

import numpy as np
import pytest

from studies import replicates
from studies.rows import read_rows

HEADS = ("dirichlet_multinomial", "pairs")


@pytest.fixture(scope="module")
def rows():
    return read_rows("replicates")


def test_the_world_is_as_it_says():
    """In a group of strength s and mean m the mean of |p - m|^2 is (1 - sum m^2) / (s + 1)."""
    data, kind = replicates.world(0)
    n_groups = replicates.GROUPS * len(replicates.KINDS)
    assert len(data.train) == replicates.GROUPS * sum(replicates.N_TRAIN)
    probs = data.part("test").extras["probs"].reshape(replicates.N_TEST, n_groups, -1)
    kind = kind[:n_groups]
    varied = probs.var(axis=0, ddof=1).sum(axis=1)
    # the sum of squares of an estimated mean is too high by the variance / n
    squares = (probs.mean(axis=0) ** 2).sum(axis=1) - varied / replicates.N_TEST
    ratio = varied / ((1 - squares) / (np.array(replicates.STRENGTHS)[kind] + 1))
    for k in range(len(replicates.KINDS)):
        assert 0.85 < ratio[kind == k].mean() < 1.15


def test_disagreement_counts_where_there_are_few_points(rows):
    for method in HEADS:
        part = [row for row in rows["world"] if row["method"] == method]
        more = np.mean([np.subtract(row["epistemic"], row["members"]) for row in part], axis=0)
        same_many, same_few, varied_many, varied_few = more
        assert same_few > same_many
        assert varied_few > varied_many > 0
        assert all(row["n_aurec"] < 0.5 < row["n_aurec_total"] for row in part)
    others = [row for row in rows["world"] if row["method"] not in HEADS]
    assert all(row["n_aurec"] > 0.6 for row in others)


def test_only_the_heads_rank_better_by_epistemic_on_both_data_sets(rows):
    def better(keys, method, name):
        part = [r for r in rows["ranking"] if (r["method"], r["dataset"]) == (method, name)]
        assert len(part) == 5
        return replicates.n_better(part, *keys)

    methods = dict.fromkeys(row["method"] for row in rows["ranking"])
    ferplus, movies = replicates.DATA_SETS
    both = [
        method
        for method in methods
        if all(better(replicates.BRIER, method, name) == 5 for name in replicates.DATA_SETS)
    ]
    assert both == list(HEADS)
    assert all(better(replicates.LOG, method, ferplus) == 5 for method in HEADS)
    assert not any(better(replicates.LOG, method, movies) == 5 for method in methods)

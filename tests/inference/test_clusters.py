"""Clusters: intervals, comparisons and promises where points belong together."""

import math

import numpy as np
import pytest

from rue import Components, Run, fit_selector
from rue.errors import InputError
from rue.inference.bootstrap import replicates
from rue.inference.comparison import compare
from rue.inference.intervals import AREAS, intervals
from rue.metrics.clusters import cluster_codes, number_clusters
from rue.metrics.evaluation import evaluate_run


def clustered(rng, n_clusters=40, size=8, shared=0.9):
    """Return a run whose points share most of their regret with their cluster, and the labels."""
    label = np.repeat(np.arange(n_clusters), size)
    common, own = rng.gamma(1.0, size=n_clusters)[label], rng.gamma(1.0, size=len(label))
    regret = shared * common + (1 - shared) * own
    total = regret + rng.random(len(label))
    score = regret * rng.lognormal(0, 0.5, len(label))
    zero = rng.random(len(label))
    return Run(
        Components(total, total - regret, regret),
        Components(score + zero, zero, score),
        groups={"patient": np.array([f"p{i}" for i in label])},
        method="a",
    )


def test_a_replicate_is_the_evaluation_of_the_clusters_drawn(rng):
    from rue._kernels.bootstrap import draw
    from rue.inference.bootstrap import _key, own_order

    run = clustered(rng, 12, 5)
    found = replicates(run, n_replicates=4, cluster="patient", seed=3)
    codes = cluster_codes(run, "patient")
    rows = own_order([run], codes)
    clusters = number_clusters(codes[rows])
    for b in range(4):
        drawn = np.empty(12, np.uint8)
        draw(_key(3), b, drawn)
        copies = rows[
            np.concatenate(
                [np.flatnonzero(clusters == c) for c in range(12) for _ in range(drawn[c])]
            )
        ]
        expected = evaluate_run(run[copies], gap=False)
        for name in ("aurec", "n_aurec", "aurc", "risk", "spearman_star", "regret_calibration"):
            assert found[name][b] == pytest.approx(getattr(expected, name), rel=1e-9), name


def test_clusters_of_one_point_are_points(rng):
    run = clustered(rng, 30, 2)
    points = intervals(run, n_replicates=300)
    alone = intervals(run, n_replicates=300, cluster=np.arange(60))
    # The same points in another numbering: the same distribution, other samples.
    assert alone.estimate == pytest.approx(points.estimate, rel=0, abs=0, nan_ok=True)
    width = [found.high["aurec"] - found.low["aurec"] for found in (alone, points)]
    assert width[0] == pytest.approx(width[1], rel=0.2)


def test_hand_value_two_clusters(rng):
    """Two clusters of equal points: a sample has the first twice, both, or the second twice.

    The mean regret is then 1, 2 or 3 with probabilities 1/4, 1/2, 1/4, so its variance is 1/2.
    """
    regret = np.repeat([1.0, 3.0], 10)
    star = Components(regret, np.zeros(20), regret)
    drawn = replicates(
        Run(star, star), n_replicates=2_000, cluster=np.repeat(["a", "b"], 10), columns=AREAS
    )["regret"]
    assert set(np.round(drawn, 12)) == {1.0, 2.0, 3.0}
    assert drawn.var() == pytest.approx(0.5, abs=0.05)


def test_intervals_do_not_depend_on_rows_or_names(rng):
    run = clustered(rng)
    rows = rng.permutation(len(run))
    one = intervals(run, cluster="patient", n_replicates=100)
    other = intervals(run[rows], cluster="patient", n_replicates=100)
    assert one.low == pytest.approx(other.low, nan_ok=True)
    assert one.high == pytest.approx(other.high, nan_ok=True)


def test_correlated_points_have_wider_intervals(rng):
    run = clustered(rng)
    wide, narrow = (
        intervals(run, gap=False, n_replicates=300, cluster=cluster)
        for cluster in ("patient", None)
    )
    for name in ("regret", "aurec"):
        ratio = (wide.high[name] - wide.low[name]) / (narrow.high[name] - narrow.low[name])
        assert ratio > 1.7  # about the square root of the 8 points of a cluster, 2.8


def test_intervals_contain_the_truth(rng):
    """Nominally 90 % of the intervals contain the mean regret, which is 1; by points about half."""
    held = {"patient": 0, None: 0}
    for _ in range(100):
        run = clustered(rng)
        for cluster in held:
            found = intervals(
                run, gap=False, level=0.9, n_replicates=200, cluster=cluster, method="percentile"
            )
            held[cluster] += found.low["regret"] <= 1.0 <= found.high["regret"]
    assert held["patient"] >= 80
    assert held[None] <= 70


def test_comparison_over_clusters(rng):
    run = clustered(rng)
    noise = rng.lognormal(0, 1.0, len(run))
    hat = Components(run.hat.total * noise, run.hat.aleatoric * noise, run.hat.epistemic * noise)
    other = Run(run.star, hat, method="b")
    options = {"criteria": ["aurec", "pareto_gap"], "n_replicates": 100}
    found = compare([run, other], cluster="patient", **options)
    plain = compare([run, other], **options)
    for criterion in options["criteria"]:
        assert found[criterion].estimate == plain[criterion].estimate
        assert found[criterion].low != plain[criterion].low


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ("ward", "cluster must be a column of the points, got 'ward'; there are patient"),
        (np.zeros(320), "at least 2 clusters, got 1"),
        (np.zeros(3), "one label for each of 320 points"),
        (np.append(np.arange(319.0), np.nan), "missing value at row 319"),
        (np.array([*"ab" * 159, None, None], object), "missing value at row 318"),
        (np.array([*"ab" * 159, "b", math.nan], object), "missing value at row 319"),
        (np.array([*"ab" * 159, "", ""]), "missing value at row 318"),
    ],
)
def test_bad_clusters(rng, cluster, message):
    with pytest.raises(InputError, match=message):
        intervals(clustered(rng), cluster=cluster, gap=False)


def test_clusters_without_a_promise(rng):
    run = clustered(rng)
    with pytest.raises(InputError, match="cluster is used only with delta"):
        fit_selector(run.star, run.hat, maximize="coverage", risk_max=1.0, cluster=np.arange(320))

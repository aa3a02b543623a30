"""The optimal and the achievable surface: by hand, against the naive twin, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_pareto
from pareto_worlds import KINDS, components, continuous, gridded, pair, tied
from rue import Components, achievable_surface, optimal_surface, realize
from rue.truth.annotations import Annotations


def front(points):
    """The points that no other of the same coverage is at least as good as, duplicates once."""
    kept = [
        p
        for p in points
        if not any(
            q[0] == p[0] and q[1] <= p[1] and q[2] <= p[2] and (q[1], q[2]) != (p[1], p[2])
            for q in points
        )
    ]
    return np.array(sorted(set(kept)))


def test_optimal_by_hand():
    # (aleatoric, epistemic): lambda = 1/2 ranks by the total, 0.2 | 0.4, 0.4 | 0.8; of the two
    # of 0.4 the one without regret goes first, although 0.1 + 0.3 and 0.4 differ as floats.
    # lambda = 1 ranks by regret, 0 | 0.2 | 0.3 | 0.7; lambda = 3/4 by 0.1, 0.15, 0.25, 0.55.
    star = components([0.1, 0.4, 0.0, 0.1], [0.3, 0.0, 0.2, 0.7])
    surface = optimal_surface(star, lambdas=3)
    risk = [[0, 0.2, 0.6, 1.0, 1.8], [0, 0.4, 0.6, 1.0, 1.8], [0, 0.4, 0.6, 1.0, 1.8]]
    regret = [[0, 0.2, 0.2, 0.5, 1.2], [0, 0, 0.2, 0.5, 1.2], [0, 0, 0.2, 0.5, 1.2]]
    assert surface.coverage == pytest.approx(np.tile([0, 0.25, 0.5, 0.75, 1], 3))
    assert surface.risk == pytest.approx(np.ravel(risk) / 4)
    assert surface.regret == pytest.approx(np.ravel(regret) / 4)
    assert surface.lam.tolist() == [0.5] * 5 + [0.75] * 5 + [1.0] * 5
    assert surface.weights.sum(axis=1).tolist() == [1.0] * 15
    assert len(surface) == 15


def test_ties_of_the_regret_go_by_the_lower_aleatoric():
    star = components([0.5, 0.1, 0.3], [0.2, 0.2, 0.2])
    last = optimal_surface(star, lambdas=2).points[-4:]
    assert last[:, 1] == pytest.approx(np.array([0, 0.3, 0.8, 1.5]) / 3)


def test_a_block_of_the_optimal_surface_is_straight():
    # Totals that differ for equal components cannot be ranked, so their mean is what one gets.
    star = Components([1.0, 3.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0])
    assert optimal_surface(star, lambdas=2).risk[:4] == pytest.approx([0, 0, 2 / 3, 4 / 3])


def test_achievable_by_hand():
    # Three points on a line, the middle one twice: the two rankings are 0 | 1, 2 | 3 and back.
    star = components([0.0, 0.0, 0.0, 0.0], [0.0, 0.4, 0.8, 0.4])
    hat = components([0, 1, 1, 2], [0, 3, 3, 6])
    surface = achievable_surface(star, hat)
    # Forwards the regret is 0, 0.6, 1.2, 1.6; backwards 0.4, 1.0, 1.6, 1.6: worse everywhere.
    assert surface.points == pytest.approx(
        np.column_stack([np.arange(5) / 4, *[np.array([0, 0, 0.6, 1.2, 1.6]) / 4] * 2])
    )


@settings(max_examples=60, deadline=None)
@given(tied)
def test_achievable_equals_the_naive_twins_front(rows):
    star, hat = pair(rows)
    everything = naive_pareto.achievable(star.total, star.epistemic, hat.aleatoric, hat.epistemic)
    naive = front([tuple(p) for p in np.round(everything, 10) + 0.0])
    ours = front([tuple(p) for p in np.round(achievable_surface(star, hat).points, 10) + 0.0])
    assert ours == pytest.approx(naive, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(tied)
def test_optimal_equals_the_naive_twin(rows):
    star, _ = pair(rows)
    naive = naive_pareto.optimal(star.total, star.aleatoric, star.epistemic, 11)
    assert optimal_surface(star, lambdas=11).points == pytest.approx(naive, abs=1e-12)


@pytest.mark.parametrize("n", [1000, 1001, 1007, 2500])
def test_many_points_are_cut_at_1001_coverages(n):
    star, _ = gridded(n)
    surface = optimal_surface(star, lambdas=2)
    k = np.rint(surface.coverage[: len(surface) // 2] * n).astype(int)
    if n == 1000:
        assert k.tolist() == list(range(1001))
    else:
        assert k.tolist() == [int(np.floor(j * n / 1000 + 0.5)) for j in range(1001)]
    order = np.lexsort((star.epistemic, np.round(star.total, 9)))
    regret = np.append(0, np.cumsum(star.epistemic[order]))[k] / n
    assert surface.regret[: len(k)] == pytest.approx(regret, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directions", ["exact", 720, 9, 1])
def test_weights_attain_the_points(kind, directions):
    star, hat = KINDS[kind](130)
    surface = achievable_surface(star, hat, directions=directions)
    assert np.hypot(*surface.weights.T) == pytest.approx(1)
    n = len(star)
    for row in range(0, len(surface), 97):
        score = surface.weights[row] @ [hat.aleatoric, hat.epistemic]
        k = round(surface.coverage[row] * n)
        order = np.argsort(score)
        if 0 < k < n and score[order[k]] - score[order[k - 1]] < 1e-12:
            continue  # ends within a block
        assert surface.risk[row] == pytest.approx(star.total[order[:k]].sum() / n)
        assert surface.regret[row] == pytest.approx(star.epistemic[order[:k]].sum() / n)


@pytest.mark.parametrize(("sign", "constant"), [(1, False), (-1, False), (1, True)])
def test_weights_have_the_estimates_own_units(sign, constant):
    star = components([0.0, 0.0, 0.0], [0.0, 0.1, 0.9])
    epistemic = [5, 5, 5] if constant else [7e-6, 2e-6, 9e-6]
    hat = components(sign * np.array([3e5, 4e5, 9e5]), epistemic)
    surface = achievable_surface(star, hat)
    best = np.isclose(surface.coverage, 2 / 3)
    score = surface.weights[best][0] @ [hat.aleatoric, hat.epistemic]
    assert np.argmax(score) == 2
    if constant:
        assert surface.weights[best].tolist() == [[sign, 0]]


def test_nothing_to_rank_by():
    star, _ = continuous(10)
    surface = achievable_surface(star, components(np.ones(10), np.zeros(10)))
    full = np.array([1, star.total.mean(), star.epistemic.mean()])
    assert surface.points == pytest.approx(np.outer(np.arange(11) / 10, full))
    assert not surface.weights.any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directions", ["exact", 720])
def test_no_point_is_dominated_at_its_coverage(kind, directions):
    star, hat = KINDS[kind](200)
    surface = achievable_surface(star, hat, directions=directions)
    same = np.diff(surface.coverage) == 0
    assert same.any()
    assert (np.diff(surface.coverage) >= 0).all()
    assert (np.diff(surface.risk)[same] > 0).all()
    assert (np.diff(surface.regret)[same] < 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_directions_find_nothing_that_all_directions_do_not(kind):
    star, hat = KINDS[kind](150)
    some, every = (achievable_surface(star, hat, directions=d) for d in (60, "exact"))
    for coverage, risk, regret in some.points:
        level = every.points[every.coverage == coverage]
        assert ((level[:, 1] <= risk + 1e-12) & (level[:, 2] <= regret + 1e-12)).any()


def test_few_distinct_angles_are_all_taken():
    # A grid of 2 x 3 points has 9 critical angles; with 20 directions all arcs are there.
    hat = components(np.tile([0, 1], 300), np.repeat([0, 1, 2], 200))
    star, _ = continuous(600)
    some, every = (achievable_surface(star, hat, directions=d) for d in (20, "exact"))
    assert some.points == pytest.approx(every.points, abs=1e-12)


@given(st.integers(1, 9), st.integers(0, 1000))
def test_full_coverage_is_everything(n, seed):
    star, hat = continuous(n, seed)
    for surface in (optimal_surface(star, lambdas=2), achievable_surface(star, hat)):
        assert surface.points[0] == pytest.approx([0, 0, 0])
        full = [1, star.total.mean(), star.epistemic.mean()]
        assert surface.points[-1] == pytest.approx(full)


def test_rounding_does_not_rank():
    # 2/51 + 3/51 and 5/51 are the same total, but not after rounding to 1e-12; the first has
    # regret and must come second.
    counts = [[46, 0, 5], [46, 5, 0], [24, 3 + 22, 2]]
    star = realize(Annotations(np.array(counts)), None, "zero_one", actions=[0, 0, 0])
    shares = components([2 / 51, 5 / 51], [3 / 51, 0.0])
    rounded = components(np.round(shares.aleatoric, 12), np.round(shares.epistemic, 12))
    assert rounded.total[0] != rounded.total[1]
    assert optimal_surface(rounded, lambdas=2).regret[1] == 0
    assert optimal_surface(star, lambdas=2).regret[1] == 0


def test_equal_totals_are_equal_where_they_are_small():
    # Two of nine values apart at most, so the components are far below the loss's scale.
    counts = np.zeros((2, 9), int)
    counts[0, :2], counts[1, :2] = (49, 2), (47, 4)
    star = realize(Annotations(counts), None, "absolute", actions=[3 / 47, 1 / 43])
    assert star.total[0] == star.total[1]
    first = optimal_surface(star, lambdas=2).points[1, 2] * 2
    assert first == star.epistemic.min()


# Two lines that rounding has bent; some of their points are one unit of the grid beside others.
BENT = [
    *[(0, 0), (5431, 38175), (29489374, 207264666), (29489374, 207264667)],
    *[(34213391, 240467203), (142278826599, 1000000000000)],
    *[(600644680556, 188330144252), (600644680556, 188330144254), (600644680557, 188330144253)],
    *[(600644859261, 188330144881), (600652694254, 188330172416), (600652694255, 188330172415)],
    *[(600652694256, 188330172416), (665042921028, 188556454246), (737573461118, 188811342980)],
    *[(737573461118, 188811342981), (890307430150, 189348084718), (1000000000000, 189733569235)],
    (1000000000000, 189733569236),
]


@pytest.mark.parametrize("seed", range(20))
def test_every_prefix_is_one_of_its_directions_ranking_but_for_rounding(seed):
    n = len(BENT)
    star = components(*np.random.default_rng(seed).random((2, n)))
    hat = components(*np.array(BENT).T / 1e12)
    surface = achievable_surface(star, hat)
    for (coverage, risk, _), weights in zip(surface.points, surface.weights, strict=True):
        score = weights @ [hat.aleatoric, hat.epistemic]
        accepted = round(coverage * n)
        if accepted == 0:
            continue
        last = np.sort(score)[accepted - 1]
        surely, maybe = score < last - 1e-11, np.abs(score - last) <= 1e-11
        some = np.sort(star.total[maybe])
        least, most = some[: accepted - surely.sum()], some[::-1][: accepted - surely.sum()]
        assert star.total[surely].sum() + least.sum() <= n * risk + 1e-9
        assert star.total[surely].sum() + most.sum() >= n * risk - 1e-9

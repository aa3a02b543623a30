"""Coverage curves and areas: by hand, against the naive twin, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from rue import (
    accuracy_coverage_curve,
    aurc,
    aurec,
    excess_aurec,
    n_aurec,
    oracle_aurec,
    random_aurec,
    regret_coverage_curve,
    risk_coverage_curve,
)
from rue.errors import InputError, ShapeError
from rue.metrics.measures import areas

points = st.lists(
    st.tuples(st.integers(0, 8).map(lambda i: i / 8), st.integers(0, 4)), min_size=1, max_size=30
)


def test_by_hand():
    # Sorted by score: regrets 0 | 1/2, 1/2 (a tie of 0 and 1) | 1, each a quarter of the points.
    regret, score = [1.0, 1.0, 0.0, 0.0], [3, 2, 2, 1]
    curve = regret_coverage_curve(regret, score)
    assert curve.coverage.tolist() == [0, 0.25, 0.75, 1]
    assert curve.value.tolist() == [0, 0, 0.25, 0.5]
    assert curve.threshold.tolist() == [-np.inf, 1, 2, 3]
    # 0.5 * (0 + 0.25)/2 + 0.25 * (0.25 + 0.5)/2 = 0.0625 + 0.09375
    assert aurec(regret, score) == 0.15625
    # oracle: 0 until 1/2, then a triangle of base 1/2 and height 1/2: 1/8; random: 1/4
    assert oracle_aurec(regret) == 0.125
    assert random_aurec(regret) == 0.25
    assert excess_aurec(regret, score) == 0.03125
    assert n_aurec(regret, score) == 0.25
    # the floor rule: Re at k = 0, 1, 2, 3 is 0, 0, 1/8, 1/4
    assert aurec(regret, score, rule="step") == 0.375 / 4


def test_normalised_by_hand():
    # SRe: 0 until 1/2, then (c - 1/2)/c: 1/2 - log(2)/2; by steps: mean of 0 and 1/2
    assert aurec([0.0, 1.0], [0, 1], normalized=True) == pytest.approx(0.5 - 0.5 * np.log(2))
    assert aurec([0.0, 1.0], [0, 1], normalized=True, rule="step") == 0.25
    curve = risk_coverage_curve([1.0, 0.0], [0, 1], normalized=True)
    assert curve.value.tolist() == [1, 1, 0.5]
    accuracy = accuracy_coverage_curve([True, False], [0, 1], normalized=True)
    assert accuracy.value.tolist() == [1, 1, 0.5]


@given(points)
def test_equals_the_naive_twin(rows):
    regret, score = zip(*rows, strict=True)
    assert aurec(regret, score) == pytest.approx(float(naive.area(regret, score)), abs=1e-14)
    step = float(naive.step_area(regret, score))
    assert aurec(regret, score, rule="step") == pytest.approx(step, abs=1e-14)
    curve = regret_coverage_curve(regret, score)
    corners = naive.curve(regret, score)
    assert curve.coverage == pytest.approx([float(c) for c, _ in corners])
    assert curve.value == pytest.approx([float(h) for _, h in corners])


@given(points)
def test_the_floor_rule_is_smaller_by_half_a_step(rows):
    regret, score = (np.array(x, float) for x in zip(*rows, strict=True))
    half = regret.mean() / (2 * len(regret))
    assert aurec(regret, score) - aurec(regret, score, rule="step") == pytest.approx(half)


@given(points, st.randoms())
def test_row_order_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    for rule in ("exact", "step"):
        for normalized in (False, True):
            before, after = (
                areas(*zip(*r, strict=True), rule=rule, normalized=normalized)
                for r in (rows, shuffled)
            )
            assert before.area == pytest.approx(after.area, abs=1e-12)
            assert before.oracle == pytest.approx(after.oracle, abs=1e-12)


@given(points)
def test_bounds_and_ends(rows):
    regret, score = zip(*rows, strict=True)
    found = areas(regret, score)
    assert found.oracle <= found.area + 1e-15
    assert excess_aurec(regret, regret) == 0
    worst = areas(regret, [-r for r in regret])
    assert found.area <= worst.area + 1e-15
    if len(set(regret)) == 1:
        assert np.isnan(n_aurec(regret, score))
    else:
        assert n_aurec(regret, [7.5] * len(rows)) == 1
        assert n_aurec(regret, [7.5] * len(rows), rule="step") == 1
        assert n_aurec(regret, regret) == 0
        # A perfect and an opposite ranking are symmetric about random.
        assert worst.normalized == pytest.approx(2, abs=1e-9)


@given(points, st.sampled_from([0.5, 3.0, 1e-6, 1e6]))
def test_scale(rows, factor):
    regret, score = (np.array(x, float) for x in zip(*rows, strict=True))
    assert aurec(regret * factor, score) == pytest.approx(factor * aurec(regret, score))
    assert aurec(regret, score * factor - 5) == pytest.approx(aurec(regret, score))


def test_equal_scores_give_exactly_one_at_any_size(rng):
    for n in (3, 7, 10, 1001, 9999):
        assert n_aurec(rng.gamma(0.3, size=n), np.full(n, 0.1)) == 1


@given(points, st.data())
def test_whole_weights_are_copies(rows, data):
    regret, score = zip(*rows, strict=True)
    weight = data.draw(
        st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)).filter(any)
    )
    copies = [r for r, w in zip(rows, weight, strict=True) for _ in range(w)]
    many, scores = zip(*copies, strict=True)
    assert aurec(regret, score, sample_weight=weight) == pytest.approx(aurec(many, scores))
    weighted = regret_coverage_curve(regret, score, sample_weight=weight)
    copied = regret_coverage_curve(many, scores)
    assert weighted.coverage == pytest.approx(copied.coverage)
    assert weighted.value == pytest.approx(copied.value)
    assert aurec(regret, score, sample_weight=weight, normalized=True) == pytest.approx(
        aurec(many, scores, normalized=True)
    )
    ours, theirs = n_aurec(regret, score, sample_weight=weight), n_aurec(many, scores)
    assert ours == pytest.approx(theirs, nan_ok=True)


@given(points)
def test_the_normalised_area_is_the_integral_of_the_quotient(rows):
    regret, score = zip(*rows, strict=True)
    curve = regret_coverage_curve(regret, score)
    c = (np.arange(200_000) + 0.5) / 200_000
    middle = (np.interp(c, curve.coverage, curve.value) / c).mean()
    assert aurec(regret, score, normalized=True) == pytest.approx(middle, abs=1e-4)


def test_generalised_risk_of_a_perfect_ranking_at_error_rate_e():
    # Traub et al. 2024: errors last, so the curve rises over the last share e only: e^2/2.
    wrong = np.repeat([0.0, 1.0], [70, 30])
    assert aurc(wrong, wrong) == pytest.approx(0.3**2 / 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: aurec([], []), "at least one"),
        (lambda: aurec([1.0], [1, 2]), "1 points"),
        (lambda: aurec([[1.0]], [[1]]), "shape"),
        (lambda: aurec([np.nan], [1]), "finite"),
        (lambda: aurec([1.0], [np.nan]), "score must be finite"),
        (lambda: aurec([1.0], [np.inf]), "score must be finite"),
        (lambda: aurec([1.0], [1], sample_weight=[-1]), "negative"),
        (lambda: aurec([1.0], [1], sample_weight=[0]), "not be 0"),
        (lambda: aurec([1.0], [1], rule="floor"), "rule must be"),
        (
            lambda: aurec([1.0], [1], rule="step", sample_weight=[1]),
            "cannot be used with sample_weight",
        ),
        (lambda: regret_coverage_curve(["a"], [1]), "real numbers"),
    ],
)
def test_broken_input_is_refused(make, words):
    with pytest.raises((InputError, ShapeError), match=words):
        make()

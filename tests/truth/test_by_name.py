"""Every entry that takes a truth and a belief matches them by name (DESIGN section 2)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rue
from rue.adapters import sampled_labels
from rue.adapters.accumulator import Accumulator
from rue.errors import AlignmentError, InputError
from rue.proxies import evaluate_proxies

N, NAMES = 30, ("low", "middle", "high", "top")
K = len(NAMES)
RNG = np.random.default_rng(11)
IDS = np.array([f"p{i}" for i in range(N)])
COUNTS = RNG.multinomial(9, RNG.dirichlet(np.ones(K), N))
DRAWS = RNG.dirichlet(np.ones(K), (2, N, 5))
LOSSES = ("log", "brier", "squared", "rps", "pinball:0.8")
ORDERS = st.tuples(*[st.permutations(range(size)) for size in (N, N, K, K)])


def truth_of(rows=slice(None), columns=tuple(range(K))):
    order = rue.Classes([NAMES[k] for k in columns], order="none")
    return rue.Annotations(COUNTS[rows][:, columns], ids=IDS[rows], classes=order)


def belief_of(method=0, rows=slice(None), columns=tuple(range(K)), kind="draws"):
    # The belief states the order of the scale, as a column of ordered categories does.
    stated = rue.Classes(NAMES, order="scale")
    probs = DRAWS[method][rows]
    belief = rue.Draws(probs, ids=IDS[rows], classes=stated, method=f"m{method}")
    if kind == "dirichlet":
        belief = rue.Dirichlet(9 * probs[:, 0], ids=IDS[rows], classes=stated)
    place = np.array(columns)
    return belief._in_columns(place, stated.part(place))


def numbers(result):
    """Return every number in a result, in the order of its keys."""
    if isinstance(result, dict):
        return [x for key in sorted(result) for x in numbers(result[key])]
    if isinstance(result, list | tuple):
        return [x for item in result for x in numbers(item)]
    return [] if isinstance(result, str | bool) or result is None else [float(result)]


def compared(rows, columns, loss):
    runs = [
        rue.Run.from_belief(truth_of(rows[0], columns[0]), belief_of(), loss),
        rue.Run.from_belief(truth_of(), belief_of(1, rows[1], columns[1]), loss),
    ]
    return rue.compare(runs, n_replicates=20, criteria=["aurec", "n_aurec", "aurc"]).to_dict()


def planned(rows, columns, loss):
    runs = [
        rue.Run.from_belief(
            truth_of(rows[0], columns[0]),
            belief_of(method, rows[1], columns[1]),
            loss,
            with_answers=True,
        )
        for method in (0, 1)
    ]
    return rue.plan(runs, annotators=[3, 20], n_subsamples=3).to_dict()


def ruled(rows, columns, loss):
    loss = "brier" if loss == "log" else loss
    selector = rue.DeployableSelector(loss, maximize="coverage", risk_max=0.3, delta=0.2)
    rule = selector.fit(truth_of(rows[0], columns[0]), belief_of(0, rows[1], columns[1])).rule_
    scores = rule.score(belief_of(1, rows[0], columns[0]))
    return [rule.tau, *rule.weights, rule.p_value, *scores[np.argsort(rows[0])]]


def proxied(rows, columns, loss):
    row = evaluate_proxies(
        belief_of(0, rows[1], columns[1]),
        outside={"far": belief_of(1, slice(9), columns[0])},
        answers=truth_of(rows[0], columns[0]),
        labels=truth_of(rows[0], columns[0]),
        loss=loss,
    )
    return row.to_dict()


def accumulated(rows, columns, loss):
    accumulator = Accumulator(loss)
    for part in (np.arange(12), np.arange(12, N)):
        order = [np.array([r for r in side if r in set(part.tolist())]) for side in rows]
        # The second batch has the classes of the two sides the other way round.
        first, second = columns if part[0] == 0 else columns[::-1]
        accumulator.update(truth_of(order[0], first), belief_of(0, order[1], second))
    return accumulator.compute(gap=False).to_dict()


def metered(rows, columns, loss):
    pytest.importorskip("torchmetrics")
    from rue.adapters.torchmetrics import RegretMetric

    metric = RegretMetric(loss)
    metric.update(truth_of(rows[0], columns[0]), belief_of(0, rows[1], columns[1]))
    metric.update(truth_of([0, 1], columns[1]).with_ids(["a", "b"]), other(columns[0]))
    return metric.evaluation(gap=False).to_dict()


def other(columns):
    return belief_of(1, [0, 1], columns).with_ids(["a", "b"])


def evaluated(rows, columns, loss):
    truth, belief = truth_of(rows[0], columns[0]), belief_of(0, rows[1], columns[1])
    return rue.evaluate(truth, belief, loss, gap=False).to_dict()


ENTRIES = (evaluated, compared, planned, ruled, proxied, accumulated, metered)


def without_corrected(result):
    """Leave out the columns whose splits of answers follow the classes."""
    if not isinstance(result, dict):
        return result
    return {key: x for key, x in result.items() if "corrected" not in key}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("entry", ENTRIES)
@settings(max_examples=6, deadline=None)
@given(orders=ORDERS)
def test_the_order_of_rows_and_classes_changes_no_number(entry, loss, orders):
    rows, columns = orders[:2], orders[2:]
    rows, columns = [np.array(r) for r in rows], [tuple(c) for c in columns]
    same = [np.arange(N)] * 2, [tuple(range(K))] * 2
    expected = numbers(without_corrected(entry(*same, loss)))
    assert expected
    assert numbers(without_corrected(entry(rows, columns, loss))) == pytest.approx(
        expected, rel=1e-9, abs=1e-11, nan_ok=True
    )


@pytest.mark.parametrize("entry", [evaluated, compared, ruled, accumulated])
def test_a_named_cost_matrix_goes_with_its_classes(entry):
    costs = rue.CostMatrix(RNG.uniform(0.1, 1, (5, K)), classes=NAMES[::-1])
    rows = [RNG.permutation(N), RNG.permutation(N)]
    same = [np.arange(N)] * 2, [tuple(range(K))] * 2
    expected = numbers(without_corrected(entry(*same, costs)))
    shuffled = numbers(without_corrected(entry(rows, [(3, 1, 0, 2), (2, 3, 1, 0)], costs)))
    assert shuffled == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True)


def test_what_cannot_be_matched_is_refused():
    rule = rue.DeployableSelector("rps", maximize="coverage", risk_max=0.3).fit(
        truth_of(), belief_of()
    )
    other = rue.Draws(DRAWS[0], classes=["low", "middle", "high", "best"])
    with pytest.raises(AlignmentError, match=r"must have the classes of the rule.*'best'"):
        rule.accept(other)
    bare = rue.Draws(DRAWS[0])  # columns without names are taken in the rule's order
    assert rule.rule_.score(bare).tolist() == rule.rule_.score(belief_of()).tolist()
    accumulator = Accumulator("log")
    accumulator.update(truth_of(), belief_of())
    with pytest.raises(InputError, match="same classes, got high, low, middle, top and without"):
        accumulator.update(COUNTS, DRAWS[0])
    with pytest.raises(AlignmentError, match="has no ids"):
        rue.DeployableSelector("log", maximize="coverage", risk_max=1.0).fit(
            truth_of(), belief_of().unnamed()
        )
    with pytest.raises(AlignmentError, match="must have the classes of the belief"):
        evaluate_proxies(belief_of(), outside={"far": other})


def test_answers_are_the_same_whatever_the_order_of_their_classes():
    truth, shuffled = truth_of(), truth_of(columns=(3, 0, 2, 1))
    assert truth.first_difference(shuffled) is None
    wider = rue.Annotations(np.hstack([COUNTS, 0 * COUNTS[:, :1]]), classes=[*NAMES, "none"])
    assert truth.first_difference(wider) is None
    counts = COUNTS.copy()
    counts[7, 0] += 1
    assert truth.first_difference(rue.Annotations(counts, classes=NAMES)) == 7


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (None, [[0, 2, 2], [2, 2, 0]]),  # numbers without names are places
        (["no", "maybe", "yes"], [[0, 2, 2], [2, 2, 0]]),
        (["no", "maybe", "yes"], [["no", "yes", "yes"], ["yes", "yes", "no"]]),
        (["1", "2", "3"], [[1, 3, 3], [3, 3, 1]]),  # numbers are names where names are numbers
    ],
)
def test_a_class_that_was_never_sampled_has_probability_0(names, labels):
    truth = rue.Annotations([[3, 1, 1], [0, 2, 5]], classes=names)
    aligned, belief = rue.align(truth, sampled_labels(labels))
    assert aligned.counts.tolist() == truth.counts.tolist()
    third = 1 / 3
    assert belief.probs[:, 0] == pytest.approx(np.array([[third, 0, 2 * third]] * 2))


def test_labels_that_nobody_gave_are_classes():
    truth = rue.Annotations([[3, 1]], classes=["no", "yes"])
    aligned, belief = rue.align(truth, sampled_labels([["no", "yes", "unsure", "yes"]]))
    assert aligned.counts.tolist() == [[3.0, 1.0, 0.0]]
    assert belief.probs.tolist() == [[[0.25, 0.5, 0.25]]]
    shifted = rue.Annotations([[3, 1], [1, 2]], classes=["1", "2"])
    belief = rue.align(shifted, sampled_labels([[1, 1], [1, 1]]))[1]
    assert belief.probs[0, 0, belief.outcomes.names.index("1")] == 1.0

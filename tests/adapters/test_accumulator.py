"""An accumulator gives what evaluate gives for all points at once, whatever the batches."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rue
from rue.adapters.accumulator import Accumulator
from rue.errors import InputError, ShapeError

N, K = 24, 4
LOSSES = {
    "log": "log",
    "brier": "brier",
    "zero_one": "zero_one",
    "squared": rue.Squared([0, 1, 3, 7]),
    "absolute": "absolute",
    "rps": "rps",
    "pinball": rue.Pinball(0.8, [0, 1, 3, 7]),
    "cost": rue.CostMatrix([[0, 1, 2, 3], [1, 0, 1, 2], [3, 2, 1, 0]]),
}


def world(seed=0, fewest=2):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(9, np.full(K, 1 / K), size=N)
    counts[:, 0] += np.maximum(fewest - counts.sum(1), 0)
    return counts, rng.dirichlet(np.full(K, 0.5), size=(N, 5))


def beliefs(probs):
    return {
        "draws": rue.Draws(probs),
        "dirichlet": rue.Dirichlet(1 + 5 * probs[:, 0]),
        "scored": rue.Scored(probs[:, 0], probs[:, 1, 0]),
    }


def part(belief, rows):
    match belief:
        case rue.Draws():
            return rue.Draws(belief.probs[rows])
        case rue.Dirichlet():
            return rue.Dirichlet(belief.alpha[rows])
    return rue.Scored(belief.probs[rows], belief.epistemic[rows])


def assert_same(row, other):
    notes = tuple(note for note in row.notes if "the mean answer of all points" not in note)
    assert notes == other.notes
    assert replace(row, numbers=other.numbers, notes=notes) == other
    for key, value in row.numbers.items():
        assert getattr(other, key) == pytest.approx(value, abs=1e-12, nan_ok=True), key


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["draws", "dirichlet", "scored"])
@settings(max_examples=4)
@given(cuts=st.sets(st.integers(1, N - 1), max_size=6), data=st.data())
def test_it_is_evaluate_whatever_the_batches(loss, kind, cuts, data):
    counts, probs = world()
    belief = beliefs(probs)[kind]
    batches = np.split(np.arange(N), sorted(cuts))
    n_first = data.draw(st.integers(0, len(batches)))
    mine, other = (Accumulator(LOSSES[loss], method="m") for _ in range(2))
    for i, rows in enumerate(batches):
        (mine if i < n_first else other).update(counts[rows], part(belief, rows))
    mine.merge(pickle.loads(pickle.dumps(other)))  # as another process would hand it over
    assert len(mine) == N
    wanted = rue.evaluate(
        rue.Annotations(counts), belief, LOSSES[loss], method="m", references=False
    )
    assert_same(wanted, mine.compute())


def test_arrays_values_actions_and_floors():
    counts, probs = world()
    probs[3] = np.eye(K)[0]
    values = [-2.0, -1, 1, 2]
    for loss, actions in (("squared", np.arange(N) % 3), ("log", probs[:, 2])):
        accumulator = Accumulator(loss, values=values)
        for rows in np.split(np.arange(N), [5, 6, 20]):
            accumulator.update(counts[rows], probs[rows], actions=actions[rows])
        wanted = rue.evaluate(
            rue.Annotations(counts),
            rue.Draws(probs),
            loss,
            values=values,
            actions=actions,
            references=False,
        )
        assert_same(wanted, accumulator.compute())
    assert wanted.n_floored > 0
    assert_same(
        rue.evaluate(
            rue.Annotations(counts, values),
            rue.Draws(probs),
            "absolute",
            gap=False,
            references=False,
        ),
        _through("absolute", rue.Annotations(counts, values), probs).compute(gap=False),
    )


def _through(loss, people, probs, step=7):
    accumulator = Accumulator(loss)
    for start in range(0, N, step):
        rows = slice(start, start + step)
        accumulator.update(people[rows], probs[rows])
    return accumulator


def test_one_point_with_one_answer_takes_the_lower_end_from_all():
    counts, probs = world()
    counts[2] = [0, 1, 0, 0]
    row = _through("log", rue.Annotations(counts), probs).compute(gap=False)
    assert np.isnan(row.aurec_low)
    assert_same(
        rue.evaluate(rue.Annotations(counts), rue.Draws(probs), gap=False, references=False), row
    )


def test_only_components_are_kept():
    counts, probs = world()
    small = len(pickle.dumps(_through("log", rue.Annotations(counts), probs)))
    many = len(pickle.dumps(_through("log", rue.Annotations(counts), np.tile(probs, (1, 50, 1)))))
    assert small == many


def test_known_probabilities_torch_tensors_and_reset():
    torch = pytest.importorskip("torch")
    counts, probs = world()
    accumulator = Accumulator("brier")
    accumulator.update(torch.tensor(counts), torch.tensor(probs))
    before = accumulator.compute(gap=False)
    accumulator.reset()
    assert len(accumulator) == 0
    with pytest.raises(InputError, match="call update first"):
        accumulator.compute()
    accumulator.update(rue.Annotations.from_probs(probs[:, 0]), probs)
    assert accumulator.compute(gap=False).annotators_min == np.inf != before.annotators_min


def test_an_accumulator_may_be_merged_with_itself_and_an_empty_one():
    counts, probs = world()
    accumulator = _through("log", rue.Annotations(counts), probs)
    before = accumulator.compute(gap=False)
    accumulator.merge(Accumulator("zero_one"), accumulator)
    assert len(accumulator) == 2 * N
    assert accumulator.compute(gap=False).aurec == pytest.approx(before.aurec, abs=1e-12)
    empty = Accumulator("log")
    empty.merge(accumulator)
    assert len(empty) == 2 * N


def test_what_does_not_belong_together_is_refused_and_nothing_is_taken():
    counts, probs = world()
    accumulator = _through("log", rue.Annotations(counts), probs)
    with pytest.raises(InputError, match="same number of classes, got 4 and 3"):
        accumulator.update([[1, 2, 3]], rue.Dirichlet([[1.0, 2, 3]]))
    with pytest.raises(InputError, match="same kind of belief"):
        accumulator.update(counts[:1], rue.Scored(probs[:1, 0], [0.5]))
    with pytest.raises(InputError, match="same kind of truth"):
        accumulator.update(rue.Annotations.from_probs(probs[:1, 0]), probs[:1])
    with pytest.raises(InputError, match="same loss"):
        accumulator.merge(_through("brier", rue.Annotations(counts), probs))
    with pytest.raises(InputError, match="same loss"):
        _through(rue.Log(0.01), rue.Annotations(counts), probs).merge(accumulator)
    with pytest.raises(InputError, match="2 points but the truth has 3"):
        accumulator.update(counts[:3], probs[:2])
    with pytest.raises(ShapeError, match="probs must have shape"):
        accumulator.update(counts, probs[:, 0])
    with pytest.raises(InputError, match="loss must be one of"):
        Accumulator("hinge")
    assert len(accumulator) == N


def test_an_empty_one_takes_only_its_own_loss():
    counts, probs = world()
    people = rue.Annotations(counts)
    log, brier = (_through(loss, people, probs) for loss in ("log", "brier"))
    for empty in (Accumulator("log"), Accumulator("squared", values=[0, 1, 2, 4])):
        with pytest.raises(InputError, match=r"same loss, got (log|squared.*) and brier"):
            empty.merge(brier)
        assert len(empty) == 0
    with pytest.raises(InputError, match="same loss, got log and brier"):
        Accumulator("log").merge(log, brier)
    with pytest.raises(InputError, match="others must be accumulators, got list"):
        log.merge([brier])


def test_the_scale_may_come_with_the_annotations():
    counts, probs = world()
    people = rue.Annotations(counts, [-2, -1, 1, 2])
    empty, fixed = Accumulator("squared"), Accumulator("squared", values=[0, 1, 2, 3])
    empty.merge(_through("squared", people, probs))
    assert_same(
        rue.evaluate(people, rue.Draws(probs), "squared", gap=False, references=False),
        empty.compute(gap=False),
    )
    with pytest.raises(InputError, match=r"got squared\(values=\[0.0.*and squared\(values=\[-2.0"):
        fixed.merge(empty)


class Own(rue.Brier):
    """A loss of one's own that holds another."""

    def __init__(self):
        self.inner = rue.Log(0.01)


def test_a_loss_of_ones_own_survives_a_pickle():
    counts, probs = world()
    here = Accumulator(Own())
    there = pickle.loads(pickle.dumps(here))  # as a worker gets it
    for accumulator in (here, there):
        accumulator.update(counts, probs)
    here.merge(there)
    assert len(here) == 2 * N


def test_the_truth_comes_first():
    probs, counts = np.full((2, 3, 2), 0.5), [[3, 1], [2, 2]]
    swapped = [
        (probs, counts),
        (probs.tolist(), counts),
        (rue.Draws(probs), counts),
        (rue.Draws(probs), rue.Annotations(counts)),
        (probs, rue.Annotations(counts)),
        (probs[:, 0], rue.Annotations(counts)),
    ]
    for first, second in swapped:
        accumulator = rue.Accumulator("brier")
        with pytest.raises(InputError, match=r"truth first, update\(counts, probs\)"):
            accumulator.update(first, second)
        assert len(accumulator) == 0


@pytest.mark.parametrize("loss", ["squared", "absolute", "crps", "pinball:0.8"])
def test_real_numbers_are_taken_too(loss, rng):
    mean, sd = rng.normal(0, 1, (N, 3)), rng.gamma(2, 1, (N, 3))
    belief = rue.Gaussians(mean, sd)
    people = rue.Ratings([rng.normal(0, 1, m) for m in rng.integers(2, 6, N)])
    here, there = Accumulator(loss), Accumulator(loss)
    here.update(people[:5], belief[:5])
    there.update(people[5:11], belief[5:11])
    there.update(people[11:], belief[11:])
    here.merge(pickle.loads(pickle.dumps(there)))
    assert_same(
        rue.evaluate(people, belief, loss, gap=False, references=False), here.compute(gap=False)
    )


def test_arrays_of_ratings_and_batches_of_classes():
    accumulator = Accumulator("squared")
    accumulator.update([1.0, 2.0], rue.Gaussians([[0.0]] * 2, [[1.0]] * 2))
    accumulator.update(np.array([[1.0, 2.0]]), rue.Samples([[[0.0], [3.0]]]))
    assert accumulator.compute(gap=False).risk == pytest.approx((1 + 4 + 0.25) / 3)
    with pytest.raises(InputError, match=r"number of classes, got none \(real numbers\) and 2"):
        accumulator.update([[1, 1]], [[[0.5, 0.5]]])
    with pytest.raises(InputError, match="truth first"):
        accumulator.update(rue.Samples([[[0.0]]]), rue.Ratings([[1.0]]))
    assert len(accumulator) == 3

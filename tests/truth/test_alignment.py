"""Rows and classes are matched by name: the order of either side changes no number."""

import numpy as np
import pytest

import rue
from rue.errors import AlignmentError, PointError
from rue.truth.alignment import align_with_notes

N, NAMES = 12, ["low", "middle", "high"]
RNG = np.random.default_rng(3)
IDS = np.array([f"p{i}" for i in range(N)])
COUNTS = RNG.multinomial(7, RNG.dirichlet(np.ones(3), N))
DRAWS = RNG.dirichlet(np.ones(3), (N, 4))
CLASSED = {
    "draws": lambda r, c, **names: rue.Draws(DRAWS[r][..., c], **names),
    "dirichlet": lambda r, c, **names: rue.Dirichlet(5 * DRAWS[r, 0][:, c], **names),
    "scored": lambda r, c, **names: rue.Scored(DRAWS[r, 0][:, c], DRAWS[r, 1, 0], **names),
}
LOSSES = ("log", "brier", "zero_one", "squared", "absolute", "rps", "pinball:0.8")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", CLASSED)
def test_shuffled_rows_and_classes_change_no_number(kind, loss):
    order = rue.Classes(NAMES, order="scale")
    truth = rue.Annotations(COUNTS, ids=IDS, classes=order)
    every = np.arange(3)
    expected = rue.evaluate(truth, CLASSED[kind](np.arange(N), every, ids=IDS, classes=NAMES), loss)
    rows, columns = RNG.permutation(N), np.array([2, 0, 1])
    belief = CLASSED[kind](rows, columns, ids=IDS[rows], classes=[NAMES[k] for k in columns])
    row = rue.evaluate(truth, belief, loss)
    for name in ("aurec", "n_aurec", "aurc", "risk", "regret", "pareto_gap"):
        assert getattr(row, name) == pytest.approx(getattr(expected, name), abs=1e-12)


@pytest.mark.parametrize("loss", ["squared", "absolute", "crps", "pinball:0.8"])
@pytest.mark.parametrize("kind", [rue.Gaussians, rue.Samples, rue.NormalInverseGamma])
def test_shuffled_rows_of_real_numbers_change_no_number(kind, loss):
    means = RNG.normal(size=(N, 3))
    parts = {
        rue.Gaussians: (means, np.exp(means)),
        rue.Samples: (np.stack([means, means + 1], axis=2),),
        rue.NormalInverseGamma: (means[:, 0], np.ones(N), np.full(N, 3.0), np.exp(means[:, 1])),
    }[kind]
    truth = rue.Ratings(RNG.normal(size=(N, 4)), ids=IDS)
    expected = rue.evaluate(truth, kind(*parts, ids=IDS), loss)
    rows = RNG.permutation(N)
    row = rue.evaluate(truth, kind(*(part[rows] for part in parts), ids=IDS[rows]), loss)
    assert row.aurec == pytest.approx(expected.aurec, rel=1e-12)
    assert row.risk == pytest.approx(expected.risk, rel=1e-12)


def truth_of(names, **options):
    return rue.Annotations(COUNTS, classes=rue.Classes(names, **options))


def test_the_order_of_the_classes():
    belief = rue.Draws(DRAWS)
    rue.evaluate(truth_of(["a", "b", "c"]), belief, "log")
    with pytest.raises(AlignmentError, match=r"none but the alphabet's.*with_classes"):
        rue.evaluate(truth_of(["a", "b", "c"]), belief, "rps")
    with pytest.raises(AlignmentError, match="none but the alphabet's"):
        rue.evaluate(truth_of(["a", "b", "c"]), belief, rue.CostMatrix(1 - np.eye(3)))
    rue.evaluate(truth_of(["a", "b", "c"]).with_classes(["c", "a", "b"]), belief, "rps")
    named = rue.Draws(DRAWS, classes=["middle", "low", "high"])
    with pytest.raises(AlignmentError, match="needs one order of the classes"):
        rue.evaluate(truth_of(NAMES), named, "rps")
    numbers = rue.evaluate(truth_of(["3", "1", "2.0"]), belief, "squared")
    columns = [1, 2, 0]
    by_hand = rue.evaluate(
        rue.Annotations(COUNTS[:, columns], [1, 2, 3]), rue.Draws(DRAWS[..., columns]), "squared"
    )
    assert numbers.risk == pytest.approx(by_hand.risk)


def test_classes_on_one_side():
    named = rue.Draws(DRAWS, classes=NAMES)
    aligned = align_with_notes(rue.Annotations(COUNTS), named)
    assert aligned.truth.outcomes.names == tuple(NAMES)
    assert "does not name its classes" in aligned.notes[0]
    with pytest.raises(AlignmentError, match="3 classes but the truth has 2"):
        rue.align(rue.Annotations(COUNTS[:, :2] + 1), named)
    truth, _ = rue.align(rue.Annotations(COUNTS[:, :2] + 1, classes=NAMES[:2]), named)
    assert truth.counts[:, 2].tolist() == [0.0] * N
    renamed = rue.Annotations(COUNTS + 1, classes=["low", "middle", "other"])
    with pytest.raises(AlignmentError, match=r"lacks the class 'other', .* 'high', which nobody"):
        rue.align(renamed, named)
    more = rue.Annotations(np.c_[COUNTS, COUNTS[:, :1] + 1], classes=[*NAMES, "other"])
    with pytest.raises(
        AlignmentError, match="'other', which somebody chose in the truth; with_classes"
    ):
        rue.align(more, named)


def test_ids():
    truth = rue.Annotations(COUNTS, ids=IDS)
    with pytest.raises(AlignmentError, match="the belief has no ids but the truth has"):
        rue.align(truth, rue.Draws(DRAWS))
    some = rue.Draws(DRAWS[:5], ids=IDS[:5])
    with pytest.raises(AlignmentError, match="lacks 7 of the ids"):
        rue.align(truth, some)
    kept, _ = rue.align(truth, some, common=True)
    assert kept.counts.tolist() == COUNTS[:5].tolist()
    with pytest.raises(AlignmentError, match="12 of their ids in another order"):
        align_with_notes(truth, rue.Draws(DRAWS, ids=IDS[::-1]), by_position=True)
    moved = np.roll(IDS, 1)
    moved[0] = "new"  # 11 of 12 ids are those of the row above
    with pytest.raises(AlignmentError, match="11 of their ids in another order"):
        align_with_notes(truth, rue.Draws(DRAWS, ids=moved), by_position=True)
    renamed = IDS.copy()
    renamed[3] = "new"  # the others agree with the positions
    (note,) = align_with_notes(truth, rue.Draws(DRAWS, ids=renamed), by_position=True).notes
    assert "by position" in note
    with pytest.raises(AlignmentError, match="ids must not repeat"):
        rue.Draws(DRAWS, ids=["a"] * N)


def test_memory_maps_are_permuted_in_chunks(tmp_path):
    np.save(tmp_path / "probs.npy", DRAWS[::-1])
    mapped = np.load(tmp_path / "probs.npy", mmap_mode="r")
    belief = rue.Draws(mapped, ids=IDS[::-1])[np.arange(N)[::-1]]
    assert not isinstance(belief.probs, np.ndarray)
    assert rue.decompose(belief).total.tolist() == rue.decompose(rue.Draws(DRAWS)).total.tolist()


def test_iteration_ends_and_wrong_masks_raise():
    draws = rue.Draws(DRAWS, ids=IDS)
    assert [point.ids[0] for point in draws] == IDS.tolist()
    for wrong in (np.ones(3, bool), [N], [0.5], N):
        with pytest.raises(PointError):
            draws[wrong]


def test_what_is_dropped_is_counted_and_nothing_is_said_of_nothing():
    truth, whole = rue.Annotations(COUNTS[2:], ids=IDS[2:]), rue.Draws(DRAWS, ids=IDS)
    (note,) = align_with_notes(truth, whole, common=True).notes
    assert note.startswith("kept 10 points and dropped 2 of the 12 points of ")
    assert align_with_notes(truth, whole[2:], common=True).notes == ()


def test_an_id_that_sorts_after_all_others_is_on_one_side_only():
    ids = [*IDS[:-1], "~"]
    with pytest.raises(AlignmentError, match="first '~'"):
        rue.align(rue.Annotations(COUNTS, ids=IDS), rue.Draws(DRAWS, ids=ids))
    truth, belief = rue.align(
        rue.Annotations(COUNTS, ids=IDS), rue.Draws(DRAWS, ids=ids), common=True
    )
    assert truth.ids.tolist() == belief.ids.tolist() == IDS[:-1].tolist()


@pytest.mark.parametrize("form", ["{}", "{:>8}", "{:012}", "\xfc{}", "\u4e2d{}"])
def test_many_names_are_different_as_text_is(form):
    # Names of up to eight Latin letters are compared as numbers.
    names = [form.format(i) for i in range(10_000)]
    assert rue.Annotations(np.ones((10_000, 2)), ids=names).ids.tolist() == names
    names[7_000] = names[3]
    with pytest.raises(AlignmentError, match=f"ids must not repeat, 1 do, first '{names[3]}'"):
        rue.Annotations(np.ones((10_000, 2)), ids=names)

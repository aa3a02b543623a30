"""Beliefs and annotations at the gate: what is taken, what is refused, what is not copied."""

import mmap

import numpy as np
import pytest
import torch

from rue import Annotations, Dirichlet, Draws, Scored
from rue._arrays import chunked
from rue.beliefs import draws
from rue.errors import InputError, ShapeError

P = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.2, 0.8]]])


def test_the_mean_of_each_belief():
    assert Draws(P).mean() == pytest.approx(np.array([[0.7, 0.3], [0.2, 0.8]]))
    assert Dirichlet([[1, 3]]).mean() == pytest.approx(np.array([[0.25, 0.75]]))
    assert Scored(P[:, 0], [1, 2]).mean() == pytest.approx(P[:, 0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_every_float_is_taken_and_renormalised_in_float64(dtype, rng):
    probs = rng.dirichlet(np.ones(4), (6, 3)).astype(dtype)
    mean = Draws(probs).mean()
    assert mean.dtype == np.float64
    assert mean.sum(axis=1) == pytest.approx(np.ones(6), abs=1e-15)
    exact = probs.astype(np.float64)
    exact = (exact / exact.sum(axis=2, keepdims=True)).mean(axis=1)
    assert mean == pytest.approx(exact, abs=1e-14)


def test_one_hot_integers_and_booleans_are_taken():
    assert Draws([[[1, 0], [0, 1]]]).mean() == pytest.approx(np.array([[0.5, 0.5]]))
    assert Draws(np.array([[[True, False]]])).mean() == pytest.approx(np.array([[1.0, 0.0]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_torch_tensors_are_taken_with_and_without_gradient(dtype):
    tensor = torch.tensor([[[0.75, 0.25]]], dtype=dtype, requires_grad=True)
    assert Draws(tensor).mean() == pytest.approx(np.array([[0.75, 0.25]]))


def test_what_the_caller_could_change_is_copied():
    tensor = torch.tensor(P)
    for given in (P, tensor):
        probs = Draws(given).probs
        assert not np.shares_memory(probs, np.asarray(given))
        assert not probs.flags.writeable
    fixed = P.copy()
    fixed.flags.writeable = False
    assert Draws(fixed).probs is fixed
    part = fixed[1:]
    assert Draws(part).probs is part
    stored = np.frombuffer(P.tobytes()).reshape(P.shape)
    assert Draws(stored).probs is stored


@pytest.mark.parametrize(
    "view",
    [
        np.ndarray.view,
        lambda array: np.broadcast_to(array, array.shape),
        lambda array: np.frombuffer(memoryview(array)).reshape(array.shape),
        lambda array: torch.from_numpy(array).numpy(),
    ],
)
def test_a_read_only_view_of_what_the_caller_could_change_is_copied(view):
    given = P.copy()
    fixed = view(given)
    fixed.flags.writeable = False
    draws = Draws(fixed)
    given[:] = 0.5
    np.testing.assert_array_equal(draws.probs, P)


def test_ids_that_the_caller_could_change_are_copied():
    given = np.array(["a", "b", "c", "d"][: len(P)])
    fixed = given.view()
    fixed.flags.writeable = False
    draws = Draws(P, ids=fixed)
    wanted = fixed.tolist()
    given[:] = "x"
    assert draws.ids.tolist() == wanted


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_maps_stay_on_disk_and_unchanged(tmp_path, mode):
    path = tmp_path / "probs.npy"
    np.save(path, P)
    mapped = np.load(path, mmap_mode=mode)
    if mode == "c":
        mapped[0, 0] = [0.6, 0.4]  # lives in memory only; it must survive the streaming
    draws = Draws(mapped)
    assert isinstance(draws.probs, np.memmap)
    assert draws.mean() == pytest.approx(mapped.mean(axis=1))
    assert mapped[0, 0, 0] == (0.6 if mode == "c" else 0.9)
    assert (np.load(path) == P).all()


def test_transposed_and_strided_arrays_are_read_right(rng):
    probs = rng.dirichlet(np.ones(3), (4, 5))
    assert Draws(probs.transpose(1, 0, 2)).mean() == pytest.approx(probs.mean(axis=0))
    assert Draws(probs[::-1, ::2]).mean() == pytest.approx(probs[::-1, ::2].mean(axis=1))


def broken(change):
    probs = np.full((3, 2, 4), 0.25)
    change(probs)
    return probs


def put(index, value):
    def change(probs):
        probs[index] = value

    return change


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Draws(broken(put((1, 1, 2), np.nan))), "finite.*row 1"),
        (lambda: Draws(broken(put((2, 0, 0), np.inf))), "finite.*row 2"),
        (lambda: Draws(broken(put((1, 0), [-0.5, 0.5, 0.5, 0.5]))), "negative.*row 1"),
        (lambda: Draws(broken(put((2, 1, 0), 0.2501))), "sum to 1.*1.0001.*row 2"),
        (lambda: Draws(broken(put((0, 0), 0))), "sum to 1.*row 0"),
        (lambda: Draws(np.full((3, 4), 0.25)), "shape"),
        (lambda: Draws(np.ones((3, 2, 1))), "at least 2 classes"),
        (lambda: Draws(np.ones((0, 2, 3))), "at least one of n_points"),
        (lambda: Draws(np.ones((3, 0, 3))), "at least one of n_draws"),
        (lambda: Draws([["a", "b"]]), "real numbers"),
        (lambda: Draws([[[0.5, 0.5], [1.0]]]), "array"),
        (lambda: Draws(np.full((1, 1, 2), 0.5 + 0j)), "real numbers"),
        (lambda: Dirichlet([[1, 0]]), "above 0.*row 0"),
        (lambda: Dirichlet([[1, 2], [1, -3]]), "above 0.*row 1"),
        (lambda: Dirichlet([[1, np.nan]]), "finite"),
        (lambda: Dirichlet([1, 2]), "shape"),
        (lambda: Scored([[0.5, 0.5]], [1, 2]), "1 points"),
        (lambda: Scored([[0.5, 0.5]], [np.inf]), "finite"),
        (lambda: Scored([[0.5, 0.6]], [1]), "sum to 1"),
        (lambda: Annotations([[0, 0], [0, 0]]), "at least one annotator.*row 0"),
        (lambda: Annotations([[1, 0], [0, 0]]), "at least one annotator.*row 1"),
        (lambda: Annotations([[1, -1]]), "negative"),
        (lambda: Annotations([[0.5, 0.5]]), "from_probs"),
        (lambda: Annotations([[1, np.nan]]), "finite"),
        (lambda: Annotations([1, 2]), "shape"),
        (lambda: Annotations([[1e308, 1e308]]), "below 2"),
        (lambda: Annotations([[1, 2]], values=[1e200, 3e200]), "values must span"),
        (lambda: Annotations([[1, 2]], values=[[1, 2]]), "values must have shape"),
        (lambda: Annotations.from_ratings([[0]], n_classes=0), "n_classes"),
        (lambda: Annotations.from_ratings([[0]], n_classes=2.5), "n_classes"),
        (lambda: Dirichlet([[1e308, 1e308]]), "from 1e-290"),
        (lambda: Draws(np.ma.masked_equal([[[0.0, 1.0]]], 0.0)), "masked"),
        (lambda: Annotations(np.ones((0, 3))), "at least one"),
        (lambda: Annotations([[1], [2]]), "2 classes"),
        (lambda: Annotations([[1, 2]], values=[1, 1]), "increase"),
        (lambda: Annotations([[1, 2]], values=[1, 2, 3]), "one number per class"),
        (lambda: Annotations.from_probs([[0.5, 0.6]]), "sum to 1"),
        (lambda: Annotations.from_ratings([]), "at least one point"),
        (lambda: Annotations.from_ratings([[1], []], n_classes=2), "point 1 has none"),
        (lambda: Annotations.from_ratings([[0, 2]], n_classes=2), "got 2 at point 0"),
        (lambda: Annotations.from_ratings([[0, np.nan]], n_classes=2), "finite"),
        (lambda: Annotations.from_ratings([[0]], n_classes=2, values=[0, 1]), "not both"),
        (lambda: Annotations.from_ratings([["good"]], n_classes=2), "real numbers"),
    ],
)
def test_broken_input_is_refused_in_one_line(make, words):
    with pytest.raises((InputError, ShapeError), match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_tolerance_depends_on_the_precision():
    off = np.array([[[0.5, 0.5005]]])
    assert Draws(off.astype(np.float32)).mean().sum() == pytest.approx(1, abs=1e-15)
    with pytest.raises(InputError, match="1e-06"):
        Draws(off)


def test_annotations_by_hand():
    annotations = Annotations([[8, 2, 0], [1, 1, 2]], values=[-1, 0, 5])
    assert annotations.probs == pytest.approx(np.array([[0.8, 0.2, 0], [0.25, 0.25, 0.5]]))
    assert annotations.n_annotators.tolist() == [10, 4]
    assert (len(annotations), annotations.n_points, annotations.n_classes) == (2, 2, 3)


def test_ratings_are_counted():
    ratings = [[-4, -4, 0], [4], [0, 0, 0, 0.0]]
    counted = Annotations.from_ratings(ratings, values=[-4, 0, 4])
    assert counted.counts.tolist() == [[2, 1, 0], [0, 0, 1], [0, 4, 0]]
    assert counted.values.tolist() == [-4, 0, 4]
    assert Annotations.from_ratings([[2, 0]], n_classes=3).counts.tolist() == [[1, 0, 1]]
    found = Annotations.from_ratings([[7, 3], [3]])
    assert (found.counts.tolist(), found.values.tolist()) == ([[1, 1], [1, 0]], [3, 7])


def test_known_probabilities_have_infinitely_many_annotators():
    known = Annotations.from_probs([[0.25, 0.75]])
    assert known.counts is None
    assert known.n_annotators.tolist() == [np.inf]


def test_private_pages_are_left_alone():
    memory = mmap.mmap(-1, 128, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    probs = np.ndarray((4, 2, 2), float, buffer=memory)
    probs[:] = 0.5
    Draws(probs)
    assert (probs == 0.5).all()


def test_alpha_may_be_float32():
    """The bounds on alpha are beyond float32, and comparing with them warned."""
    assert Dirichlet(np.ones((2, 3), np.float32)).n_points == 2


def test_some_of_the_points(rng):
    probs, alpha = rng.dirichlet(np.ones(3), (5, 2)), rng.gamma(1, 1, (5, 3)) + 1
    assert Draws(probs)[1:3].probs.tolist() == probs[1:3].tolist()
    assert Dirichlet(alpha)[np.array([4, 0])].alpha.tolist() == alpha[[4, 0]].tolist()
    scored = Scored(probs[:, 0], np.arange(5.0))[np.arange(5) > 2]
    assert scored.epistemic.tolist() == [3, 4]
    assert Draws(probs)[-1].probs.tolist() == probs[-1:].tolist()
    assert Annotations([[1, 0], [2, 3]])[1].counts.tolist() == [[2, 3]]
    with pytest.raises(InputError, match="from 0 to 4, got 5"):
        Draws(probs)[5]


def test_a_short_repr(rng):
    assert repr(Draws(np.full((1200, 3, 2), 0.5))) == "Draws(1,200 points x 3 draws x 2 classes)"
    assert repr(Dirichlet(np.ones((4, 3)))) == "Dirichlet(4 points x 3 classes)"
    truth = Annotations([[1, 0], [2, 3]])
    assert repr(truth) == "Annotations(2 points x 2 classes, 1 to 5 annotators)"
    known = Annotations.from_probs([[0.5, 0.5]])
    assert repr(known) == "Annotations(1 points x 2 classes, p* known)"


def test_draws_are_one_hot_only_if_all_are(monkeypatch):
    sure = np.eye(2)[np.zeros((100, 2), int)]
    assert "every draw is one-hot" in Draws(sure).doubts()[0]
    late = sure.copy()
    late[-1, 0] = 0.5  # after the points that decide for most beliefs
    assert Draws(late).doubts() == []
    monkeypatch.setattr(draws, "chunked", lambda probs: chunked(probs, n_bytes=1 << 10))
    assert Draws(late).doubts() == []
    assert Draws(sure).doubts()


def test_actions_are_one_per_point_or_one_per_point_and_class():
    mean = P.mean(axis=1)
    np.testing.assert_array_equal(Draws(P, actions=mean).actions, mean)
    np.testing.assert_array_equal(Draws(P, actions=[0, 1]).actions, [0, 1])
    with pytest.raises(ShapeError, match=r"actions must have 2 points, got shape \(2, 2, 2\)"):
        Draws(P, actions=P)

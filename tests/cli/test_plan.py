"""rue plan: the library's plan, printed."""

import json

import numpy as np
import pytest

from rue import Annotations, Draws, Run
from rue.inference.power import plan

N, K = 50, 3


@pytest.fixture
def world(tmp_path, rng):
    counts = rng.multinomial(12, rng.dirichlet(np.ones(K), N))
    probs = {name: rng.dirichlet(np.ones(K), (N, 4)) for name in "ab"}
    for name, array in probs.items():
        np.savez(tmp_path / f"{name}.npz", probs=array, counts=counts)
    (tmp_path / "c.csv").write_text("aleatoric,epistemic,risk,regret\n1,1,1,1\n")
    return tmp_path, counts, probs


def test_prints_the_library_s_plan(world, run):
    folder, counts, probs = world
    files = [folder / "a.npz", folder / "b.npz"]
    more = ["--loss", "brier", "--annotators", "5,40", "--width", "0.01"]
    result = run("plan", *files, *more, "--format", "json")
    assert result.code == 0, result.err
    people = Annotations(counts)
    runs = [
        Run.from_belief(people, Draws(p), "brier", method=n, with_answers=True)
        for n, p in probs.items()
    ]
    expected = plan(runs, annotators=[5, 40], width=0.01)
    found = json.loads(result.out)
    about = {"loss": "brier", "methods": ["a", "b"], "notes": {}}
    assert found == about | json.loads(json.dumps(expected.to_dict()))
    table = run("plan", *files, *more).out
    assert f"{expected.rows[0].n_points:,.0f}" in table
    assert "* is extrapolated" in table
    error = expected.annotators_needed_se
    assert f"{expected.annotators_needed:,} ± {error:,.0f} annotators per point" in table
    assert "± is one standard error" in table
    assert ("No number of points is recommended" in table) == (expected.best() is None)
    one = run("plan", files[0], "--loss", "brier", "--annotators", "5").out
    assert "points  answers" not in one


@pytest.mark.parametrize("criterion", ["aurec", "n_aurec"])
def test_says_where_there_is_nothing_to_tell_apart(tmp_path, run, criterion):
    """Equal beliefs and answers everywhere: no difference in AuReC, and no n-AuReC at all."""
    for name, first in (("a", 0.2), ("b", 0.3)):
        belief = np.tile([[first, 1 - first], [0.6, 0.4]], (10, 1, 1))
        np.savez(tmp_path / f"{name}.npz", probs=belief, counts=np.tile([0, 5], (10, 1)))
    files = [tmp_path / "a.npz", tmp_path / "b.npz"]
    out = run("plan", *files, "--loss", "zero_one", "--criterion", criterion).out
    assert "The pilot shows no difference in" in out
    assert "inf points" not in out
    assert "nan" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.npz", "--annotators", "1"], "from 2 to 1,000,000, got 1"),
        (["a.npz", "--annotators", "1" + 23 * "0"], "from 2 to 1,000,000, got 1"),
        (["a.npz", "--power", "0.01"], "rue: --power must be above (1 - level) / 2 = 0.025"),
        (["a.npz", "--annotators", "five"], "--annotators must be whole numbers"),
        (["a.npz", "--width", "0"], "rue: --width must be above 0"),
        (["a.npz", "--criterion", "n"], "criterion must be"),
        (["c.csv"], "annotators cannot be resampled"),
        (["a.npz", "--loss", "hinge"], "loss must be"),
    ],
)
def test_broken_calls_are_one_line(world, run, monkeypatch, arguments, words):
    monkeypatch.chdir(world[0])
    result = run("plan", *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.strip().splitlines()) == 1
    assert words in result.err


def test_says_what_a_small_pilot_does_not_show(tmp_path, run):
    """A bracket that vanishes has no error, and two points recommend nothing."""
    counts = np.array([[4, 1], [5, 0]])
    for name, wrong in (("a", [0.5, 0.9]), ("b", [0.9, 0.5])):
        belief = np.array([[[0.1, 0.9], [w, 1 - w]] for w in wrong])
        np.savez(tmp_path / f"{name}.npz", probs=belief, counts=counts)
    files = [tmp_path / "a.npz", tmp_path / "b.npz"]
    out = run("plan", *files, "--loss", "zero_one", "--width", "1e-6", "--annotators", "2,5").out
    assert "a bracket of at most 1e-06 needs: 4 ± ?. No number of annotators is recommended." in out
    assert "~" in out
    assert "~ is too uncertain to plan with" in out
    assert "± ? an unknown one" in out
    assert "No number of points is recommended: the pilot has 2, and" in out


def test_names_with_line_breaks_stay_on_their_line(world, run):
    folder, counts, probs = world
    for name in "ab":
        np.savez(folder / f"{name}.npz", probs=probs[name], counts=counts, method=f"x\n{name}")
    result = run("plan", folder / "a.npz", folder / "b.npz")
    assert result.code == 0, result.err
    assert result.out.startswith(r"x\na against x\nb · log loss")

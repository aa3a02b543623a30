"""The quick demo: made data, no network, no torch."""

import subprocess
import sys

import numpy as np
import pytest

import rue
from rue.cli.demo import MODELS, compile_kernels, made_data


def test_the_quick_demo_ends_with_its_table_and_its_report(run, tmp_path, monkeypatch):
    monkeypatch.setenv("RUE_DATA", str(tmp_path / "nothing"))
    monkeypatch.chdir(tmp_path)
    done = run("demo", "--quick", "--out", "here")
    assert done.code == 0, done.err
    assert [word for word in MODELS if word not in done.out] == []
    assert "has the lowest n-AuReC" in done.out
    assert "The report page: here/report.html" in done.out
    assert {path.name for path in tmp_path.joinpath("here").iterdir()} == {
        "bagged-logistic.npz",
        "curves.png",
        "forest.npz",
        "neighbours.npz",
        "report.html",
    }
    again = run("evaluate", "here/neighbours.npz", "--no-gap")
    assert again.code == 0
    assert "neighbours" in again.out


def test_the_quick_demo_needs_no_torch():
    code = "import sys, rue.cli.demo as q; q.made_data(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_made_world_is_the_same_each_time():
    first, second = made_data(), made_data()
    assert all(np.array_equal(a, b) for a, b in zip(first[:3], second[:3], strict=True))
    assert np.array_equal(first[3].counts, second[3].counts)


def test_neighbours_are_less_sure_far_from_the_data():
    points, labels, test, _ = made_data()
    near = MODELS["neighbours"](points, labels, test[:200])
    shifted = np.concatenate([test[:100], test[100:200] + 3.0])
    far = MODELS["neighbours"](points, labels, shifted)
    strength = far.alpha[100:].sum(axis=1).mean()
    assert strength == pytest.approx(2.5, abs=0.5)  # the prior: 5 classes x 1/2
    assert strength < near.alpha[100:].sum(axis=1).mean() / 2
    assert rue.decompose(far, "log").epistemic[100:].mean() > 0


def test_kernels_are_compiled_once_for_all_processes():
    compile_kernels()
    before = _compiled()
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.ones(9), size=(520, 5))
    counts = rng.multinomial(20, probs[:, 0])
    scored = rue.Scored(probs[:, 0], probs.var(axis=1).sum(axis=1))
    for belief in (rue.Draws(probs), rue.Dirichlet(7 * probs[:, 0]), scored):
        for loss in ("log", "squared"):
            rue.evaluate(rue.Annotations(counts), belief, loss)
    assert sum(map(len, before.values())) > 5
    assert _compiled() == before


def _compiled():
    """Return the signatures for which each kernel is compiled."""
    names = [name for name in sys.modules if name.startswith("rue._kernels.")]
    return {
        (name, key): tuple(value.signatures)
        for name in names
        for key, value in vars(sys.modules[name]).items()
        if hasattr(value, "signatures") and not isinstance(value, type)
    }

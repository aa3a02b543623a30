"""Rows under the published convention, ranked by what, and corrected."""

import json
import math

import numpy as np
import pytest

import naive_published as naive
import rue
from rue.errors import InputError
from rue.inference.intervals import intervals


@pytest.fixture
def world(rng):
    p = rng.dirichlet(np.ones(3), 40)
    counts = rng.multinomial(9, p)
    return rue.Annotations(counts), 1 + rng.gamma(1, 3, (40, 3)), rng.dirichlet(np.ones(3), (40, 4))


@pytest.mark.parametrize("loss", ["log", "zero_one", "squared", "absolute"])
@pytest.mark.parametrize("kind", ["dirichlet", "draws"])
def test_a_published_row_is_that_of_the_twins(world, loss, kind):
    truth, alpha, probs = world
    belief = rue.Dirichlet(alpha) if kind == "dirichlet" else rue.Draws(probs)
    row = rue.evaluate(truth, belief, loss, convention="published")
    star = rue.realize(truth, belief, loss)
    hat = rue.decompose(belief, loss, convention="published")
    assert row.convention == "published"
    assert row.aurec == pytest.approx(naive.area(star.epistemic, hat.epistemic))
    assert row.n_aurec == pytest.approx(naive.n_area(star.epistemic, hat.epistemic))
    assert row.aurc == pytest.approx(naive.area(star.total, hat.epistemic))
    assert row.pareto_gap == pytest.approx(naive.gap(star, hat), abs=1e-10)


def test_an_undefined_n_aurec_is_0_as_published(world):
    _, _, probs = world
    known = rue.Annotations.from_probs(probs.mean(axis=1))
    row = rue.evaluate(known, rue.Draws(probs), convention="published", gap=False)
    assert (row.regret, row.n_aurec) == (0, 0)
    assert math.isnan(rue.evaluate(known, rue.Draws(probs), gap=False).n_aurec)


def test_ranked_by_what(world):
    truth, _, probs = world
    row = rue.evaluate(truth, rue.Draws(probs), "brier", gap=False)
    star, hat = (
        rue.realize(truth, rue.Draws(probs), "brier"),
        rue.decompose(rue.Draws(probs), "brier"),
    )
    for name in ("total", "aleatoric"):
        score = getattr(hat, name)
        assert getattr(row, f"aurec_{name}") == rue.aurec(star.epistemic, score)
        assert getattr(row, f"n_aurec_{name}") == pytest.approx(rue.n_aurec(star.epistemic, score))


def test_intervals_of_what_ranks(world):
    truth, _, probs = world
    run = rue.Run.from_belief(truth, rue.Draws(probs))
    found = intervals(run, gap=False, n_replicates=300)
    for name in ("aurec_total", "n_aurec_total", "aurec_aleatoric", "n_aurec_aleatoric"):
        assert found.low[name] < found.estimate[name] < found.high[name]
        assert found.method[name] == "bca"


def test_published_rows_have_no_intervals(world):
    truth, alpha, _ = world
    run = rue.Run.from_belief(truth, rue.Dirichlet(alpha), convention="published")
    with pytest.raises(InputError, match="order of the rows"):
        intervals(run, n_replicates=10)


def test_corrected_on_request(world):
    truth, _, probs = world
    plain = rue.evaluate(truth, rue.Draws(probs), gap=False)
    assert math.isnan(plain.excess_aurec_corrected)
    row = rue.evaluate(truth, rue.Draws(probs), gap=False, corrected=True)
    assert math.isfinite(row.excess_aurec_corrected)
    assert row.n_aurec == plain.n_aurec
    known = rue.Annotations.from_probs(probs.mean(axis=1))
    exact = rue.evaluate(known, rue.Draws(probs), gap=False, corrected=True)
    assert math.isnan(exact.excess_aurec_corrected)
    assert any("corrected columns are empty" in note for note in exact.notes)
    with pytest.raises(InputError, match="corrected columns follow Definition 1"):
        rue.evaluate(truth, rue.Draws(probs), corrected=True, convention="published")


def test_the_command_line(world, tmp_path, capsys):
    from rue.cli import main

    truth, alpha, _ = world
    np.savez(tmp_path / "p.npz", alpha=alpha, counts=truth.counts)
    call = ["evaluate", str(tmp_path / "p.npz"), "--no-gap", "--format", "json"]
    for more in (["--convention", "published"], ["--corrected"]):
        with pytest.raises(SystemExit) as stop:
            main([*call, *more])
        assert not stop.value.code
        (row,) = json.loads(capsys.readouterr().out)
        if more[0] == "--convention":
            want = rue.evaluate(truth, rue.Dirichlet(alpha), convention="published", gap=False)
            assert row["aurec"] == pytest.approx(want.aurec)
        else:
            assert row["n_aurec_corrected"] is not None


def test_the_bracket_follows_the_convention(world):
    truth, _, probs = world
    belief = rue.Draws(np.eye(3)[probs.argmax(axis=-1)])
    run = rue.Run.from_belief(truth, belief, "zero_one", convention="published")
    assert len(set(run.hat.epistemic)) < 5  # equal scores, so that row order matters
    row = rue.evaluate(truth, belief, "zero_one", convention="published", gap=False)
    low = run.star.total - run.star.aleatoric_high
    assert row.aurec_low == pytest.approx(naive.area(low, run.hat.epistemic), abs=1e-12)

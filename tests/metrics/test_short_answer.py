"""The short answer: a row in 12 lines, its HTML, and a note where the mean answer is better."""

import dataclasses

import numpy as np
import pytest

from rue import Annotations, Draws, Run, Scored, compare, evaluate, fit_selector, plan
from rue.inference.intervals import intervals
from rue.metrics.table import SHORT, format_rows


@pytest.fixture
def world(rng):
    p = rng.dirichlet(np.ones(4), 200)
    spread = rng.uniform(0, 0.8, (200, 1, 1))
    probs = (1 - spread) * p[:, None] + spread * rng.dirichlet(np.ones(4), (200, 5))
    return Annotations(rng.multinomial(12, p)), Draws(probs, method="ens")


@pytest.mark.parametrize("loss", ["log", "brier", "zero_one"])
def test_a_row_prints_a_sentence_and_few_lines(world, loss):
    row = evaluate(*world, loss)
    lines = str(row).splitlines()
    assert len(lines) <= 12
    assert all(line.strip() for line in lines)
    text = " ".join(" ".join(lines).split())
    assert f"It ranks regret better than chance: {row.n_aurec:.2f}, where 1 is random and " in text
    assert (
        f"{row.n_aurec_floor:.2f} the best that any ranking could show with these answers" in text
    )
    assert f"{row.n_aurec:.3f}" in text


def test_many_notes_are_counted(world):
    row = evaluate(*world, "brier")
    noted = type(row)(**{**vars(row), "notes": tuple(f"note {i}" for i in range(9))})
    lines = str(noted).splitlines()
    assert len(lines) == 12
    assert lines[-1].endswith("more in row.notes")


def test_a_notebook_shows_the_same(world):
    truth, belief = world
    row = evaluate(truth, belief.with_method("<b>"), "brier")
    assert "&lt;b&gt;" in row._repr_html_()
    assert f"<td>{row.n_aurec:.3f}</td>" in row._repr_html_()
    other = Run.from_belief(truth, Scored(belief.mean(), belief.mean()[:, 0]), method="b")
    run = Run.from_belief(truth, belief, method="a", with_answers=True)
    ranking = compare([run, other], criteria=["n_aurec"], n_replicates=50)
    assert "<th>expected rank</th>" in ranking._repr_html_()
    rule = fit_selector(run.star, run.hat, maximize="coverage", risk_max=1.2)
    assert rule._repr_html_().startswith("<pre>")
    assert "<th>n annotators</th>" in plan([run])._repr_html_()


def test_the_table_of_the_short_answer_fits_a_line(world):
    rows = [evaluate(*world, loss, method="evidential") for loss in ("brier", "zero_one")]
    lines = format_rows(rows, columns=SHORT).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].split() == [
        *("method", "loss", "↓", "n-AuReC", "floor", "expected", "↓", "by", "total"),
        *("↓", "AuReC", "↓", "AuRC", "↓", "P-gap", "r_s"),
    ]
    quick = [evaluate(*world, "log", gap=False, references=False)]
    assert "floor" not in format_rows(quick, columns=SHORT)
    assert "P-gap" not in format_rows(quick, columns=SHORT)


def test_swapped_classes_are_noticed(world):
    truth, belief = world
    assert not [note for note in evaluate(truth, belief).notes if "another order" in note]
    for wrong in (Draws(belief.probs[:, :, ::-1]), belief[np.arange(200)[::-1]].unnamed()):
        row = evaluate(truth, wrong, "brier", gap=False)
        assert any("is worse than that of the mean answer of all points" in n for n in row.notes)


def test_evaluation_and_comparison_have_the_same_intervals(world, rng):
    truth, belief = world
    noise = Draws(rng.dirichlet(np.ones(4), (200, 3)), method="noise")
    runs = [Run.from_belief(truth, b, "brier") for b in (belief, noise)]
    criteria = ["n_aurec", "aurec", "r_aurec", "aurc", "pareto_gap", "regret_calibration"]
    ranking = compare(runs, criteria=criteria, n_replicates=60, seed=5)
    for run in runs:
        found = intervals(run, n_replicates=60, seed=5)
        for key in criteria:
            ends = ranking[key].low[run.method], ranking[key].high[run.method]
            assert ends == (found.low[key], found.high[key])


def test_a_note_about_a_column_that_is_not_shown_is_not_printed():
    """The row itself has all notes; what prints six columns prints the notes about these."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([1, 1, 1], 500)
    members = np.exp(np.log(probs)[:, None] + rng.normal(size=(500, 5, 3)))
    belief = Draws(members / members.sum(axis=2, keepdims=True))
    row = evaluate(Annotations(rng.multinomial(4, probs)), belief, loss="brier")
    row = dataclasses.replace(row, notes=(*row.notes, "n-AuReC corr. is unreliable: a test"))
    assert "corr. is unreliable" not in str(row)
    row = dataclasses.replace(row, notes=("n-AuReC is undefined", "AuReC is fine", "and so on"))
    assert str(row).count("note: ") == 3

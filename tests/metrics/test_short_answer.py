"""The short answer: a row in 12 lines, its HTML, and a note where the mean answer is better."""

import dataclasses

import numpy as np
import pytest

from rue import Annotations, Draws, Run, Scored, compare, evaluate, fit_selector, plan
from rue.inference.intervals import intervals
from rue.metrics.columns import BLOCKS, COLUMNS, EVALUATED, SHORT
from rue.metrics.table import format_rows, notes


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


def test_the_bracket_is_named_and_no_area_is_negative(world):
    truth, belief = world
    row = evaluate(truth, Draws(np.stack([truth.probs, belief.mean()], axis=1)), "brier")
    assert row.aurec_low < 0  # the leave-one-out estimate of a regret can be negative
    assert f"regret-coverage curve; bracket 0.0000 to {row.aurec_high:.4f}" in str(row)
    known = evaluate(Annotations.from_probs(truth.probs), belief, "brier")
    assert "bracket" not in str(known)


def test_a_note_says_why_expected_can_be_below_the_floor(world):
    row = evaluate(*world, "brier").to_dict() | {"n_aurec_expected": 0.3, "n_aurec_floor": 0.4}
    (said,) = notes([row], SHORT)
    assert said.startswith("expected is n-AuReC on answers simulated from the belief")
    assert notes([row | {"n_aurec_expected": 0.5}], SHORT) == []
    assert notes([row], {"aurec"}) == []


def test_regret_is_shown_without_the_noise_of_the_answers_where_that_is_known(world):
    truth, belief = world
    row = evaluate(truth, belief, "brier")
    assert row.regret_unbiased < row.regret
    unbiased, measured = f"{row.regret_unbiased:.4f}", f"{row.regret:.4f}"
    text = str(row)
    assert f"{unbiased} of it was avoidable (regret), {measured} with the answers' noise" in text
    row = evaluate(truth, belief, "log")  # without an unbiased regret
    assert f"mean loss; at most {row.regret:.4f} of it was avoidable (regret)" in str(row)
    known = evaluate(Annotations.from_probs(truth.probs), belief, "brier")
    assert f"mean loss; {known.regret:.4f} of it was avoidable (regret)\n" in f"{known}\n"


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


def test_a_note_about_several_columns_names_those_that_are_shown(world):
    truth, belief = world
    counts = truth.counts.copy()
    counts[3] = [1, 0, 0, 0]
    row = evaluate(Annotations(counts), belief, gap=False)
    why = "empty: 1 of 200 points have one answer, and pairs of answers are needed"
    assert any(note.startswith("pair log loss, pair gain, ") for note in row.notes)
    assert not [note for note in notes([row], SHORT) if "pairs of answers" in note]
    assert f"ens log: team is {why}" in notes([row], ["team_risk"])
    assert f"ens log: parity, team are {why}" in notes([row], ["team_risk", "person_parity"])
    assert "pairs of answers" not in str(row)


def test_every_column_is_in_a_table_of_a_benchmark():
    shown = {key for block in BLOCKS.values() for key in block}
    shown |= {key for key, column in COLUMNS.items() if column.in_table}
    elsewhere = {"aurec_low", "aurec_high", "annotators_min", "annotators_mean", "annotators_max"}
    elsewhere |= {key for key in EVALUATED if key.endswith("_error") or "_at_" in key}
    # Plain criteria that were never in its tables; --columns shows them.
    assert set(EVALUATED) - shown - elsewhere == {"aurc_total", "regret_calibration", "regret"}


def test_no_block_has_simulated_and_corrected_columns(world):
    for block in (SHORT, *BLOCKS.values()):
        corrected = any(key.endswith("_corrected") for key in block)
        assert not (corrected and any(COLUMNS[key].simulated for key in block))
    row = evaluate(*world, "brier", gap=False)
    columns = ["n_aurec_floor", "n_aurec_corrected", "n_aurec"]
    for format, line in (("table", "─"), ("markdown", "| ---"), ("latex", r"\midrule")):
        text = format_rows([row], format, columns=columns)
        both = text.split("\n\n")
        assert len(both) == 2
        assert all(line in table for table in both)
        assert "floor" in both[0]
        assert "corr." not in both[0]
        assert "corr." in both[1]
        assert "\n\n" not in format_rows([row], format, columns=columns[1:])


@pytest.mark.parametrize("format", ["table", "latex", "markdown"])
def test_titles_name_the_limit(world, format):
    row = evaluate(*world, gap=False, references=False, at=0.8, coverage_at={"regret": 0.05})
    keys = ["risk_at_coverage", "coverage_at_regret"]
    for text in (format_rows([row], format), format_rows([row], format, columns=keys)):
        assert "risk at 0.8" in text
        assert "cov. at regret 0.05" in text
    other = evaluate(*world, gap=False, references=False, at=0.5)
    assert "risk at cov." in format_rows([row, other], format)
    assert format_rows([row], "csv", columns=keys).splitlines()[0] == (
        "method,loss,group,risk_at_coverage,coverage_at_regret"
    )

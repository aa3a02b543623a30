"""The one formatter: marks, escapes, numbers, every format."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from rue import Annotations, Draws, evaluate
from rue.errors import InputError
from rue.metrics.table import FORMATS, format_rows, to_frame, to_latex


def changed(row, method=None, loss=None, **numbers):
    """Return a row with other numbers."""
    names = {"method": row.method if method is None else method, "loss": loss or row.loss}
    return replace(row, **names, numbers={**row.numbers, **numbers})


@pytest.fixture
def rows(rng):
    people = Annotations(rng.multinomial(9, [0.5, 0.3, 0.2], 40))
    row = evaluate(people, Draws(rng.dirichlet(np.ones(3), (40, 4))), "log", gap=False)
    return [
        changed(row, method="a_1", aurec=0.2, n_aurec=0.5, spearman_hat=0.1),
        changed(row, method="b&c", aurec=0.1, n_aurec=0.50004, spearman_hat=-0.1),
        changed(row, method="d", aurec=0.3, n_aurec=float("nan"), spearman_hat=float("nan")),
    ]


def test_best_is_bold_and_second_underlined(rows):
    latex = to_latex(rows).splitlines()
    assert r"\underline{0.2000}" in latex[4]
    assert r"\textbf{0.1000}" in latex[5]
    assert "0.3000" in latex[6]
    assert "{0.3000}" not in latex[6]
    # What prints alike (0.500) is marked alike, here not at all: there is no second value.
    assert " 0.500 " in latex[4]
    assert " 0.500 " in latex[5]
    assert "{0.100}" not in "".join(latex)  # a correlation has no best


def test_names_are_escaped(rows):
    latex = to_latex([replace(rows[0], method=r"50%_\x{y}~^#$")])
    assert r"50\%\_\textbackslash{}x\{y\}\textasciitilde{}\textasciicircum{}\#\$" in latex
    assert r"b\&c" in to_latex(rows)
    assert r"a\|b" in format_rows([replace(rows[0], method="a|b")], "markdown")
    name = "_x_ mc_dropout **b** <b> `c` ~~d~~ [e](f) &lt; \\"
    text = format_rows([replace(rows[0], method=name)], "markdown")
    escaped = r"\_x\_ mc_dropout \*\*b\*\* \<b> \`c\` \~\~d\~\~ [e\](f) \&lt; \\"
    assert f"| {escaped} |" in text


def test_losses_race_apart(rows):
    other = [changed(row, loss="brier", aurec=row.aurec * 10) for row in rows]
    latex = to_latex(rows + other)
    assert latex.count(r"\textbf{") == 2 * to_latex(rows).count(r"\textbf{")
    assert r"\textbf{1.0000}" in latex


def test_small_numbers_are_not_lost(rows):
    assert "1.23e-05" in format_rows([changed(rows[0], aurec=1.234e-5)], "table")
    assert "9.87e-04" in format_rows([changed(rows[0], aurec=0.000987)], "table")
    assert " 0.0012 " in format_rows([changed(rows[0], aurec=0.00123)], "table")
    assert "0.0000" in format_rows([changed(rows[0], aurec=0.0)], "table")


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_holds_every_method(rows, format_):
    text = format_rows(rows, format_)
    assert all(name in text.replace("\\", "") for name in ("a_1", "b&c", "d"))


def test_machines_read_what_was_computed(rows):
    parsed = json.loads(format_rows(rows, "json"))
    assert [row["aurec"] for row in parsed] == [0.2, 0.1, 0.3]
    assert parsed[2]["n_aurec"] is None
    table = list(csv.DictReader(io.StringIO(format_rows(rows, "csv"))))
    assert float(table[1]["aurec"]) == 0.1
    assert table[2]["n_aurec"] == ""
    frame = to_frame(rows)
    assert frame["aurec"].tolist() == [0.2, 0.1, 0.3]
    assert frame["n_aurec"].isna().tolist() == [False, False, True]


def test_columns_stand_in_line(rows):
    lines = format_rows(rows, "table").replace("\x1b[1m", "").replace("\x1b[4m", "")
    lines = lines.replace("\x1b[0m", "").splitlines()
    assert len({len(line) for line in lines[1:3]}) == 1
    column = lines[0].index("AuReC") + len("AuReC")
    assert all(line[column - 6 : column].strip().count(".") == 1 for line in lines[2:])


def test_brackets_and_people_have_columns(rows):
    wide = changed(rows[0], aurec_low=-0.0123, annotators_min=3.0, annotators_max=9.0)
    for format_ in ("table", "markdown", "latex"):
        text = format_rows([wide], format_)
        assert "[-0.0123, " in text
        assert ("3--9, 9.0" if format_ == "latex" else "3-9, 9.0") in text
    nobody = {"aurec_low": np.nan, "annotators_min": np.nan}
    text = format_rows([changed(rows[0], **nobody)], "markdown")
    assert "bracket" not in text
    assert "people" not in text


def test_intervals_stand_with_their_numbers(rows):
    row = rows[0].to_dict() | {"ci": 0.95, "aurec_ci_low": 0.15, "aurec_ci_high": 1.25}
    row |= {"spearman_hat_ci_low": -0.5, "spearman_hat_ci_high": None}
    lines = format_rows([row], "table").splitlines()
    assert lines[3].strip() == "[.1500, 1.2500]"
    assert lines[2].index("0.2000") + 6 == lines[3].index("]") + 1
    assert "0.2000 [.1500, 1.2500]" in format_rows([row], "markdown")
    assert r"0.2000 {\scriptsize [.1500, 1.2500]}" in format_rows([row], "latex")
    assert json.loads(format_rows([row], "json"))[0]["aurec_ci_high"] == 1.25


def test_broken_calls_are_refused(rows):
    with pytest.raises(InputError, match="at least one row"):
        format_rows([])
    with pytest.raises(InputError, match="format must be"):
        format_rows(rows, "html")

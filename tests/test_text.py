"""Names from files are safe to print and to open in a spreadsheet."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rue._text import ESCAPES, one_line, protected, unprotected
from rue.cli import escape_lines
from rue.errors import FileError, MissingExtraError, RueError


def test_what_a_terminal_would_obey_is_shown():
    assert "a\x1b]0;title\x07b".translate(ESCAPES) == r"a\u001b]0;title\u0007b"
    assert "two\nlines\tand\rmore".translate(ESCAPES) == r"two\nlines\tand\rmore"
    assert "\u202egnp.exe \x9b31m \u2028".translate(ESCAPES) == r"\u202egnp.exe \u009b31m \u2028"
    assert "\udcff".translate(ESCAPES) == r"\udcff"
    plain = "Ünïcödé, 日本語, العربية, emoji \N{FAMILY}, r_s hat ↓"
    assert plain.translate(ESCAPES) == plain


def test_a_tables_own_marks_and_lines_stay():
    table = "name\n\x1b[1m0.1\x1b[0m\n\x1b[4m0.2\x1b[0m"
    assert escape_lines(table) == table
    assert escape_lines("\x1b[31mred\x1b[0m\x1b[2J\n") == "\\u001b[31mred\x1b[0m\\u001b[2J\n"


@given(st.text())
def test_what_is_printed_holds_no_control_characters(text):
    shown = text.translate(ESCAPES)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)
    shown.encode("utf-8")
    assert shown.translate(ESCAPES) == shown
    assert all(c == "\n" or ord(c) >= 32 for c in escape_lines(text.replace("\x1b", "")))


@given(st.text())
def test_escapes_keep_json_what_it_is(text):
    whole = json.dumps({"name": text}, ensure_ascii=False)
    again = json.loads(escape_lines(whole).encode("utf-8", "replace"))
    assert again == {"name": text}


@given(st.one_of(st.text(), st.text("'=+-@\t\r0.5e", max_size=6)))
def test_protected_cells_come_back_and_begin_with_no_formula(text):
    cell = protected(text)
    assert unprotected(cell) == text
    if cell[:1] and cell[0] in "=+-@\t\r":
        float(cell)  # a number is none


@pytest.mark.parametrize("cell", ["-0.5", "+1", "-1e-3", ".5", "12", "-4"])
def test_numbers_stay(cell):
    assert protected(cell) == cell


@pytest.mark.parametrize("cell", ["=1+2", "+cmd", "-", "@SUM(A1)", "\t=1", "-1-1", "-1_0", "--4"])
def test_formulas_get_an_apostrophe(cell):
    assert protected(cell) == "'" + cell


@pytest.mark.parametrize("kind", [RueError, FileError, MissingExtraError])
def test_an_error_is_one_line_whatever_names_are_in_it(kind):
    assert str(kind("no column 'a\r\nb\x1b[31m'")) == r"no column 'a\r\nb\u001b[31m'"
    assert str(kind("plain")) == "plain"


def test_one_line_joins_lines():
    assert one_line(ValueError("a:\n  - b\n\n- c")) == "a: - b - c"

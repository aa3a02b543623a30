"""How a page is filled, and the pieces of Markdown in it."""

import pytest

from studies import pages

PAGE = "before\n<!-- begin a -->\nold\n<!-- end a -->\nafter <!-- begin b --><!-- end b -->"


def test_fill_replaces_what_is_between_marks_only():
    assert pages.fill(PAGE, {"a": r"new \1", "b": "x"}) == (
        "before\n<!-- begin a -->\nnew \\1\n<!-- end a -->\nafter "
        "<!-- begin b -->\nx\n<!-- end b -->"
    )
    again = pages.fill(PAGE, {"a": "new"})
    assert pages.fill(again, {"a": "new"}) == again
    assert pages.fill(PAGE, {}) == PAGE


@pytest.mark.parametrize(("page", "found"), [("nothing", 0), (PAGE + PAGE, 2)])
def test_fill_refuses_a_page_without_exactly_one_place(page, found):
    with pytest.raises(ValueError, match=f"one block 'a' between marks, found {found}"):
        pages.fill(page, {"a": "new"})


def test_fill_file(tmp_path):
    (tmp_path / "page.md").write_text(PAGE)
    pages.fill_file(tmp_path / "page.md", {"a": "new"})
    assert (tmp_path / "page.md").read_text() == pages.fill(PAGE, {"a": "new"})


def test_pieces():
    assert pages.table(["method", "a", "b"], [["x", "1", "2"]]) == (
        "| method | a | b |\n|---|--:|--:|\n| x | 1 | 2 |"
    )
    assert pages.table(["method", "loss"], [], text=2) == "| method | loss |\n|---|---|"
    row = {"method": "x", "a": {"b": 0.25}}
    columns = {"method": "{method}", "a": "{a[b]:.1f}", "twice": lambda one: f"{2 * one['a']['b']}"}
    assert pages.table_of([row], columns) == pages.table([*columns], [["x", "0.2", "0.5"]])
    assert pages.interval([1, -0.5, 2], 1, "+") == "+1.0 [-0.5, +2.0]"
    assert pages.code("\n x = 1\n", "python") == "```python\nx = 1\n```"
    assert [pages.listed(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a",
        "a and b",
        "a, b and c",
    ]
    # The standard deviation of 1 and 3 around their mean 2 is sqrt((1 + 1) / (2 - 1)).
    assert pages.spread([1, 3], 2) == "2.00 ± 1.41"
    assert pages.spread(iter([1, 3]), 1) == "2.0 ± 1.4"
    assert pages.percent(0.1234) == "12.3 %"


def test_a_page_says_which_totals_are_of_the_old_definition():
    row = {"method": "ddu", "loss": "log", "aurc_total": None}
    kept = {"method": "ensemble", "loss": "log", "aurc_total": 0.25}
    proxy = {"method": "deup", "loss": ""}
    assert "by total of ddu are of an earlier definition" in pages.old_totals([row, kept, proxy])
    assert pages.old_totals([kept, proxy]) == ""

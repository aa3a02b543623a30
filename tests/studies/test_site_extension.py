"""Formulas and Sphinx roles in Markdown."""

import pytest
from markdown import Markdown

from studies.site.extension import SiteExtension


def converted(text):
    return Markdown(extensions=["fenced_code", SiteExtension()]).convert(text)


def test_a_formula_in_a_line():
    html = converted("the square $x^2$ of *x*")
    assert html.startswith('<p>the square <math xmlns="http://www.w3.org/1998/Math/MathML"')
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in html
    assert html.endswith("of <em>x</em></p>")
    assert 'display="inline"' in html


def test_a_formula_by_itself():
    html = converted("so\n\n$$\\sum_{i \\le j} \\alpha_i$$\n\nit is")
    assert 'display="block"' in html
    assert "<munder>" in html or "<msub>" in html
    assert "$" not in html


@pytest.mark.parametrize(
    "text",
    ["it costs $5 and $6", "`$x^2$`", "```\n$x^2$\n```", r"\$x$ is no formula", "a$b, c$d"],
)
def test_other_dollars_stay(text):
    html = converted(text)
    assert "<math" not in html
    assert "$" in html


def test_math_of_docstrings():
    assert "<msup>" in converted("the square :math:`x^2`")
    html = converted("It is\n\n.. math::\n\n    a_i\n    + b\n\nand more")
    assert 'display="block"' in html
    assert "<msub><mi>a</mi><mi>i</mi></msub>" in html
    assert "<p>and more</p>" in html
    assert "math::" not in html


@pytest.mark.parametrize(
    ("role", "link"),
    [
        (":func:`rue.decompose`", "[`rue.decompose`][rue.decompose]"),
        (":func:`decompose`", "[`decompose`][rue.decompose]"),
        (":class:`~rue.data.DataSet`", "[`DataSet`][rue.data.DataSet]"),
    ],
)
def test_roles_become_links(role, link):
    # Without the plugin that knows the targets a reference stays as it is written.
    assert converted(f"see {role}.") == converted(f"see {link}.")
    assert "][rue." in converted(f"see {role}.")


def test_roles_without_a_page_become_code():
    assert converted(":func:`_private`") == "<p><code>_private</code></p>"
    assert ":func:" in converted("```\n:func:`decompose`\n```")

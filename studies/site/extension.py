"""A Markdown extension: formulas become MathML, and Sphinx roles in docstrings become links.

``$x^2$`` stands in a line and ``$$x^2$$`` by itself, as on GitHub; docstrings may also use
``:math:`x^2` `` and ``.. math::``. Formulas are set when the site is built, so that a page needs
neither scripts nor a network to show them.
"""

import re
from functools import cache
from typing import Any

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

from studies.site.reference import GROUPS, identifiers

FORMULA = r"(?<![\\$\w])(\$\$?)(?=\S)((?:[^$\\]|\\.)+?)(?<=\S)\1(?![\w$])"
ROLE = re.compile(r":(?:func|class|meth|mod|attr|exc|data):`~?([\w.]+)`")
MATH_ROLE = re.compile(r":math:`([^`]+)`")
DIRECTIVE = re.compile(r"^( *)\.\. math::(.*)$")


class Formulas(InlineProcessor):
    """Set what is between dollars."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: N802
        display = "block" if m[1] == "$$" else "inline"
        html = convert(m[2].strip(), display=display)
        return self.md.htmlStash.store(html), m.start(0), m.end(0)


class Roles(Preprocessor):
    """Turn Sphinx roles and directives of docstrings into Markdown."""

    def run(self, lines: list[str]) -> list[str]:
        made, fenced = [], False
        lines = list(lines)
        while lines:
            line = lines.pop(0)
            if re.match(r" *(```|~~~)", line):
                fenced = not fenced
            elif not fenced and (match := DIRECTIVE.match(line)):
                line = match[1] + _display(match, lines)
            elif not fenced:
                line = MATH_ROLE.sub(r"$\1$", ROLE.sub(_link, line))
            made.append(line)
        return made


def _display(match: re.Match[str], lines: list[str]) -> str:
    """Return the formula of a directive, and take its lines."""
    formula = [match[2].strip()]
    while lines and (not lines[0].strip() or lines[0].startswith(match[1] + " ")):
        formula.append(lines.pop(0).strip())
    return f"$${' '.join(part for part in formula if part)}$$\n"


def _link(match: re.Match[str]) -> str:
    name = match[1]
    path = _paths().get(name.removeprefix("rue."))
    label = name.rpartition(".")[2] if match[0].count("~") else name
    return f"[`{label}`][{path}]" if path else f"`{label}`"


@cache
def _paths() -> dict[str, str]:
    """Return the public path of every name that the reference has, by its name and its paths."""
    path_of: dict[str, str] = {}
    for package in (each for group in GROUPS.values() for each in group):
        for name, path in identifiers(package).items():
            for known in (name, f"{package}.{name}", path.removeprefix("rue.")):
                path_of.setdefault(known, path)
    return path_of


class SiteExtension(Extension):
    """Register both."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        # Before escapes (180) and emphasis, after code spans (190).
        md.inlinePatterns.register(Formulas(FORMULA, md), "rue_formulas", 185)
        md.preprocessors.register(Roles(md), "rue_roles", 31)  # before fenced code (25)


def makeExtension(**settings: Any) -> SiteExtension:  # noqa: N802
    return SiteExtension(**settings)

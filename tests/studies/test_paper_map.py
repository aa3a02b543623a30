"""The map from the paper to the code is true, and leaves nothing out."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|\n ").split("|")]
    for line in (ROOT / "docs" / "paper_map.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| statement")
]
FOLDERS = ("src", "tests", "studies", "speed", "docs", "examples")
BUILT = [row for row in ROWS if row[1] != "-"]


def defined(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


@pytest.mark.parametrize("row", BUILT, ids=lambda row: row[0])
def test_what_the_map_names_is_there(row):
    _, symbol, file, test = row
    assert symbol in defined(ROOT / file)
    text = (ROOT / test).read_text()
    assert symbol in text, f"{test} does not use {symbol}"
    assert any(name.startswith("test_") for name in defined(ROOT / test))


def numbers(kind):
    """All numbers that the map gives for a kind of statement, ranges written out."""
    found = set()
    for statement, *_ in ROWS:
        if kind == "equation":
            for first, last in re.findall(r"\((\d+)\)(?:-\((\d+)\))?", statement):
                found |= set(range(int(first), int(last or first) + 1))
        elif match := re.search(rf"{kind}s? ((?:\d+(?:, )?)+)", statement):
            found |= {int(n) for n in re.findall(r"\d+", match.group(1))}
    return found


def test_every_equation_table_and_figure_is_in_the_map(paper):
    n_equations = 0
    for kind, body in re.findall(r"\\begin\{(equation|align)\}(.*?)\\end\{\1\}", paper, re.S):
        lines = [body] if kind == "equation" else re.split(r"\\\\", body)
        n_equations += sum(bool(line.strip()) and r"\nonumber" not in line for line in lines)
    assert n_equations == 24
    assert numbers("equation") == set(range(1, n_equations + 1))
    assert numbers("Table") == set(range(1, paper.count(r"\begin{table}") + 1))
    assert numbers("Figure") == set(range(1, paper.count(r"\begin{figure}") + 1))
    assert numbers("Theorem") == set(range(1, paper.count(r"\begin{theorem}") + 1))
    assert numbers("Definition") == set(range(1, paper.count(r"\begin{definition}") + 1))


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
OWN_PROJECT = "src/coin_rue/"
"""Files of the reader's own project."""


def test_files_that_pages_name_exist():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    there = {f"/{path.relative_to(ROOT)}" for path in files}
    folders = "|".join(FOLDERS)
    named = {
        (page.name, path.rstrip("/"))
        for page in PAGES
        if page.name not in ("CHANGELOG.md", "architecture.md")  # test_house.py checks the latter
        for path in re.findall(rf"`((?:{folders})/[\w/.-]+|[\w/]+\.py)`", page.read_text())
    }
    assert ("CONTRIBUTING.md", "src/rue/losses") in named
    missing = [
        (page, path)
        for page, path in sorted(named)
        if not any(file.endswith(f"/{path}") for file in there) and not path.startswith(OWN_PROJECT)
    ]
    assert missing == []

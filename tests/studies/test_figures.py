"""Every figure is used by a page, and every page's figure exists; the sandbox draws its own."""

import re

import pytest

import studies.sandbox
from studies import DOCS, FIGURES, ROOT, report

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def used():
    for page in PAGES:
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text()):
            yield (page.parent / link).resolve()


def test_every_figure_exists_and_is_used():
    linked = set(used())
    for path in linked:
        assert path.read_bytes().startswith(b"<svg" if path.suffix == ".svg" else b"\x89PNG"), path
    assert {path.resolve() for path in FIGURES.glob("*.png")} <= linked


def test_every_screenshot_of_the_report_is_in_its_page():
    page = (DOCS / "report.md").read_text()
    names = [name for _, name, *_ in report.SHOTS]
    assert len(set(names)) == len(names)
    for name in names:
        assert f"(figures/report-{name}.png)" in page, name


@pytest.mark.slow
def test_the_sandbox_draws_its_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(studies.sandbox, "FIGURES", tmp_path)
    studies.sandbox.main()
    for name in studies.sandbox.NAMES:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")

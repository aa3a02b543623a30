"""Every figure is used by a page, and every page's figure exists."""

import re

from studies import DOCS, FIGURES, ROOT, opening, pictures, report

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


def test_a_change_of_a_row_or_of_a_label_changes_the_stamp():
    rows = opening.run_rows()
    before = pictures.stamp_of(pictures.shown_in(opening.plot_found(rows)))
    assert before == pictures.stamp_of(pictures.shown_in(opening.plot_found(rows)))
    other = [row | {"n_aurec": row["n_aurec"] + 0.1} for row in rows]
    assert pictures.stamp_of(pictures.shown_in(opening.plot_found(other))) != before
    figure = opening.plot_found(rows)
    figure.axes[0].set_title("another title")
    assert pictures.stamp_of(pictures.shown_in(figure)) != before


def test_pictures_are_small():
    large = {path.name for path in FIGURES.glob("*.png") if path.stat().st_size > 300_000}
    assert large == set()

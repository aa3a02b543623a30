"""Every figure is used by a page, and every page's figure exists; the sandbox draws its own."""

import json
import re

import pytest

import studies.sandbox
from studies import (
    DOCS,
    FIGURES,
    RESULTS,
    ROOT,
    architecture,
    atlas,
    estimation,
    gallery,
    leaderboard,
    opening,
    pictures,
    published,
    report,
    results,
)
from studies.rows import read_rows

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
    monkeypatch.setattr(pictures, "FIGURES", tmp_path)
    monkeypatch.setattr(pictures, "STAMPS", tmp_path / "stamps.json")
    studies.sandbox.main()
    for name in studies.sandbox.NAMES:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def figures_from_rows():
    """The figures that stored rows are enough for, drawn again."""
    from rue.plots import plot_brackets

    yield "opening_ranks", opening.plot_ranks()
    yield "opening_regret", opening.plot_found(opening.run_rows())
    yield "published_ranks", published.figure()
    yield "atlas", atlas.figure(atlas.panels())
    yield "bracket", plot_brackets(read_rows("uncertainty")["bracket"])
    yield "estimation", estimation.draw(read_rows("estimation"))
    for name in results.names():
        yield from results.rank_figures(name).items()


def sources():
    """What each picture is drawn from, of those that can be computed here."""
    for name, figure in figures_from_rows():
        yield name, pictures.shown_in(figure)
    for name in results.names():
        record = json.loads((RESULTS / f"{name}.json").read_text())
        source = pictures.run_source(record)
        yield f"{name}_curves", source
        for loss in {row["loss"] for row in record["table"] if row["loss"]}:
            yield f"{name}_{loss}", source
    for name in gallery.ORDER:
        yield f"gallery_{name}", gallery.script_source(name)
    for name in studies.sandbox.NAMES:
        yield name, studies.sandbox.sandbox_source()
    for _, name, *_ in report.SHOTS:
        yield f"report-{name}", pictures.page_source()
    for name, *_ in leaderboard.SHOTS:
        yield f"leaderboard-{name}", pictures.page_source("rue.leaderboard")
    yield "architecture", architecture.picture_source(architecture.PAGE.read_text())
    for name in ("cifar", "movies"):
        yield f"deploy_{name}", read_rows("deploy")["rows"]


def test_no_picture_is_stale():
    stamps = json.loads(pictures.STAMPS.read_text())
    drawn = {path.stem for path in FIGURES.glob("*.png")}
    assert drawn == stamps.keys(), "keep_figure, keep_file and keep_image stamp pictures"
    computed = {name: pictures.stamp_of(source) for name, source in sources()}
    stale = [name for name in stamps.keys() & computed.keys() if stamps[name] != computed[name]]
    assert stale == [], "make numbers draws these pictures again"


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

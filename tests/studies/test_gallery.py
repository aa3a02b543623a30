"""Every script of the gallery runs, and its page shows its code and prose."""

import re

import pytest

from studies import FIGURES, gallery

SLOW = {"benchmark"}  # it trains; the others take a second or two


def script(name):
    return gallery.cells_of((gallery.SCRIPTS / f"{name}.py").read_text())


def shape(text):
    """A text with every number as 0, as another processor may change a digit."""
    return re.sub(r"[\s─]+", " ", re.sub(r"[-+]?\.?\d[\d.,]*(?:e[-+]\d+)?", "0", text))


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in gallery.ORDER],
)
def test_a_script_runs_and_draws(name, tmp_path):
    printed = list(gallery.printed_by(script(name), tmp_path))
    assert any(text.strip() for text in printed)
    page = shape((gallery.PAGES / f"{name}.md").read_text())
    for text in printed:
        assert shape(text).strip() in page, "run python -m studies gallery"
    assert (tmp_path / f"{name}.png").stat().st_size > 5_000


@pytest.mark.parametrize("name", gallery.ORDER)
def test_a_page_shows_its_script(name):
    page = (gallery.PAGES / f"{name}.md").read_text()
    cells = script(name)
    assert cells[0].kind == "markdown"
    assert page.startswith(cells[0].text)
    place = 0
    for cell in cells:
        place = page.index(cell.text, place) + len(cell.text)
    assert (FIGURES / f"gallery_{name}.png").is_file()
    assert f"gallery_{name}.png" in page


def test_the_index_lists_every_script():
    assert {path.stem for path in gallery.SCRIPTS.glob("*.py")} == set(gallery.ORDER)
    index = (gallery.PAGES / "index.md").read_text()
    assert all(f"({name}.md)" in index for name in gallery.ORDER)
    pages = {name: (gallery.PAGES / f"{name}.md").read_text() for name in gallery.ORDER}
    assert index == gallery.index_of(pages)


def test_cells_by_hand():
    cells = gallery.cells_of("# %% [markdown]\n# # A\n#\n# b\n\n# %%\nx = 1\nprint(x)\n")
    assert [(cell.kind, cell.text) for cell in cells] == [
        ("markdown", "# A\n\nb"),
        ("code", "x = 1\nprint(x)"),
    ]

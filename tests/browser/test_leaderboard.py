"""The leaderboard in a real browser: filters, sorting, ranks, and names that try something."""

import shutil

import pytest
from selenium.webdriver.common.keys import Keys

from rue.leaderboard import build_leaderboard, write_leaderboard
from submitted import change_row, write_submissions

pytestmark = pytest.mark.browser

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Four verified rows of two regimes, one that is not, one that is not accepted; two boards."""
    folder = write_submissions(tmp_path_factory.mktemp("board"), 40, 5)
    for k, regime in ((3, "tuned"), (4, "tuned")):
        change_row(folder / f"method{k}", lambda row, regime=regime: row.update(regime=regime))
    change_row(folder / "method1", lambda row: row["rows"][0].update(n_aurec=0.0))
    change_row(
        folder / "method0",
        lambda row: row.update(
            method=HOSTILE, settings={"x": HOSTILE, "y": "z" * 180}, link="https://example.org/a"
        ),
    )
    change_row(folder / "method2", lambda row: row.update(method="\u202eoverride"))
    shutil.copytree(folder / "method3", folder / "twin")
    board = build_leaderboard([folder])
    return board, write_leaderboard(board, folder.parent / "site", title=HOSTILE, command="rue x")


@pytest.fixture
def page(driver, built, page_class):
    return page_class(driver, *built).open()


def pick(page, name, value):
    page.js(
        "const s = document.getElementById(`pick-${arguments[0]}`); s.value = arguments[1];"
        "s.dispatchEvent(new Event('change'))",
        name,
        value,
    )


def names(page, board=0):
    return page.texts(f"#board-{board} .method-name")


def test_it_opens_without_errors_or_requests(page):
    assert page.driver.get_log("browser") == []
    assert page.js("return performance.getEntriesByType('resource').length") == 0
    assert page.js("return document.querySelectorAll('.board').length") == 2
    assert page.texts("h1") == [HOSTILE]
    assert page.texts("#subtitle") == ["10 rows · 9 verified · 1 data set · 2 losses"]


def test_the_ranks_are_the_library_s(page):
    board = page.report.boards[0]
    ranking = board.rankings[""]["n_aurec"]
    order = [board.rows[int(place)].method for place in ranking.order]
    last = [row.method for row in board.rows if row.problem]
    assert names(page) == order + last
    assert page.texts("#board-0 td.rank") == ["1", "2", "3", "4", "\u2013"]
    first = dict(zip(ranking.methods, ranking.rank_probability[:, 0], strict=True))
    shown = page.texts("#board-0 td.rank + td .number")
    assert shown == [f"{100 * first[place]:.0f} %" for place in ranking.order]
    assert page.texts("#board-0 .lead") == [board.sentence()]


def test_what_is_not_verified_says_why(page):
    assert page.texts("#board-0 .badge.no") == ["not verified"]
    assert page.texts("#board-0 .why")[0].startswith("claims n-AuReC 0, and its predictions give")
    page.find("#verified-only").click()
    assert len(names(page)) == 4
    assert page.texts("#refused li")[0].endswith("choose another")


def test_filters(page):
    pick(page, "loss", "zero_one")
    assert page.js("return document.querySelectorAll('.board').length") == 1
    pick(page, "loss", "")
    pick(page, "regime", "tuned")
    board = page.report.boards[0]
    ranking = board.rankings["tuned"]["n_aurec"]
    assert names(page) == [board.rows[int(place)].method for place in ranking.order]
    assert page.texts("#board-0 td.rank") == ["1", "2"]
    assert page.texts("#board-0 .lead") == [board.sentence("tuned")]
    pick(page, "criterion", "aurc")
    ranking = board.rankings["tuned"]["aurc"]
    assert names(page) == [board.rows[int(place)].method for place in ranking.order]


def test_filters_that_leave_nothing(page):
    page.js("rue.change({regime: 'nobody'})")
    assert page.js("return document.querySelectorAll('.board').length") == 0
    assert page.find("#nothing").is_displayed()


def test_sorting_with_the_keyboard(page):
    button = page.find("#board-0 [data-key='aurc'] button")
    button.send_keys(Keys.ENTER)
    rows = [row for row in page.report.boards[0].rows if row.verified]
    expected = [row.method for row in sorted(rows, key=lambda row: row.numbers["aurc"])]
    assert names(page)[:4] == expected
    assert page.js("return document.activeElement.closest('th').dataset.key") == "aurc"
    page.js("document.activeElement.click()")
    assert names(page)[:4] == expected[::-1]
    assert names(page)[4] == "method1"  # what is not verified stays below
    sort = "return document.querySelector('#board-0 [data-key=aurc]').ariaSort"
    assert page.js(sort) == "descending"


def test_all_columns(page):
    few = len(page.texts("#board-0 thead th"))
    page.find("#all-columns").click()
    assert len(page.texts("#board-0 thead th")) > few
    assert "calibration" in " ".join(page.texts("#board-0 thead th"))


def test_links_lead_to_the_settings(page):
    row = names(page).index(HOSTILE)
    links = "return [...document.querySelectorAll('#board-0 .tags a')].map((a) => a.hash)"
    place = page.js(links)[row]
    assert page.texts(f"{place} .method-name") == [HOSTILE]
    assert page.texts(f"{place} dd")[0] == HOSTILE
    link = page.find(f"{place} a")
    assert link.get_attribute("href") == "https://example.org/a"
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert page.js("return document.querySelectorAll('script').length") == 2


@pytest.mark.parametrize("width", [390, 1366, 1920])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_the_window(page, width, dark):
    page.open(width, 900, dark=dark)
    assert page.js("return document.documentElement.scrollWidth") == width
    paper = page.js("return getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(18, 21, 24)" if dark else "rgb(247, 247, 244)")


def test_it_can_be_printed(page):
    assert len(page.cdp("Page.printToPDF", printBackground=True)["data"]) > 10_000

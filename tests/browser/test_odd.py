"""The report in a real browser where it is hard: odd names, few points, the ends of sliders."""

import base64
import re

import pytest
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

HOSTILE = "<script>alert(1)</script>"


def type_in(page, name, value):
    page.js(
        "const n = document.getElementById(`${arguments[0]}-number`); n.value = arguments[1];"
        "n.dispatchEvent(new Event('input')); n.dispatchEvent(new Event('change'))",
        name,
        value,
    )
    page.frame()


def slide(page, name, step):
    page.js(
        "const s = document.getElementById(`${arguments[0]}-range`); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input'))",
        name,
        step,
    )
    page.frame()


def aim_for(page, goal):
    page.js("document.querySelector(`input[value=${arguments[0]}]`).click()", goal)
    page.frame()


@pytest.mark.parametrize("loss", ["log", "zero_one"])
def test_odd_pages_open_without_errors(odd, loss):
    """Numbers that differ by rounding only used to ask for ticks without end."""
    odd.open()
    odd.js("rue.change({loss: arguments[0]})", loss)
    odd.wait("return document.body.dataset.ready === 'yes'")
    for unit in ("accepted", "saved", "plain"):
        odd.js("rue.change({unit: arguments[0]})", unit)
        odd.frame()
        paths = "return [...document.querySelectorAll('svg path')].map((p) => p.getAttribute('d'))"
        assert not [path for path in odd.js(paths) if "NaN" in path]
    assert odd.driver.get_log("browser") == []


@pytest.mark.parametrize("size", [(390, 844), (1366, 768), (1920, 1080)])
def test_long_names_do_not_overflow(odd, size):
    odd.open(*size)
    assert odd.js("return document.documentElement.scrollWidth") == size[0]


def test_names_from_right_to_left_turn_nothing_else(odd):
    odd.open()
    odd.js("rue.change({focus: '\u202eoverride'})")
    odd.frame()
    for place in ("#curves-note", "#optimum .goal"):
        assert "\u2068\u202eoverride\u2069's" in odd.texts(place)[0]
    odd.js("rue.change({hidden: new Set(rue.content.methods.map((m) => m.name).toSpliced(2, 1))})")
    bold = "return getComputedStyle(document.querySelector('#summary b')).unicodeBidi"
    assert odd.js(bold) == "isolate"


def test_no_winner_is_named_among_ties(odd):
    odd.open()
    odd.js("rue.change({hidden: new Set(rue.content.methods.slice(3).map((m) => m.name))})")
    odd.frame()
    lead, _, gap = odd.texts("#summary p")
    names = [HOSTILE, "x" * 180, "\u202eoverride"]
    assert odd.texts("#summary b") == [*names, "0.123"]
    assert lead.startswith(f"{names[0]}, {names[1]} and {names[2]} have the lowest n-AuReC, 0.123")
    assert "worst" not in lead
    assert "come equally close" in gap


def test_texts_and_thumbnails_of_deferred_points(odd):
    odd.open()
    slide(odd, "risk", 0)
    assert sorted(odd.texts("#points .what p:first-child")) == sorted(
        [HOSTILE, "(no text)", "\u0645\u0631\u062d\u0628\u0627"]
    )
    thumb = "return getComputedStyle(document.querySelector('#points .thumb')).backgroundImage"
    assert odd.js(thumb).startswith('url("data:image/jpeg;base64,')
    places = odd.js(
        "return [...document.querySelectorAll('#points .thumb')].map((t) =>"
        " [t.getAttribute('aria-label'), t.style.backgroundPosition])"
    )
    # Three tiles of 60 pixels on a sheet of two columns.
    assert sorted(places) == [
        ["image p0", "0px 0px"],
        ["image p1", "-60px 0px"],
        ["image p2", "0px -60px"],
    ]


def test_cards_and_provenance(odd):
    odd.open()
    assert odd.texts("#data-card dd") == ["0.1000 to 0.2000"] * 10
    assert odd.texts("#method-cards dd") == [card.name for card in odd.report.methods]
    assert odd.texts("#command") == ["rue report"]
    assert odd.texts("#provenance .wide dd") == ["0"]


def test_the_leaderboard_shows_places_and_intervals(odd):
    odd.open()
    titles = odd.texts("#leaderboard th[data-key]")
    assert not any(title.startswith("risk") for title in titles)  # the main columns alone
    odd.find("#all-columns").click()
    titles = odd.texts("#leaderboard th[data-key]")
    column = next(i for i, title in enumerate(titles) if title.startswith("risk"))
    cells = f"#leaderboard tr > :nth-child({column + 1})"
    assert odd.texts(f"{cells}.best .number") == ["0.5000"]
    assert odd.texts(f"{cells}.second .number") == ["1.5000"]
    assert {text.split()[0] for text in odd.texts("#leaderboard .interval")} == {"0.1100"}


def test_surfaces_per_accepted_point_of_few_points(odd):
    """At coverage 0 there is no accepted point."""
    odd.open()
    odd.find("#spread").click()
    odd.frame()
    dark = """
        const canvas = document.getElementById("surface");
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(new Uint32Array(data.buffer)).size;
        """
    assert odd.js(dark) > 50


def test_methods_of_one_rank_are_drawn_side_by_side(odd):
    odd.open()
    ends = odd.js("return [...document.querySelectorAll('#ranks .end')].map((e) => e.outerHTML)")
    assert len(ends) == 10
    places = odd.js(
        "return [...document.querySelectorAll('#ranks circle')].map((c) =>"
        " [c.getAttribute('cx'), c.getAttribute('cy')].join())"
    )
    assert len(set(places)) == len(places)


def test_paper_has_room_for_every_column(odd):
    """The paper is A4 on its side, 297 by 210 mm, with 10 mm of margin all round."""
    odd.open()
    paper = base64.b64decode(odd.cdp("Page.printToPDF", preferCSSPageSize=True)["data"])
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", paper)
    assert {(round(float(w)), round(float(h))) for w, h in sizes} == {(842, 595)}  # points
    width = int(277 / 25.4 * 96)
    odd.open(width, 718)
    odd.cdp("Emulation.setEmulatedMedia", media="print")
    table = odd.js("return document.getElementById('leaderboard').scrollWidth")
    smallest = odd.js(
        "return Math.min(...[...document.querySelectorAll('#leaderboard *')].filter((e) =>"
        " e.textContent && !e.matches('.sr')).map((e) => parseFloat(getComputedStyle(e).fontSize)))"
    )
    odd.cdp("Emulation.setEmulatedMedia", media="")
    assert table <= width
    assert smallest * 72 / 96 >= 5.5


@pytest.mark.parametrize("loss", ["log", "zero_one"])
def test_the_last_step_of_a_slider_accepts_everything(small, loss):
    small.open()
    small.js("rue.change({loss: arguments[0]})", loss)
    small.wait("return document.body.dataset.ready === 'yes'")
    for name in ("risk", "regret"):
        slide(small, name, 1000)
    for part in ("optimum", "own"):
        cells = small.texts(f'#attained td[data-part="{part}"][data-key="coverage"]')
        assert cells == ["1", "1", "1"]


def test_a_coverage_above_1_means_1(small):
    small.open()
    aim_for(small, "risk")
    type_in(small, "coverage", "1")
    wanted = small.texts("#attained td")
    type_in(small, "coverage", "1.5")
    assert small.texts("#attained td") == wanted
    assert small.find("#coverage-number").get_attribute("value") == "1"


def test_budgets_come_back_with_the_goal_that_needs_them(small):
    small.open()
    boxes = "return [...document.querySelectorAll('.limit [type=checkbox]')].map((b) => b.checked)"
    for goal, wanted in (
        ("risk", [False, True, True]),
        ("regret", [True, False, True]),
        ("coverage", [True, True, False]),
    ):
        aim_for(small, goal)
        assert small.js(boxes) == wanted


@pytest.mark.parametrize("button", ["#chips .chip", "#leaderboard .name", "#attained .name"])
def test_the_keyboard_stays_where_it_was(small, button):
    small.open()
    small.find(button).send_keys(Keys.ENTER)
    small.wait("return document.body.dataset.ready === 'yes'")
    small.frame()
    assert small.js(
        "return document.activeElement === document.querySelector(arguments[0])", button
    )


def test_points_on_the_boundary_are_told(small):
    """Under 0/1 loss many points are equal, and a part of them is accepted."""
    small.open()
    small.js("rue.change({loss: 'zero_one'})")
    small.wait("return document.body.dataset.ready === 'yes'")
    small.frame()
    part = small.js(
        "return [...rue.explorer.found.get(rue.state.focus).optimum.share]"
        ".filter((s) => s > 0 && s < 1).length"
    )
    assert part > 0
    assert f"; {part} point" in small.texts("#points-count")[0]

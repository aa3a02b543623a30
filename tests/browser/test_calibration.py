"""The report's reliability diagrams in a real browser."""

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from rue.inference import calibration_bands
from rue.metrics.second_order import pair_scores
from rue.plots.methods import COLOURS, COLOURS_ON_DARK, method_styles

pytestmark = pytest.mark.browser

HOSTILE = "<script>alert(1)</script>"


def focus_on(page, method, loss="log"):
    page.js("rue.change({focus: arguments[0], loss: arguments[1]})", method, loss)
    page.wait("return document.body.dataset.ready === 'yes'")
    page.frame()


@pytest.mark.parametrize("method", ["method0", HOSTILE])
@pytest.mark.parametrize("loss", ["log", "zero_one"])
def test_bins_are_those_of_the_library(small, method, loss):
    small.open()
    focus_on(small, method, loss)
    run = small.entry(method, loss).run
    bands = calibration_bands(run.star.epistemic, run.hat.epistemic)
    curve = bands.curve
    cells = small.texts("#calibration-table tbody td")
    assert [int(n) for n in cells[::4]] == curve.count.tolist()
    shown = [float(cell) for row in zip(cells[1::4], cells[2::4], strict=True) for cell in row]
    wanted = np.column_stack([curve.estimated, curve.realised]).ravel()
    np.testing.assert_allclose(shown, wanted, rtol=1e-3, atol=1e-12)
    ends = [[float(end) for end in cell.split(" to ")] for cell in cells[3::4]]
    np.testing.assert_allclose(ends, np.column_stack([bands.low, bands.high]), rtol=1e-3)
    assert f"differ by {curve.gap:.3g} on average" in small.texts("#calibration-note")[0]


def test_the_arrow_keys_step_from_bin_to_bin(small):
    small.open()
    focus_on(small, "method0")
    chart = small.find("#reliability svg")
    chart.send_keys(Keys.HOME)
    assert chart.get_attribute("aria-valuetext").startswith("bin 1 of 10, 30 points: estimate ")
    chart.send_keys(Keys.ARROW_RIGHT)
    assert chart.get_attribute("aria-valuetext").startswith("bin 2 of 10, 30 points: estimate ")
    chart.send_keys(Keys.END, Keys.ARROW_RIGHT)
    said = chart.get_attribute("aria-valuetext")
    assert said.startswith("bin 10 of 10, 30 points: estimate ")
    assert small.texts("#reliability .tip-head") == ["bin 10 of 10, 30 points"]
    assert "95 % band" in said


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [(390, 844), (1366, 768)])
def test_line_band_and_diagonal_are_drawn_inside(small, size, dark):
    small.open(*size, dark=dark)
    focus_on(small, "method0")
    boxes = small.js(
        "const host = document.getElementById('reliability').getBoundingClientRect();"
        "return [...document.querySelectorAll("
        "  '#reliability path.line, #reliability polygon.band, #reliability svg > g > text')]"
        ".map((e) => e.getBoundingClientRect()).map((b) =>"
        " [b.width * b.height, b.left - host.left, host.right - b.right, b.top - host.top])"
    )
    assert len(boxes) > 8
    for area, *room in boxes:
        assert area > 0
        assert min(room) >= -1
    fill = "return getComputedStyle(document.querySelector('#reliability polygon.band')).fill"
    place = method_styles(small.texts("#leaderboard .name span:last-child"))["method0"].colour
    colour = (COLOURS_ON_DARK if dark else COLOURS)[place]
    assert small.js(fill) == f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"
    label = small.find("#reliability svg").get_attribute("aria-label")
    assert label.startswith("Reliability diagram of method0: regret against estimated epistemic")


def test_a_score_without_a_unit_is_not_drawn_and_the_page_says_why(small):
    small.open()
    reason = "its epistemic score comes from another source and has no unit"
    focus_on(small, "method0")
    assert f"\u2068method2\u2069 is not shown: {reason}" in small.texts("#calibration-note")[0]
    names = (
        "return [...document.querySelectorAll('#reliabilities path')].map(p => p.dataset.series)"
    )
    assert set(small.js(names)) == {"calibrated", "method0", HOSTILE}
    focus_on(small, "method2")
    assert small.texts("#reliability-missing")[0].startswith(f"Not shown: {reason}")
    assert not small.find("#reliability").is_displayed()
    assert not small.find("#calibration-bins").is_displayed()
    focus_on(small, "method0")
    assert small.texts("#reliability-missing") == [""]
    assert small.find("#reliability svg").is_displayed()


def test_one_method_has_one_diagram(named):
    named.open()
    assert named.find("#reliability svg").is_displayed()
    assert not named.find("#panel-reliabilities").is_displayed()


def test_equal_estimates_share_a_bin(odd):
    """Three points in ten bins: one bin for each, and a band without width."""
    odd.open()
    assert "over 3 bins of 1 point they" in odd.texts("#calibration-note")[0]


def test_agreement_is_that_of_the_library(small):
    small.open()
    focus_on(small, "method0")
    run = small.entry("method0", "log").run
    scores = pair_scores(run.annotations, run.belief)
    curve = calibration_bands(scores.agreement_star, scores.agreement_hat).curve
    cells = small.texts("#agreement-table tbody td")
    shown = [float(cell) for row in zip(cells[1::4], cells[2::4], strict=True) for cell in row]
    wanted = np.column_stack([curve.estimated, curve.realised]).ravel()
    np.testing.assert_allclose(shown, wanted, rtol=1e-3, atol=1e-12)
    note = small.texts("#agreement-note")[0]
    assert f"The mean prediction is {scores.agreement_hat.mean():.3g}" in note
    assert small.find("#agreement-one svg").is_displayed()
    assert small.find("#agreement-all svg").is_displayed()

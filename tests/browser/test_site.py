"""The documentation site in a real browser, opened from a disk: it searches and fits the window."""

import shutil
import time

import pytest
from selenium.webdriver.common.by import By

from studies.site.build import build
from studies.site.versions import add_version

pytestmark = pytest.mark.browser
PAGES = (
    "index",
    "idea",
    "gallery/index",
    "leaderboard",
    "sandbox",
    "results/demo",
    "api/losses",
    "commands/evaluate",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    build(folder / "site", folder / "work")
    return folder / "site"


def show(driver, page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(page.as_uri())


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_window(driver, site, name, width):
    show(driver, site / f"{name}.html", width)
    root = "document.documentElement"
    wider = driver.execute_script(f"return {root}.scrollWidth - {root}.clientWidth")
    assert wider <= 0


def test_formulas_are_drawn(driver, site):
    show(driver, site / "idea.html", 1280)
    boxes = driver.execute_script(
        "return [...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().width)"
    )
    assert len(boxes) > 5
    assert min(boxes) > 2


def test_search_works_from_a_disk(driver, site):
    show(driver, site / "api" / "losses.html", 1280)
    driver.find_element(By.CSS_SELECTOR, "button.md-search__button").click()
    deadline = time.monotonic() + 20
    found, typed = [], False
    while not any("pareto_gap" in text for text in found) and time.monotonic() < deadline:
        time.sleep(0.5)
        active = driver.switch_to.active_element
        if active.tag_name != "div":
            continue
        box = active.shadow_root.find_element(By.CSS_SELECTOR, "input")
        if not typed:
            box.send_keys("pareto gap")
            typed = True
        assert box.get_attribute("value") == "pareto gap"  # no keystroke is lost
        found = [a.text for a in active.shadow_root.find_elements(By.CSS_SELECTOR, "a")]
    assert any("pareto_gap" in text for text in found)


def test_the_switch_between_versions(driver, site, tmp_path):
    for version in ("0.0.9", "0.1.0"):
        add_version(tmp_path, lambda folder: shutil.copytree(site, folder), version)
    show(driver, tmp_path / "index.html", 1280)  # which leads to the newest version
    deadline = time.monotonic() + 20
    while "0.1.0" not in driver.current_url and time.monotonic() < deadline:
        time.sleep(0.1)
    show(driver, tmp_path / "0.1.0" / "api" / "losses.html", 1280)
    shown = "return [...document.querySelectorAll('.rue-versions option')].map(o => o.text)"
    assert driver.execute_script(shown) == ["0.1.0", "0.0.9"]
    driver.execute_script(
        "const s = document.querySelector('.rue-versions'); s.value = '0.0.9';"
        "s.dispatchEvent(new Event('change'))"
    )
    while "0.0.9" not in driver.current_url and time.monotonic() < deadline:
        time.sleep(0.1)
    assert driver.current_url == (tmp_path / "0.0.9" / "index.html").as_uri()

"""The documentation site in a real browser, opened from a disk: it searches and fits the window."""

import time

import pytest
from selenium.webdriver.common.by import By

from studies.site.build import build

pytestmark = pytest.mark.browser
PAGES = ("index", "idea", "sandbox", "results/demo", "api/losses", "commands/evaluate")


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
    found = []
    while not any("pareto_gap" in text for text in found) and time.monotonic() < deadline:
        time.sleep(0.5)
        active = driver.switch_to.active_element
        if active.tag_name != "div":
            continue
        box = active.shadow_root.find_element(By.CSS_SELECTOR, "input")
        if not box.get_attribute("value"):
            box.send_keys("pareto gap")
        found = [a.text for a in active.shadow_root.find_elements(By.CSS_SELECTOR, "a")]
    assert any("pareto_gap" in text for text in found)

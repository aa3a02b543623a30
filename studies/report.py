"""Take the screenshots of docs/report.md, of pages that `rue report` wrote, in chromium."""

import base64
import io
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from studies import OUT
from studies.pictures import keep_image, page_source
from studies.study import Options, Pages

# page, name, width, height, dark or light, what to scroll to
SHOTS = (
    (0, "laptop", 1366, 768, "light", "body"),
    (0, "phone", 390, 844, "dark", "#leaderboard-section"),
    (0, "explorer", 1366, 1000, "light", "#explorer"),
    (1, "cifar10h", 1366, 768, "dark", "body"),
    (1, "cifar10h-wide", 1920, 1080, "light", "#h-points"),
    (1, "cifar10h-phone", 390, 844, "light", "#optimum"),
    (1, "surfaces", 1366, 1000, "dark", "#surfaces"),
)


def run(options: Options) -> Pages:
    pages = options.folders(OUT / "demo.html", OUT / "cifar10h.html")
    with browser() as driver:
        for page, name, width, height, theme, place in SHOTS:
            shot = shoot(driver, pages[page].resolve(), width, height, theme, place)
            keep_image(shot, f"report-{name}", page_source())
    return {}


def sources() -> dict[str, Any]:
    return {f"report-{name}": page_source() for _, name, *_ in SHOTS}


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Start chromium without a window, and end it."""
    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for flag in ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"):
            options.add_argument(f"--{flag}")
        for flag in ("hide-scrollbars", f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


def shoot(
    driver: webdriver.Chrome, page: Path, width: int, height: int, theme: str, place: str
) -> Image.Image:
    """Return what a window of that size shows of a page, scrolled to a place."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    scheme = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    driver.get(page.as_uri())
    while driver.execute_script("return document.body.dataset.ready") != "yes":
        time.sleep(0.1)
    driver.execute_script("document.querySelector(arguments[0]).scrollIntoView()", place)
    time.sleep(1)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"]
    return Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")

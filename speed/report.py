"""The report: how long it takes to write, to open in chromium, and a slider to answer."""

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from rue.report import from_files, write_report
from speed.pareto import answers_and_draws
from speed.timing import Rows, least

FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync")
STEP = """
const slider = document.getElementById("regret-range"), done = arguments[1];
const start = performance.now();
slider.value = arguments[0];
slider.dispatchEvent(new Event("input"));
requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""


def rows() -> Rows:
    yield from written()
    yield from opened()


def written() -> Rows:
    """Write the page of 100,000 points: the surfaces of its figures are those of the gap."""
    counts, probs = answers_and_draws(100_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "method.npz")
        np.savez(path, probs=probs, counts=counts)

        def write():
            write_report(from_files({"method": path}, {"log": "log"}), Path(folder, "page.html"))

        what = "report, 1 method x 100,000 points: write"
        yield what, least(write, 2), "limit", 5.25, "<= 1"


def opened() -> Rows:
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        return
    with tempfile.TemporaryDirectory() as folder:
        page = _page(Path(folder))
        driver = _driver(folder)
        try:
            opened = [_open(driver, page) for _ in range(4)]
            what = "report, 5 methods x 10,000 points: "
            yield what + "open", min(t for t, _ in opened), "limit", 2.0, "<= 1"
            yield what + "all rules ranked", min(t for _, t in opened), "limit", 2.0, "<= 1"
            steps = [driver.execute_async_script(STEP, 300 + 5 * k) for k in range(30)]
            yield what + "slider step", min(steps) / 1000, "limit", 0.1, "<= 1"
            yield what + "slider step, median", sorted(steps)[15] / 1000, "limit", 0.1, "<= 1"
        finally:
            driver.quit()


def _page(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(10, 0.3), 10_000)
    counts = np.stack([rng.multinomial(50, p) for p in truth])
    files = {}
    for k in range(5):
        mix = rng.beta(1, 2 + k, (10_000, 1, 1))
        probs = (1 - mix) * truth[:, None] + mix * rng.dirichlet(np.ones(10), (10_000, 5))
        files[f"method{k}"] = folder / f"{k}.npz"
        np.savez(files[f"method{k}"], probs=probs, counts=counts)
    write_report(from_files(files, {"log": "log"}), folder / "report.html")
    return folder / "report.html"


def _driver(folder: str):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"user-data-dir={folder}/profile"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def _open(driver, page: Path) -> tuple[float, float]:
    """Seconds until the optimum can be read, and until every method's own rules are drawn, too."""
    start = time.perf_counter()
    driver.get(page.as_uri())
    while not driver.execute_script("return document.querySelector('#optimum dd') !== null"):
        time.sleep(0.005)
    shown = time.perf_counter() - start
    while driver.execute_script("return document.body.dataset.ready") != "yes":
        time.sleep(0.005)
    return shown, time.perf_counter() - start

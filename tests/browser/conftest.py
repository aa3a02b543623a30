"""A real browser: Debian's chromium, driven by selenium, without a network.

``make test-browser`` installs both and runs these tests; ``make test`` leaves them out.
"""

import shutil
import time

import numpy as np
import pytest

from reported import write_world
from rue import Components, Run
from rue.metrics.columns import COLUMNS
from rue.report import (
    DataCard,
    Items,
    MethodCard,
    Provenance,
    Report,
    ReportEntry,
    from_files,
    write_report,
)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
HOSTILE = "<script>alert(1)</script>"
LOSSES = {"log": "log", "zero_one": "zero_one"}


class Page:
    """A page in the browser, and how to look at it."""

    def __init__(self, driver, report, path):
        self.driver, self.report, self.path = driver, report, path

    def open(self, width=1366, height=768, *, dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.cdp("Emulation.setDeviceMetricsOverride", **size)
        self.cdp("Emulation.setEmulatedMedia", features=[scheme])
        self.driver.get(self.path.as_uri())
        self.wait("return document.body.dataset.ready === 'yes'")
        self.frame()
        return self

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def wait(self, code, seconds=60):
        end = time.monotonic() + seconds
        while not self.js(code):
            assert time.monotonic() < end, (code, self.driver.get_log("browser"))
            time.sleep(0.02)

    def frame(self):
        """Let the page draw what it was asked to."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))"
        )

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        return self.js(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector,
        )

    def entry(self, method, loss):
        return next(e for e in self.report.entries if (e.method, e.loss) == (method, loss))


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium, "no chromium here: make test-browser installs it"
    assert chromedriver, "no chromedriver here: make test-browser installs it"
    options = Options()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    driver.set_script_timeout(60)
    driver.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def page_class():
    return Page


@pytest.fixture(scope="session")
def small(driver, tmp_path_factory):
    """Three methods, one of them with a name that would like to be run, on 300 points."""
    folder = tmp_path_factory.mktemp("small")
    files = write_world(folder, 300, 3)
    files = {HOSTILE if name == "method1" else name: path for name, path in files.items()}
    report = from_files(files, LOSSES, title=f"A title {HOSTILE}", command="rue report")
    write_report(report, folder / "report.html")
    return Page(driver, report, folder / "report.html")


@pytest.fixture(scope="session")
def named(driver, tmp_path_factory):
    """One method on 60 points whose classes have names."""
    folder = tmp_path_factory.mktemp("named")
    files = write_world(folder, 60, 1)
    with np.load(files["method0"]) as file:
        arrays = dict(file)
    np.savez(files["method0"], **arrays, classes=["cat", "dog", "horse", "<b>hare</b>"])
    report = from_files(files, LOSSES)
    write_report(report, folder / "report.html")
    return Page(driver, report, folder / "report.html")


@pytest.fixture(scope="session")
def large(driver, tmp_path_factory):
    """Five methods on 10,000 points."""
    folder = tmp_path_factory.mktemp("large")
    report = from_files(write_world(folder, 10_000, 5), {"log": "log"}, title="Large")
    write_report(report, folder / "report.html")
    return Page(driver, report, folder / "report.html")


@pytest.fixture(scope="session")
def odd(driver, tmp_path_factory):
    """Ten methods that predict alike, with awkward names, on three points and all criteria.

    Under 0/1 loss total less epistemic, the aleatoric part, differs by rounding only.
    """
    rng = np.random.default_rng(0)
    names = (HOSTILE, "x" * 180, "\u202eoverride", "a & b", *map(str, range(6)))
    texts = (HOSTILE, "", "\u0645\u0631\u062d\u0628\u0627")
    images = tuple(rng.integers(0, 256, (3, 8, 8, 3), dtype=np.uint8))
    aleatoric, epistemic = rng.gamma(1.0, size=(2, 3))
    same, some = np.full(3, np.log(2)), np.array([0.637, 0.27, 0.041])
    found = {
        "log": Components(aleatoric + epistemic, aleatoric, epistemic),
        "zero_one": Components(same + some, same, some),
    }
    row = {key: 0.1234 for key, column in COLUMNS.items() if column.explanation}
    row |= {"aurec_low": 0.1, "aurec_high": 0.2, "aurc_ci_low": 0.11, "aurc_ci_high": 0.13}
    report = Report(
        "Odd",
        tuple(
            ReportEntry("data", name, loss, row | {"risk": 0.5 + k}, Run(star, star), np.ones(3))
            for loss, star in found.items()
            for k, name in enumerate(names)
        ),
        (DataCard("data", Items(np.array(["p0", "p1", "p2"]), texts, images, (0, 1, 2))),),
        tuple(MethodCard(name, {name: name}) for name in names),
        Provenance("rue report", {}, {"x" * 180: "0"}),
    )
    path = tmp_path_factory.mktemp("odd") / "report.html"
    write_report(report, path)
    return Page(driver, report, path)

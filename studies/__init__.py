"""The studies that compute the numbers, figures and pages of docs/.

Run one with ``python -m studies NAME`` (:mod:`studies.study`); ``make numbers`` runs those that
take minutes, ``make results`` the benchmarks. The package is not part of the wheel. Pages are
filled from stored rows, so no number in a page is typed by hand.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FIGURES = DOCS / "figures"
RESULTS = DOCS / "results"
"""Benchmark runs: one JSON file of rows and one page for each."""
ROWS = DOCS / "rows"
"""Rows of all other studies."""
OUT = ROOT / "out"

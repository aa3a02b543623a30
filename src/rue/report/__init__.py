"""The report: one self-contained HTML page that a team passes around.

model.py     what a report tells: entries, cards, provenance
collect.py   a report of prediction files
folder.py    a report of a benchmark's folder
items.py     ids, texts and thumbnails of the points
thinning.py  curves and surfaces, thinned for display
page.py      the page: data packed, assets put in, nothing fetched
assets/      the page's own HTML, CSS and JavaScript

The page solves Theorem 1 itself (assets/selectors.js), by the same steps as
:func:`rue.optimal_selector`, so that sliders answer at once.
"""

from rue.report.collect import from_files
from rue.report.folder import from_folder
from rue.report.model import DataCard, Items, MethodCard, Provenance, Report, ReportEntry
from rue.report.page import render, write_report

__all__ = [
    "DataCard",
    "Items",
    "MethodCard",
    "Provenance",
    "Report",
    "ReportEntry",
    "from_files",
    "from_folder",
    "render",
    "write_report",
]

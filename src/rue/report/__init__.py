"""The report: one self-contained HTML page.

model.py     the content of a report: entries, cards, provenance
collect.py   a report of prediction files, or of a benchmark's folder
items.py     ids, texts and thumbnails of the points
page.py      the self-contained page of a template, scripts and packed content
page_content.py what the page shows, as JSON and arrays; curves and surfaces are thinned
assets/      the HTML, CSS and JavaScript of the page

The page solves Theorem 1 itself (assets/selectors.js), by the same steps as
:func:`rue.optimal_selector`, so that it responds to its sliders immediately.
"""

from rue.report.collect import from_files, from_folder
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

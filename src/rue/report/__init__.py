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

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

"""The scripts that make the numbers, figures and pages of docs/; not part of the wheel."""

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"

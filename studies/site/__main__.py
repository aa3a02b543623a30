"""Build the site: ``python -m studies.site [FOLDER]``."""

import sys
from pathlib import Path

from studies import ROOT
from studies.site.build import build

if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")

"""Build the site: ``python -m studies.site [FOLDER]``; each version has a folder in it."""

import sys
from pathlib import Path

from studies import ROOT
from studies.site.build import build
from studies.site.versions import add_version

if __name__ == "__main__":
    add_version(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site", build)

"""README on a package index has no link that works in the repository alone."""

import re
import tomllib
from pathlib import Path

from hatch_build import absolute_links

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "https://example.org/rue"


def test_links_and_images_become_absolute_and_others_stay():
    page = "![a](docs/a.png) [b](docs/b.md#c) [d](https://x.org/) [e](#f) [g](mailto:h@i.j)"
    assert absolute_links(page, SOURCE) == (
        f"![a]({SOURCE}/raw/main/docs/a.png) [b]({SOURCE}/blob/main/docs/b.md#c) "
        f"[d](https://x.org/) [e](#f) [g](mailto:h@i.j)"
    )


def test_the_links_of_readme_lead_to_files():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    page = absolute_links((ROOT / "README.md").read_text(), urls["Source"])
    start = re.escape(urls["Source"])
    files = re.findall(rf"\]\({start}/(?:blob|raw)/main/([^)#]+)", page)
    assert len(files) > 10
    assert [name for name in files if not (ROOT / name).is_file()] == []
    assert re.findall(r"\]\((?!https:|#)[^)]*\)", page) == []

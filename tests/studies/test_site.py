"""The site builds strictly, from the code, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rue

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    settings = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    return out


def test_nothing_comes_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text()):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), f"{page}: {tag}"


def test_every_page_is_there(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    assert not list(site.rglob("*.py"))


def test_the_reference_is_the_code(site):
    api = (site / "api.html").read_text()
    for name in rue._PUBLIC:
        assert f'id="rue{name.lower()}"' in api.replace(".", "")
    contents = api[api.index('aria-label="Table of contents"') :]
    for name in ("rueadapterstorchdraws", "ruedataload", "ruelossesloss"):
        assert f'href="#{name}"' in contents
    for method in ("Accumulator.update(", "Annotations.from_ratings(", "Rule.save(", "Loss.risk("):
        assert method in api
    assert ":func:" not in api
    assert ":class:" not in api
    commands = (site / "commands.html").read_text()
    for words in ("rue evaluate", "rue bench run", "rue data fetch", "--risk-max", "rue report"):
        assert words in commands

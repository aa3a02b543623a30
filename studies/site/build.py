"""Write all pages into build/site, and let Zensical build the site from them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

import rue
from studies import DOCS, RESULTS, ROOT
from studies.gallery import ORDER, PAGES
from studies.site import commands, reference, versions
from studies.site.font import write_font

CONFIG = ROOT / "mkdocs.yml"
WORK = ROOT / "build" / "site"
RUNS = {
    "The atlas": (RESULTS / "atlas", None),
    "Other runs": (RESULTS, RESULTS / "published.md"),
}
"""Sections of recorded runs: their folder, and a page that has another place in the menu."""
SHIM = "https://unpkg.com/iframe-worker/shim"


def build(site: Path, work: Path = WORK) -> None:
    """Build the site into a folder; a warning is an error."""
    shutil.rmtree(work, ignore_errors=True)
    write_pages(work / "docs")
    config = configured(yaml.safe_load(CONFIG.read_text()))
    (work / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    run_zensical(work / "mkdocs.yml")
    write_font(work / "site", work / "site" / "assets" / "math.woff")
    for page in (work / "site").rglob("*.html"):
        _finish(page, work / "site")
    shutil.rmtree(site, ignore_errors=True)
    shutil.move(work / "site", site)


def _finish(page: Path, site: Path) -> None:
    """Let a page load our own worker, and link the repository without asking its host for facts."""
    up = "../" * (len(page.relative_to(site).parts) - 1)
    address = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    link = f'<a class="rue-source" href="{address}">Repository</a>'
    html = page.read_text().replace(SHIM, f"{up}assets/worker.js")
    page.write_text(re.sub(r'(<div class="md-header__source">)\s*(</div>)', rf"\1{link}\2", html))


def run_zensical(config: Path) -> None:
    """Run the builder; a docstring that cannot be read is an error, too."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(config)]
    search = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=config.parent,
        env=os.environ | {"PYTHONPATH": search},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout, end="")
    if done.returncode or re.search(r"^(griffe|Warning)", done.stdout, re.M):
        raise SystemExit("the site has problems: see above")


def write_pages(docs: Path) -> None:
    """Copy docs/ and write the generated pages beside it."""
    shutil.copytree(DOCS, docs)
    versions.write_list(docs, [rue.__version__])
    for folder, pages in (("commands", commands.pages()), ("api", reference.pages())):
        (docs / folder).mkdir()
        for name, text in pages.items():
            (docs / folder / name).write_text(text)


def configured(config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with the menu filled in and paths that are valid in WORK."""
    made = dict(config)
    made["docs_dir"], made["site_dir"] = "docs", "site"
    made["site_name"] = f"{config['site_name']} {rue.__version__}"
    handler = made["plugins"][-1]["mkdocstrings"]["handlers"]["python"]
    handler["paths"] = [str(ROOT / "src")]
    made["nav"] = [_section(part) for part in config["nav"]]
    return made


def _section(part: Any) -> Any:
    """Return an entry of the menu, with the sections below it that are empty filled in."""
    if isinstance(part, str):
        return part
    ((title, entries),) = part.items()
    if entries:
        below = entries if isinstance(entries, str) else [_section(entry) for entry in entries]
        return {title: below}
    if title in RUNS:
        folder, apart = RUNS[title]
        index = folder / "index.md"
        runs = [p for p in sorted(folder.glob("*.md")) if p not in (index, apart)]
        first = [str(index.relative_to(DOCS))] if index.exists() else []
        return {title: [*first, *({heading(p): str(p.relative_to(DOCS))} for p in runs)]}
    if title == "Gallery":
        named = [{heading(PAGES / f"{name}.md"): f"gallery/{name}.md"} for name in ORDER]
        return {title: ["gallery/index.md", *named]}
    if title == "Command line":
        names = [name for name in commands.pages() if name != "index.md"]
        return {title: ["commands/index.md", *({f"rue {n[:-3]}": f"commands/{n}"} for n in names)]}
    if title == "Python":
        groups: list[Any] = ["api/index.md"]
        for name, packages in reference.GROUPS.items():
            pages = [{f"rue.{package}": f"api/{package}.md"} for package in packages]
            groups.append({name: pages})
        return {title: groups}
    raise ValueError(f"the section {title} of the menu is empty")


def heading(page: Path) -> str:
    """Return the first heading of a page."""
    return next(line for line in page.read_text().splitlines() if line.startswith("# "))[2:]

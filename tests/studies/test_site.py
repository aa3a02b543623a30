"""The site builds strictly, from the code, and loads nothing from elsewhere."""

import re
from html import unescape

import pytest
import yaml

import rue
from rue.cli import make_app
from studies import DOCS
from studies.site import build, commands, reference


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    build.build(folder / "site", folder / "work")
    return folder / "site"


def text_of(page):
    html = re.sub(r"<(script|style)\b.*?</\1>", "", page.read_text(), flags=re.S)
    return unescape(re.sub(r"<[^>]+>", "", html))


def test_nothing_comes_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text()):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), f"{page}: {tag}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?https?:", sheet.read_text()), sheet


def test_every_page_is_there_and_in_the_menu(site):
    config = build.configured(yaml.safe_load(build.CONFIG.read_text()))
    listed = list(entries(config["nav"]))
    assert len(set(listed)) == len(listed)
    found = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    found |= {f"commands/{name}" for name in commands.pages()}
    found |= {f"api/{name}" for name in reference.pages()}
    assert set(listed) == found
    for page in found:
        assert (site / page).with_suffix(".html").is_file()
    assert not list(site.rglob("*.py"))


def entries(nav):
    for part in nav:
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            yield from entries(part)
        else:
            yield from entries(part.values())


def test_the_reference_has_every_public_name_once(site):
    packages = [name for group in reference.GROUPS.values() for name in group]
    assert sorted(packages) == sorted(name for name, module in rue._LAZY.items() if module == "rue")
    paths = [path for name in packages for path in reference.identifiers(name).values()]
    assert len(set(paths)) == len(paths)
    assert {f"rue.{name}" for name in rue._LAZY if rue._LAZY[name] != "rue"} <= set(paths)
    for name in packages:
        html = (site / "api" / f"{name}.html").read_text()
        for path in reference.identifiers(name).values():
            assert f'id="{path}"' in html, path
        assert not re.search(r":(func|class|meth|mod|math):", html)


def test_no_formula_stands_there_as_text(site):
    formula = re.compile(r"[^\n]*(?:\w_\{|\bsum_\w|\^[2T]\b|\balpha_[0k]|\bE\[\w)[^\n]*")
    for page in (site / "api").glob("*.html"):
        html = re.sub(r"<(script|style|math|pre|code)\b.*?</\1>", "", page.read_text(), flags=re.S)
        found = formula.search(unescape(re.sub(r"<[^>]+>", "", html)))
        assert found is None, f"{page.name}: {found and found[0].strip()}"


def test_the_reference_is_the_code(site):
    text = text_of(site / "api" / "metrics.html")
    for words in ("rue.evaluate", "Parameters:", "one row of the paper", ">>> row = rue.evaluate("):
        assert words in text
    assert "Loss.risk" in (site / "api" / "losses.html").read_text()
    html = (site / "api" / "components.html").read_text()
    assert 'href="beliefs.html#' in html  # a signature links to what it mentions


def test_every_command_has_its_page(site):
    app = make_app()
    names = [group.name for group in app.registered_groups]
    names += [command.name for command in app.registered_commands]
    assert {f"{name}.md" for name in names} | {"index.md"} == set(commands.pages())
    text = text_of(site / "commands" / "bench.html")
    for words in ("rue bench run", "rue bench table", "--workers", "--against"):
        assert words in text
    text = text_of(site / "commands" / "evaluate.html")
    for words in ("--truth", "Example:", "rue evaluate ensemble.npz", "[default: table]"):
        assert words in text


def test_formulas_are_mathematics(site):
    html = (site / "idea.html").read_text()
    assert html.count("<math") > 5
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">' in html
    for page in site.rglob("*.html"):
        left = re.sub(r"<(pre|code|script)\b.*?</\1>", "", page.read_text(), flags=re.S)
        assert not re.search(r"\$[^$\n<]*[\^_][^$\n<]*\$", left), page
    for name, least in {"losses": 15, "components": 4, "pareto": 4, "metrics": 4}.items():
        assert (site / "api" / f"{name}.html").read_text().count("<math") >= least, name
    assert 10_000 < (site / "assets" / "math.woff").stat().st_size < 300_000


def test_what_zensical_does_not_refuse_is_refused(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Here\n\n[gone](gone.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\ndocs_dir: docs\n")
    with pytest.raises(SystemExit, match="the site has problems"):
        build.run_zensical(tmp_path / "mkdocs.yml")


def test_pages_of_commands_group_options_as_help_does():
    page = commands.pages()["evaluate.md"]
    titles = re.findall(r"^\*\*(\w+)\*\*$", page, re.M)
    assert titles == ["Arguments", "Input", "Loss", "Intervals", "Output", "Options"]
    assert "`FILE...`" in page
    assert "list[str]" not in page

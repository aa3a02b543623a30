"""The package in examples/plugin: it is what docs/extending.md shows, and it runs."""

import re
import tomllib

import pytest

from studies import DOCS, ROOT
from wheels import install, run

PLUGIN = ROOT / "examples" / "plugin"


def test_the_page_shows_the_files_of_the_template():
    page = (DOCS / "extending.md").read_text()
    shown = dict(re.findall(r"^\*\*`([^`]+)`\*\*\n\n```\w+\n(.*?)^```$", page, re.M | re.S))
    files = [path for path in PLUGIN.rglob("*") if path.suffix in (".py", ".toml")]
    whole = {str(p.relative_to(PLUGIN)): p.read_text() for p in files if p.name != "__init__.py"}
    assert shown == whole


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    points = {
        group: [f"{name} = {target}" for name, target in found.items()]
        for group, found in project["entry-points"].items()
    }
    files = {path.name: path.read_text() for path in (PLUGIN / "src" / "coin_rue").glob("*.py")}
    install(folder, "coin_rue", files, points, project["version"])
    return folder / "site"


RUN = f"""
import json, pathlib
import rue
from rue.bench.suite import parse_suite
from rue.methods import METHODS
suite = parse_suite(pathlib.Path({str(PLUGIN / "coins.toml")!r}).read_text())
data = rue.data.load("coins", n_points=200)
method = METHODS["bootstrap_logistic"]
(fitted,) = method.fit(data, method.Config(n_members=5), seeds=[0])
test = data.part("test")
row = rue.evaluate(test.annotations, fitted.predict(test.inputs), loss="brier", gap=False)
info = rue.data.info("coins")
print(json.dumps([suite.methods, suite.datasets, row.n_points, row.regret, info.n_classes]))
"""


def test_the_template_is_found_and_runs(site):
    methods, datasets, n_points, regret, n_classes = run(site, RUN)
    assert methods == ["bootstrap_logistic", "forest"]
    assert list(datasets) == ["coins"]
    assert n_points == 67  # of the 100 points that are not trained on, 33 validate
    assert 0 < regret < 0.1  # a logistic regression knows most, but not the interaction
    assert n_classes == 2


BENCH = """
import json, contextlib, io, sys
from rue.cli import main
printed = io.StringIO()
for words in (["run", "{suite}", "--out", "{out}"], ["table", "{out}"]):
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main(["bench", *words])
print()
print(json.dumps(printed.getvalue()))
"""


@pytest.mark.slow
def test_its_suite_runs(site, tmp_path):
    code = BENCH.format(suite=PLUGIN / "coins.toml", out=tmp_path / "out")
    assert "bootstrap_logistic" in run(site, code)

"""Another package's methods and data sets, from a real wheel installed by pip into a folder."""

import pytest

from wheels import install, run, run_each

METHOD = '''
"""The prior, whatever the input: no more than a method must have."""
from dataclasses import dataclass
import numpy as np
import rue
from rue.methods import Training

@dataclass(frozen=True, kw_only=True)
class Config:
    n_draws: int = 3
    training: Training | None = None

@dataclass(frozen=True, eq=False)
class Fitted:
    probs: np.ndarray
    n_draws: int
    def predict(self, inputs):
        return predict(self, inputs)

def fit(data, config=None, *, seeds=(0,), checkpoints=None, progress=False):
    config = config or Config()
    each = [data] * len(seeds) if isinstance(data, rue.data.DataSet) else data
    return [Fitted(d.part("train").targets().mean(axis=0), config.n_draws) for d in each]

def predict(fitted, inputs):
    return rue.Draws(np.tile(fitted.probs, (len(inputs), fitted.n_draws, 1)))
'''
DATA = '''
"""Ten points, two classes, three people."""
import numpy as np
import rue
from rue.data import DataSet, Entry

def load(reader, entry, *, seed, shift=0):
    return DataSet(
        name=entry.name, task="tabular", inputs=np.arange(10.0)[:, None] + shift,
        ids=np.arange(10).astype(str), class_names=("no", "yes"), values=np.arange(2.0),
        train=np.arange(6), validation=np.arange(6, 8), test=np.arange(8, 10),
        annotations=rue.Annotations([[2, 1]] * 5 + [[0, 3]] * 5), annotated=np.arange(10),
        licence=entry.licence, citation=entry.citation,
    )

ENTRY = Entry(
    name="toy-set", task="tabular", n_points=10, n_classes=2, annotators=(3, 3.0, 3),
    splits={"train": 6, "validation": 2, "test": 2}, size=0, licence="CC0", citation="None.",
    load=load,
)
OTHER = 3
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    files = {"__init__.py": "", "prior.py": METHOD, "data.py": DATA, "bad.py": "import no_such"}
    files["gone.py"] = "raise SystemExit('goodbye,\\nall')"
    files["bare.py"] = "class Config: pass\nfit = predict = None"
    install(
        folder,
        "toy_plugin",
        files,
        {
            "rue.methods": [
                "prior = toy_plugin.prior",
                "half = toy_plugin.data",
                "bare = toy_plugin.bare",
            ],
            "rue.datasets": [
                "toy-set = toy_plugin.data:ENTRY",
                "toy-bad = toy_plugin.bad:ENTRY",
                "toy-other = toy_plugin.data:OTHER",
                "toy-alias = toy_plugin.data:ENTRY",
                "toy-gone = toy_plugin.gone:ENTRY",
            ],
        },
    )
    return folder / "site"


DATASETS = """
import json, rue, rue.data
from rue.data.registry import expand
from rue.errors import PluginError
found = {"known": "toy-set" in rue.data.ENTRIES, "names": expand(["toy-*"])}
found["early"] = "toy_plugin" in sys.modules
data = rue.data.load("toy-set", split="test", shift=5)
found["inputs"] = data.inputs.ravel().tolist()
found["info"] = rue.data.info("toy-set").annotators_mean
found["own"] = rue.data.load("random-rbf", n_points=10, split="test").inputs.shape
for name in ("toy-bad", "toy-other", "toy-alias", "toy-gone"):
    try:
        rue.data.load(name)
    except PluginError as error:
        found[name] = str(error)
from contextlib import redirect_stdout
from io import StringIO
from rue.cli import main
for words in (["info", "toy-bad"], ["list"], ["list", "--format", "json"]):
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            main(["data", *words])
    except SystemExit as stop:
        found[" ".join(words)] = stop.code, printed.getvalue()
print()
print(json.dumps(found))
"""


def test_data_sets(told):
    found = told["data sets"]
    assert found["known"]
    assert found["names"] == ["toy-set", "toy-bad", "toy-other", "toy-alias", "toy-gone"]
    assert not found["early"]  # nothing is imported before it is asked for
    assert found["inputs"] == [13, 14]
    assert found["info"] == 3
    assert found["own"] == [2, 10]
    assert found["toy-bad"] == (
        "the plugin 'toy-bad' of toy_plugin (rue.datasets: toy_plugin.bad:ENTRY) cannot be "
        "loaded: ModuleNotFoundError: No module named 'no_such'"
    )
    assert "must be a rue.data.Entry, got int" in found["toy-other"]
    assert "must have the name 'toy-alias', got 'toy-set'" in found["toy-alias"]
    assert found["toy-gone"].endswith("cannot be loaded: SystemExit: goodbye, all")
    assert found["info toy-bad"] == [2, ""]
    for words in ("list", "list --format json"):  # what is broken does not hide the others
        code, printed = found[words]
        assert code == 2
        assert "toy-set" in printed
        assert "toy-bad" not in printed


METHODS = """
import json, rue, rue.data
from rue.bench.suite import parse_suite
from rue.methods import METHODS
from rue.errors import InputError, PluginError
found = {"names": list(METHODS), "has": "prior" in METHODS, "n": len(METHODS)}
data = rue.data.load("toy-set")
belief = METHODS["prior"].fit(data)[0].predict(data.part("test").inputs)
found["shape"] = belief.probs.shape
found["mean"] = belief.mean()[0].tolist()
for name in ("half", "bare"):
    try:
        METHODS[name]
    except PluginError as error:
        found[name] = str(error)
suite = parse_suite('name = "t"\\ndatasets = ["toy-set"]\\nmethods = ["prior"]\\n')
found["suite"] = suite.methods
try:
    METHODS["none"]
except KeyError as error:
    found["none"] = str(error)
print()
print(json.dumps(found))
"""


def test_methods(told):
    found = told["methods"]
    own = ["dropout", "ensemble", "evidential", "ddu", "laplace", "dirichlet_multinomial", "pairs"]
    own += ["sngp", "swag", "deup", "snapshots", "forest", "single"]
    own += ["strength", "confidence", "knn"]
    assert sorted(found["names"][:-3]) == sorted(own)
    assert found["names"][-3:] == ["prior", "half", "bare"]
    assert found["has"]
    assert found["n"] == 19
    assert found["shape"] == [2, 3, 2]
    # Of the six points trained on five have p* = [2/3, 1/3] and one [0, 1].
    assert found["mean"] == pytest.approx([5 / 9, 4 / 9])
    assert "the plugin 'half' of toy_plugin" in found["half"]
    assert "Config is missing" in found["half"]
    assert "the Config of bare must be a dataclass with a field training" in found["bare"]
    assert found["suite"] == ["prior"]
    assert found["none"] == "'none'"


FINGERPRINT = """
import json
from rue.bench.cells import cells, json_checksum, configuration, has_settings
from rue.bench.suite import parse_suite
suite = parse_suite('name = "t"\\ndatasets = ["toy-set"]\\nmethods = ["prior"]\\nseeds = 1\\n')
(cell,) = cells(suite)
config = configuration(suite, cell)
other = {**config, "plugins": {**config["plugins"], "method": "toy_plugin 0.9"}}
stale = not has_settings(suite, cell, config), not has_settings(suite, cell, other)
print(json.dumps([config["plugins"], json_checksum(config), stale]))
"""


@pytest.fixture(scope="module")
def told(site, tmp_path_factory):
    """What each program printed about the plugin, and about two changed ones."""
    jobs = {"data sets": (site, DATASETS), "methods": (site, METHODS), "1.0": (site, FINGERPRINT)}
    points = {
        "rue.methods": ["prior = toy_plugin.prior"],
        "rue.datasets": ["toy-set = toy_plugin.data:ENTRY"],
    }
    changed = {"1.1": ("1.1", METHOD), "edited": ("1.0", METHOD + "# edited\n")}
    for name, (version, method) in changed.items():
        folder = tmp_path_factory.mktemp("changed")
        files = {"__init__.py": "", "prior.py": method, "data.py": DATA}
        install(folder, "toy_plugin", files, points, version)
        jobs[name] = (folder / "site", FINGERPRINT)
    found = run_each(jobs.values(), imports="rue.bench.cells, torch")
    return dict(zip(jobs, found, strict=True))


def test_a_changed_plugin_is_run_again(told):
    """Its version is part of a cell's fingerprint, and so is its module's source."""
    packages, _, stale = told["1.0"]
    assert packages == {"method": "toy_plugin 1.0", "dataset": "toy_plugin 1.0"}
    assert stale == [False, True]
    assert len({told[name][1] for name in ("1.0", "1.1", "edited")}) == 3


def test_two_plugins_of_one_name_are_refused(site, tmp_path):
    points = {"rue.datasets": ["toy-set = twin:ENTRY"], "rue.taken": ["letter = twin:ENTRY"]}
    install(tmp_path, "twin", {"__init__.py": ""}, points)
    code = f"""
import json; sys.path.insert(0, {str(tmp_path / "site")!r})
import rue.data
from rue.errors import PluginError
try:
    list(rue.data.ENTRIES)
except PluginError as error:
    twins = str(error)
from rue._plugins import Registry, plugin_names
try:
    plugin_names("rue.taken", ["letter"])
except PluginError as error:
    suites = str(error)
own = Registry("rue.taken", {{"letter": 3}}, lambda name, found: found)
assert own["letter"] == 3
try:
    list(own)
except PluginError as error:
    print(json.dumps([twins, str(error), suites]))
"""
    message, taken, suites = run(site, code)
    assert suites == taken
    assert taken.startswith("the plugin 'letter' of twin (rue.taken: twin:ENTRY) has a name that")
    assert message.startswith("two plugins have the same name: the plugin 'toy-set' of ")
    assert "twin" in message
    assert "toy_plugin" in message

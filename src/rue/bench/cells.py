"""A cell is one data set x method x seed; this module has its seed and its configuration.

Splits depend on the plain seed and are the same for all methods; all other random numbers come
from a seed hashed from (suite, data set, method, seed).
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from rue._plugins import plugin_package, plugin_source
from rue._schema import Constraint, Count, changed
from rue._text import JsonObject
from rue.bench.suite import OWN_KEYS, TEXT_FEATURES, Suite
from rue.data.files import roots
from rue.data.registry import ENTRIES
from rue.data.splits import hashed
from rue.errors import FileError, InputError
from rue.io.atomic import sha256
from rue.methods import METHODS
from rue.methods._training.settings import TRAININGS, Training


@dataclass(frozen=True, order=True)
class Cell:
    """One data set x method x seed of a suite."""

    suite: str
    dataset: str
    method: str
    seed: int

    def __str__(self) -> str:
        return f"{self.dataset}/{self.method}/{self.seed}"

    @property
    def hashed_seed(self) -> int:
        """The seed of all random numbers of the cell; it differs between cells and suites."""
        return hashed(self.suite, self.dataset, self.method, self.seed)


def network_cell(suite: Suite, cell: Cell) -> Cell:
    """Return the cell that names a cell's networks: one for all methods where they share them."""
    return replace(cell, method="shared") if suite.share_networks else cell


def cells(suite: Suite) -> list[Cell]:
    """Return the cells of a suite, in its order."""
    return [
        Cell(suite.name, dataset, method, seed)
        for dataset in suite.datasets
        for method in suite.methods_of(dataset)
        for seed in suite.seeds
    ]


def configuration(suite: Suite, cell: Cell, root: str | None = None) -> JsonObject:
    """Return everything that a cell's numbers depend on, as JSON; files by their checksum."""
    import rue

    training = training_of(suite, cell.dataset)
    config = METHODS[cell.method].Config(training=training)
    settings = asdict(method_settings(suite, cell.method, config))
    options = loader_options(suite, cell.dataset)
    files = {}
    for name in (options.get("features"), training.weights):
        if name is not None and name not in TEXT_FEATURES:
            with suppress(FileError):  # it need not be here to state what is missing
                files[name] = sha256(find_file(suite, name, root))
    if cell.dataset in suite.own:
        files[suite.own[cell.dataset]] = sha256(find_file(suite, suite.own[cell.dataset], root))
    values = {
        "rue": rue.__version__,
        "suite": suite.name,
        "dataset": cell.dataset,
        "options": options,
        "network": suite.network_of(cell.dataset),
        "regime": suite.regime_of(cell.dataset),
        "method": cell.method,
        "settings": settings,
        "seed": cell.seed,
        "hashed_seed": network_cell(suite, cell).hashed_seed,
        "losses": list(suite.losses_of(cell.dataset)),
        "criteria": list(suite.criteria_of(cell.dataset)),
        "files": files,
        # Only cells that depart from the default have these keys, so that others keep their hash.
        **_departures(suite, cell.dataset),
    }
    plugins = {"method": ("rue.methods", cell.method), "dataset": ("rue.datasets", cell.dataset)}
    packages = {key: plugin_package(*plugin) for key, plugin in plugins.items()}
    if any(packages.values()):  # only cells of plugins have the key
        values["plugins"] = {key: package for key, package in packages.items() if package}
        for key, plugin in plugins.items():
            source = plugin_source(*plugin)
            if source is not None:
                files[f"{key} plugin {source.name}"] = sha256(source)
    plain: JsonObject = json.loads(json.dumps(values))
    return plain


def _departures(suite: Suite, dataset: str) -> JsonObject:
    """Return the convention and the budget of active learning where a suite sets them."""
    settings: JsonObject = {}
    if suite.convention != "definition" and "regret" in suite.criteria_of(dataset):
        settings["convention"] = suite.convention
    budget = suite.budget_of(dataset)
    if budget is not None and "active_learning" in suite.criteria_of(dataset):
        settings["active_learning"] = budget.to_dict()
    return settings


def has_settings(suite: Suite, cell: Cell, config: Mapping[str, Any]) -> bool:
    """Return whether a stored configuration is what the suite now states."""
    stated = configuration(suite, cell)
    optional = ("convention", "active_learning", "plugins")
    keys = [key for key in (*stated, *optional) if key not in ("rue", "files", "settings")]
    if any(config.get(key) != stated.get(key) for key in keys):
        return False
    return _agrees(config["settings"], stated["settings"])


def _agrees(stored: Any, stated: Any) -> bool:
    """Return whether all stored settings are stated with the same value."""
    if not isinstance(stored, dict) or not isinstance(stated, dict):
        return bool(stored == stated)
    return all(key in stated and _agrees(value, stated[key]) for key, value in stored.items())


def json_checksum(content: Mapping[str, Any]) -> str:
    """Return the checksum of a row or a configuration: a cell with another one is stale."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def find_file(suite: Suite, name: str, root: str | None = None) -> Path:
    """Return the path of a file named in a suite: as given, beside the suite or in a data root."""
    places = [Path(), *([suite.folder] if suite.folder else []), *roots(root)]
    for place in places:
        if (place / name).is_file():
            return place / name
    raise FileError(f"{suite.name} needs the file {name}, beside the suite or in a data root")


def loader_options(suite: Suite, dataset: str) -> JsonObject:
    """Return the options of a data set's loader and features."""
    own_options = suite.dataset.get(dataset, {})
    options = {key: value for key, value in own_options.items() if key not in OWN_KEYS}
    may_be_texts = dataset in suite.own or ENTRIES[dataset].task == "text"
    if suite.features != "tfidf" and may_be_texts:
        options.setdefault("features", suite.features)
    return options


def training_of(suite: Suite, dataset: str) -> Training:
    """Return the training of a data set: its network's, changed where the suite says so."""
    training = replace(TRAININGS[suite.network_of(dataset)], regime=suite.regime_of(dataset))
    return changed(training, suite.training_of(dataset), "training", but=("regime",))


def method_settings(suite: Suite, method: str, config: Any) -> Any:
    """Return the settings of a method, changed where the suite says so."""
    settings = suite.method.get(method, {})
    return changed(config, settings, f"method.{method}", but=("training",))


_WORDS = ("method", "loss", "group", "convention", "person_kind")


def _is_evaluation(row: Mapping[str, object]) -> bool:
    return {"method", "loss"} <= set(row) and all(
        isinstance(value, str) == (key in _WORDS) and isinstance(value, tuple) == (key == "notes")
        for key, value in row.items()
    )


Evaluated = Annotated[
    Mapping[str, int | float | str | tuple[str, ...] | None],
    Constraint("one evaluation, with method, loss, notes and numbers", _is_evaluation),
]
"""One evaluation of a cell: names, notes, and numbers that are None where undefined."""


@dataclass(frozen=True)
class DataFacts:
    """What a cell was trained and tested on.

    Attributes
    ----------
    checksums : mapping of str to str
        The SHA-256 of each file that was read.
    n_train, n_test : int
        The numbers of training and of test points.
    notes : tuple of str
        What a reader must know about the data.
    """

    checksums: Mapping[str, str]
    n_train: Count
    n_test: Count
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """What is known about a finished cell.

    Attributes
    ----------
    cell : Cell
        The cell.
    config : mapping
        Everything that its numbers depend on (:func:`rue.bench.cells.configuration`).
    config_hash : str
        The checksum of ``config``.
    rows : tuple of mapping
        One evaluation for each loss.
    proxies : mapping
        The numbers of the proxy tasks by column, and their ``details``.
    data : DataFacts
        The data set.
    seconds : mapping of str to float
        The time that each step took.
    versions : mapping of str to str
        The versions of rue and its dependencies, and the machine.
    predictions_sha256 : str
        The checksum of the predictions.
    chosen, n_clipped, peak_memory_mb, threads, trained_with, finished
        The settings and epochs that tuning chose, the points whose strength was clipped, the
        memory used, the threads, the seeds that trained together, and the time of the end; None
        where unknown.
    """

    cell: Cell
    config: Mapping[str, Any]
    config_hash: str
    rows: tuple[Evaluated, ...]
    proxies: Mapping[str, Any] = field(default_factory=dict)
    data: DataFacts
    seconds: Mapping[str, float]
    versions: Mapping[str, str]
    predictions_sha256: str
    chosen: Mapping[str, Any] | None = None
    n_clipped: int | None = None
    peak_memory_mb: float | None = None
    threads: int | None = None
    trained_with: tuple[int, ...] | None = None
    finished: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.config.get("settings"), Mapping):
            raise InputError("config.settings must be an object, got none")
        for key, value in self.proxies.items():
            if key != "details" and not (value is None or type(value) in (int, float)):
                raise InputError(f"proxies.{key} must be a number or null, got {value!r:.60}")

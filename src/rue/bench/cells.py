"""A cell is one data set x method x seed: its seed, its configuration, and running it.

The seeds of a probe train as one stack, always all of the suite's, so that a cell's bits depend
on the suite and not on which other cells were missing. Splits turn with the plain seed, the same
for every method; all else is drawn from a seed hashed from (suite, data set, method, seed).
"""

import hashlib
import io
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rue.bench.criteria import learn_actively, proxies, regret, require_criteria
from rue.bench.suite import OWN_KEYS, Suite, require_known, require_like
from rue.data import DataSet, featurize, load
from rue.data.files import roots
from rue.data.ood import add_ood, ood_groups
from rue.errors import FileError

if TYPE_CHECKING:
    from rue.beliefs import Belief

__all__ = ["Cell", "Result", "Task", "cells", "config_hash", "is_stale", "run_task", "tasks"]

_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "torch")


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
        """Where all its random numbers come from; no other cell of any suite has it."""
        from rue.methods.streams import hashed

        return hashed(self.suite, self.dataset, self.method, self.seed)


@dataclass(frozen=True)
class Task:
    """Cells that train together, and all that running them takes; it travels to a worker.

    Attributes
    ----------
    stack
        Every seed that trains beside the cells' own.
    cells
        The cells to give back; their seeds are of the stack.
    configs
        Each cell's configuration, as it is stored.
    root, threads, checkpoints
        Where data is looked for first, how many threads to use, where networks for images are
        kept after each epoch.
    """

    stack: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    configs: tuple[Mapping[str, Any], ...]
    threads: int = 1
    root: str | None = None
    checkpoints: str | None = None

    def __str__(self) -> str:
        first = self.cells[0]
        seeds = ",".join(str(cell.seed) for cell in self.cells)
        return f"{first.dataset}/{first.method}/{seeds}"


@dataclass(frozen=True)
class Result:
    """What running a cell gives: its row, and its prediction file's content."""

    cell: Cell
    row: dict[str, Any]
    predictions: bytes


def cells(suite: Suite) -> list[Cell]:
    """Give the cells of a suite, in its order."""
    return [
        Cell(suite.name, dataset, method, seed)
        for dataset in suite.datasets
        for method in suite.methods
        for seed in suite.seeds
    ]


def configuration(suite: Suite, cell: Cell, root: str | None = None) -> dict[str, Any]:
    """Give all that a cell's numbers depend on, as JSON has it; files by their checksum."""
    import rue
    from rue.methods import METHODS

    training = _training(suite, cell.dataset)
    config = METHODS[cell.method].Config(training=training)
    settings = asdict(_changed(config, suite.method.get(cell.method, {}), f"method.{cell.method}"))
    options = _options(suite, cell.dataset)
    files = {
        name: _digest(find_file(suite, name, root))
        for name in (options.get("features"), training.weights)
        if name is not None and _is_there(suite, name, root)
    }
    values = {
        "rue": rue.__version__,
        "suite": suite.name,
        "dataset": cell.dataset,
        "options": options,
        "regime": suite.regime_of(cell.dataset),
        "method": cell.method,
        "settings": settings,
        "seed": cell.seed,
        "hashed_seed": cell.hashed_seed,
        "losses": list(suite.losses_of(cell.dataset)),
        "criteria": list(suite.criteria_of(cell.dataset)),
        "files": files,
    }
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain


def is_stale(suite: Suite, cell: Cell, config: Mapping[str, Any]) -> bool:
    """Whether a stored configuration is other than what the suite says of the cell now.

    What the suite leaves to defaults is not looked at: it takes torch to know them.
    """
    settings, training = config["settings"], config["settings"]["training"]
    said: list[tuple[Any, Any]] = [
        (config["regime"], suite.regime_of(cell.dataset)),
        (config["losses"], list(suite.losses_of(cell.dataset))),
        (config["criteria"], list(suite.criteria_of(cell.dataset))),
        (config["options"], _options(suite, cell.dataset)),
        *((settings.get(k), v) for k, v in suite.method.get(cell.method, {}).items()),
        *((training.get(k), v) for k, v in suite.training_of(cell.dataset).items()),
    ]
    return any(stored != now for stored, now in said)


def config_hash(config: Mapping[str, Any]) -> str:
    """Give the checksum of a configuration: a stored cell with another one is stale."""
    text = json.dumps(config, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def tasks(
    suite: Suite,
    wanted: Sequence[Cell],
    configs: Mapping[Cell, Mapping[str, Any]],
    *,
    threads: int = 1,
    root: str | None = None,
    checkpoints: Path | None = None,
) -> list[Task]:
    """Put cells that train together into one task: a probe's seeds, else each by itself."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in wanted:
        probe = suite.regime_of(cell.dataset) == "probe"
        key = (cell.dataset, cell.method) if probe else (cell.dataset, cell.method, str(cell.seed))
        groups.setdefault(key, []).append(cell)
    made = []
    for group in groups.values():
        probe = suite.regime_of(group[0].dataset) == "probe"
        stack = [replace(group[0], seed=seed) for seed in suite.seeds] if probe else group
        made.append(
            Task(
                stack=tuple(stack),
                cells=tuple(group),
                configs=tuple(configs[cell] for cell in group),
                threads=threads,
                root=root,
                checkpoints=None
                if probe or checkpoints is None
                else str(checkpoints / str(group[0])),
            )
        )
    return made


def run_task(suite: Suite, task: Task) -> list[Result]:
    """Train, predict the test split and evaluate; one result for each of the task's cells."""
    from rue.methods import METHODS
    from rue.methods.threads import use_threads

    use_threads(task.threads)
    first = task.cells[0]
    method = METHODS[first.method]
    started = time.perf_counter()
    data = _load(suite, first.dataset, [cell.seed for cell in task.stack], task.root)
    training = _training(suite, first.dataset)
    if training.weights is not None:
        training = replace(training, weights=str(find_file(suite, training.weights, task.root)))
    loaded = time.perf_counter()
    config = _changed(method.Config(training=training), suite.method.get(first.method, {}), "")
    each = [data[cell.seed] for cell in task.stack]
    for one in each:
        require_criteria(suite.criteria_of(first.dataset), one)
    seeds = [cell.hashed_seed for cell in task.stack]
    fitted = method.fit(each, config, seeds=seeds, checkpoints=task.checkpoints)
    trained = time.perf_counter()
    learnt: list[Any] = [()] * len(seeds)
    if "active_learning" in suite.criteria_of(first.dataset):
        learnt = learn_actively(each, first.method, seeds, config)
    shared = {
        "load": (loaded - started) / len(seeds),
        "train": (trained - loaded) / len(seeds),
        "active_learning": (time.perf_counter() - trained) / len(seeds),
    }
    of = dict(zip(task.stack, zip(fitted, learnt, strict=True), strict=True))
    return [
        _result(suite, task, cell, stored, data[cell.seed], *of[cell], shared)
        for cell, stored in zip(task.cells, task.configs, strict=True)
    ]


def find_file(suite: Suite, name: str, root: str | None = None) -> Path:
    """Find a file that a suite names: as it is, beside the suite, or in a data root."""
    places = [Path(), *([suite.folder] if suite.folder else []), *roots(root)]
    for place in places:
        if (place / name).is_file():
            return place / name
    raise FileError(f"{suite.name} needs the file {name}, beside the suite or in a data root")


def _options(suite: Suite, dataset: str) -> dict[str, Any]:
    """Give the options of a data set's loader and features."""
    given = suite.dataset.get(dataset, {})
    return {key: value for key, value in given.items() if key not in OWN_KEYS}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_there(suite: Suite, name: str, root: str | None) -> bool:
    try:
        find_file(suite, name, root)
    except FileError:
        return False
    return True


def _training(suite: Suite, dataset: str) -> Any:
    from rue.methods import CIFAR, FINE_TUNING, PROBE, SMALL_IMAGES

    regimes = {
        "probe": PROBE,
        "cifar": CIFAR,
        "fine_tuning": FINE_TUNING,
        "small_images": SMALL_IMAGES,
    }
    return _changed(regimes[suite.regime_of(dataset)], suite.training_of(dataset), "training")


def _changed(settings: Any, given: Mapping[str, Any], what: str) -> Any:
    """Change settings where a suite says so; a wrong name or kind of value is an error."""
    known = {field.name: getattr(settings, field.name) for field in fields(settings)}
    require_known(what, given, [name for name in known if name != "training"])
    for name, value in given.items():
        # Those without a default are names, of a file or a kind.
        require_like(f"{what}.{name}", value, "name" if known[name] is None else known[name])
    return replace(settings, **given)


def _load(suite: Suite, name: str, seeds: Sequence[int], root: str | None) -> dict[int, DataSet]:
    """Give each seed's data set; seeds that only turn nothing share one."""
    options = _options(suite, name)
    encoder = options.pop("encoder", "tfidf")
    n_components = options.pop("n_components", 256)
    if "features" in options:
        options["features"] = find_file(suite, options["features"], root)
    made: dict[int, DataSet] = {}
    for seed in seeds:
        data = load(name, root, seed=seed, **options)
        texts = {"encoder": encoder, "n_components": n_components} if data.task == "text" else {}
        if "ood" in suite.criteria_of(name) and ood_groups(name):
            data = add_ood(data, root, seed=seed, **texts)
        elif data.task == "text":
            data = featurize(data, seed=seed, **texts)
        twin = next((other for other in made.values() if _same(data, other)), None)
        made[seed] = twin or data
    return made


def _same(a: DataSet, b: DataSet) -> bool:
    """Whether two seeds have one data set: it is then kept and stacked once."""
    return (
        isinstance(a.inputs, np.ndarray)
        and isinstance(b.inputs, np.ndarray)
        and np.array_equal(a.train, b.train)
        and np.array_equal(a.test, b.test)
        and np.array_equal(a.ids, b.ids)
        and np.array_equal(a.inputs, b.inputs)
    )


def _result(
    suite: Suite,
    task: Task,
    cell: Cell,
    config: Mapping[str, Any],
    data: DataSet,
    fitted: Any,
    learnt: Sequence[Any],
    shared: Mapping[str, float],
) -> Result:
    from rue.methods.saving import prediction_arrays

    test, criteria = data.part("test"), suite.criteria_of(cell.dataset)
    started = time.perf_counter()
    belief: Belief = fitted.predict(test.inputs)
    predicted = time.perf_counter()
    rows = []
    if "regret" in criteria:
        rows = regret(test, belief, suite.losses_of(cell.dataset), method=cell.method)
    found = {}
    if set(criteria) - {"regret"}:
        found = proxies(criteria, test, fitted, belief, learnt)
    evaluated = time.perf_counter()
    content = io.BytesIO()
    np.savez(content, **prediction_arrays(belief, test))
    row = {
        "cell": asdict(cell),
        "config": dict(config),
        "config_hash": config_hash(config),
        "rows": rows,
        "proxies": found,
        "data": {
            "checksums": dict(data.checksums),
            "n_train": len(data.train),
            "n_test": len(test),
            "notes": list(data.notes),
        },
        "seconds": {
            **{name: round(value, 3) for name, value in shared.items()},
            "predict": round(predicted - started, 3),
            "evaluate": round(evaluated - predicted, 3),
        },
        "peak_memory_mb": _peak_memory(),
        "threads": task.threads,
        "trained_with": [other.seed for other in task.stack],
        "versions": _versions(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    return Result(cell, row, content.getvalue())


def _versions() -> dict[str, str]:
    import rue

    found = {"rue": rue.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"}


def _peak_memory() -> float:
    """The most memory that this process has held, in MB."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)

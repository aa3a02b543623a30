"""Cells that train together: loading, training, predicting and evaluating them.

The seeds of a probe train as one stack, always all of the suite's, so that a cell's bits depend
on the suite and not on which other cells were missing.

The criteria of a suite are what is computed for a trained method. ``regret`` gives a row of the
paper's table for each loss. The proxies give one number or two each, all of the same trained
models: ``ood`` (near and far AUROC of the epistemic part), ``selective`` (AuAC of the total,
against the answers and against the labels) and ``active_learning`` (NAUC of querying by either),
under log loss as the paper has them.
"""

import io
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from rue._text import JsonObject
from rue.beliefs import Belief
from rue.bench.cells import (
    Cell,
    CellRow,
    DataFacts,
    find_file,
    json_checksum,
    loader_options,
    method_settings,
    network_cell,
    training_of,
)
from rue.bench.suite import TEXT_FEATURES, Suite
from rue.data import DataSet, featurize, load
from rue.data.dataset import SPLITS
from rue.data.features import principal_components
from rue.data.images import LazyImages
from rue.data.ood import add_ood, ood_groups
from rue.data.splits import add_validation, limit_training
from rue.errors import InputError
from rue.methods import METHODS
from rue.metrics.columns import columns_where
from rue.metrics.evaluation import evaluate
from rue.proxies import active_learning
from rue.proxies.active_learning import Budget
from rue.proxies.rows import evaluate_proxies

PROXY_KEYS = columns_where(kind="proxy")
_PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "torch")


@dataclass(frozen=True)
class Task:
    """Cells that train together, with everything that a worker needs to run them.

    Attributes
    ----------
    stack
        All seeds that train together.
    cells
        The cells whose results are returned; their seeds are in the stack.
    configs
        The configuration of each cell, as it is stored.
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
    """The result of a cell: its row, and the content of its prediction file."""

    cell: Cell
    row: CellRow
    predictions: bytes


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
        probe = suite.network_of(cell.dataset) == "probe"
        key = (cell.dataset, cell.method) if probe else (cell.dataset, cell.method, str(cell.seed))
        groups.setdefault(key, []).append(cell)
    task_list = []
    for group in groups.values():
        probe = suite.network_of(group[0].dataset) == "probe"
        stack = [replace(group[0], seed=seed) for seed in suite.seeds] if probe else group
        task_list.append(
            Task(
                stack=tuple(stack),
                cells=tuple(group),
                configs=tuple(configs[cell] for cell in group),
                threads=threads,
                root=root,
                checkpoints=None
                if probe or checkpoints is None
                else str(checkpoints / str(network_cell(suite, group[0]))),
            )
        )
    return task_list


def run_task(suite: Suite, task: Task) -> list[Result]:
    """Train, predict the test split and evaluate; one result for each of the task's cells."""
    from rue.methods._training.networks import use_torch_threads

    use_torch_threads(task.threads)
    first = task.cells[0]
    method = METHODS[first.method]
    started = time.perf_counter()
    data = _load(suite, first.dataset, [cell.seed for cell in task.stack], task.root)
    training = training_of(suite, first.dataset)
    if training.weights is not None:
        training = replace(training, weights=str(find_file(suite, training.weights, task.root)))
    loaded = time.perf_counter()
    config = method_settings(suite, first.method, method.Config(training=training))
    parts = [data[cell.seed] for cell in task.stack]
    for one in parts:
        require_criteria(suite.criteria_of(first.dataset), one)
    seeds = [network_cell(suite, cell).hashed_seed for cell in task.stack]
    fitted = method.fit(parts, config, seeds=seeds, checkpoints=task.checkpoints)
    trained = time.perf_counter()
    learnt: list[Any] = [()] * len(seeds)
    if "active_learning" in suite.criteria_of(first.dataset):
        budget = suite.budget_of(first.dataset)
        learnt = learn_actively(parts, first.method, seeds, config, budget)
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


def _load(suite: Suite, name: str, seeds: Sequence[int], root: str | None) -> dict[int, DataSet]:
    """Return the data set of each seed; seeds with equal splits share one."""
    options = loader_options(suite, name)
    as_components = "n_components" in options and suite.network_of(name) == "probe"
    n_components = options.pop("n_components", 256)
    n_train_max = options.pop("n_train_max", None)
    n_validation_min = options.pop("n_validation_min", None)
    as_ratings = options.pop("ratings", False)
    features = options.pop("features", "tfidf")
    if features not in TEXT_FEATURES:
        options["features"] = find_file(suite, features, root)
    source = str(find_file(suite, suite.own[name], root)) if name in suite.own else name
    data_sets: dict[int, DataSet] = {}
    for seed in seeds:
        data = load(source, root, seed=seed, **options)
        if n_validation_min is not None:
            data = add_validation(data, n_validation_min, seed=seed)
        if n_train_max is not None:
            data = limit_training(data, n_train_max, seed=seed)
        if as_components and data.task == "image":
            data = principal_components(data, n_components)
        texts: JsonObject = {}
        if data.task == "text":
            texts = {"encoder": TEXT_FEATURES[features], "n_components": n_components}
        if "ood" in suite.criteria_of(name) and ood_groups(source):
            data = add_ood(data, root, seed=seed, **texts)
        elif data.task == "text":
            data = featurize(data, seed=seed, **texts)
        if as_ratings:
            data = data.as_ratings()
        twin = next((other for other in data_sets.values() if _same(data, other)), None)
        data_sets[seed] = twin or data
    return data_sets


def _same(a: DataSet, b: DataSet) -> bool:
    """Return whether two seeds have the same data set, which is then stored once."""
    if isinstance(a.inputs, LazyImages) or isinstance(b.inputs, LazyImages):
        return False
    compared = (*SPLITS, "ids", "inputs")
    return all(np.array_equal(getattr(a, key), getattr(b, key)) for key in compared)


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
    from rue.io.saving import prediction_arrays

    test, criteria = data.part("test"), suite.criteria_of(cell.dataset)
    started = time.perf_counter()
    belief: Belief = fitted.predict(test.inputs)
    predicted = time.perf_counter()
    rows = []
    if "regret" in criteria:
        rows = _regret(suite, cell, test, belief)
    proxy_numbers = {}
    if set(criteria) - {"regret"}:
        proxy_numbers = _proxies(criteria, test, fitted, belief, learnt)
    evaluated = time.perf_counter()
    clipped = getattr(METHODS[cell.method], "clipped", None)  # points whose strength was clipped
    content = io.BytesIO()
    np.savez(content, **prediction_arrays(belief, **test.labelling()))
    row = CellRow(
        cell=cell,
        config=dict(config),
        config_hash=json_checksum(config),
        rows=tuple(rows),
        proxies=proxy_numbers,
        data=DataFacts(dict(data.checksums), len(data.train), len(test), tuple(data.notes)),
        seconds={
            **{name: round(value, 3) for name, value in shared.items()},
            "predict": round(predicted - started, 3),
            "evaluate": round(evaluated - predicted, 3),
        },
        chosen=getattr(fitted, "chosen", None),
        n_clipped=None if clipped is None else int(clipped(belief).sum()),
        peak_memory_mb=_peak_memory(),
        threads=task.threads,
        trained_with=tuple(other.seed for other in task.stack),
        versions=_versions(_precision(fitted)),
        predictions_sha256="",  # the store sets it
        finished=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )
    return Result(cell, row, content.getvalue())


def _regret(suite: Suite, cell: Cell, test: DataSet, belief: Belief) -> list[JsonObject]:
    """Return a row of the paper's table for each loss."""
    truth = test.annotations if test.ratings is None else test.ratings
    assert truth is not None  # require_criteria has seen to it
    values = None if test.ratings is not None else test.values
    return [
        evaluate(
            truth, belief, loss, values=values, method=cell.method, convention=suite.convention
        ).to_dict()
        for loss in suite.losses_of(cell.dataset)
    ]


def _proxies(
    criteria: Sequence[str],
    test: DataSet,
    fitted: Any,
    belief: Belief,
    learnt: Sequence[active_learning.ActiveLearning],
) -> JsonObject:
    """Return the numbers of the proxy tasks by their column, and ``details`` of each."""
    numbers: JsonObject = dict.fromkeys(PROXY_KEYS)
    details: JsonObject = {}
    outside: dict[str, Belief] = {}
    answers = labels = None
    if "ood" in criteria:
        outside = {name: fitted.predict(x) for name, x in test.ood.items()}
    if "selective" in criteria:
        complete = test.annotations is not None and len(test.annotated) == len(test)
        answers, labels = test.truth() if complete else None, test.labels
    if outside or answers is not None or labels is not None:
        groups = ood_groups(test.name) if outside else None
        row = evaluate_proxies(
            belief, outside=outside, groups=groups, answers=answers, labels=labels
        )
        numbers |= row.columns()
        details = row.details()
    for run in learnt:
        numbers[f"nauc_{run.acquisition}"] = run.nauc
    if learnt:
        details["active_learning"] = [run.to_dict() for run in learnt]
    return {**numbers, "details": details}


def require_criteria(criteria: Sequence[str], data: DataSet) -> None:
    """Raise, before any training, if a criterion is impossible for a data set."""
    proxy = next((name for name in criteria if name != "regret"), None)
    if data.ratings is not None and proxy is not None:
        raise InputError(f"{data.name} has real-valued answers, and {proxy} is for classes")
    if "regret" in criteria and not np.isin(data.test, data.annotated).all():
        raise InputError(f"{data.name}: every test point must have answers, and some have none")
    if "ood" in criteria and not data.ood:
        raise InputError(f"{data.name} has no OOD sets, so its criteria cannot have ood")
    if "active_learning" in criteria and (
        isinstance(data.inputs, LazyImages) or data.inputs.ndim != 2
    ):
        raise InputError(f"active_learning takes matrices of features, and {data.name} has none")


def learn_actively(
    data: Sequence[DataSet],
    method: str,
    seeds: Sequence[int],
    config: Any,
    budget: Budget | None = None,
) -> list[list[active_learning.ActiveLearning]]:
    """Run active learning for all seeds together, and return the runs of each seed."""
    if budget is None:
        step = min(250, max(1, min(len(one.train) for one in data) // 24))
        budget = Budget(start=2 * step, step=step)
    runs = active_learning.run(
        data,
        method,
        seeds,
        n_initial=budget.start,
        n_batch=budget.step,
        n_rounds=budget.rounds,
        config=config,
    )
    return [[run for run in runs if run.seed == seed] for seed in seeds]


def _precision(fitted: Any) -> str | None:
    """Return the precision that a network for images was trained in; None for other methods."""
    from rue.methods._training.networks import find_precision

    model: Any = getattr(fitted, "model", None)
    if not hasattr(model, "networks") or model.training.is_probe:
        return None
    return find_precision(model.training, model.scaling.mean.device)


def _versions(precision: str | None) -> dict[str, str]:
    import rue

    versions = {"rue": rue.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    if precision is not None:
        versions["precision"] = precision
    return versions | {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    }


def _peak_memory() -> float | None:
    """Return the most memory that this process has held, in MB; None where that is not known."""
    status = Path("/proc/self/status")
    if status.is_file():  # ru_maxrss also counts the process that started this one
        return round(int(status.read_text().split("VmHWM:")[1].split()[0]) / 2**10, 1)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)

"""Fill docs/architecture.md by tracing three commands, and draw its picture.

The page lists the rooms of ``src/rue`` and the files that one prediction file, one cell of a
benchmark and one rule cross, in the order in which a function of each file is first called.
"""

import ast
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import rue
from rue.bench.engine import Event, attempt
from rue.bench.run import run_suite
from rue.bench.suite import Suite, parse_suite
from rue.bench.tasks import Task
from rue.cli import main as command
from rue.plots import look, save
from studies import DOCS
from studies.pages import table
from studies.pictures import keep_file
from studies.study import Options, Pages

PAGE = DOCS / "architecture.md"
SOURCE = Path(rue.__file__).parent

# A room imports only from the floors below, and on its own floor from what is to its left.
FLOORS = [
    ["_text", "errors", "_kernels", "_plugins", "_arrays", "_schema"],
    ["losses"],
    ["beliefs", "truth"],
    ["components"],
    ["selectors", "pareto"],
    ["metrics"],
    ["io", "inference"],
    ["deploy", "published", "sandbox", "data"],
    ["methods", "proxies"],
    ["ranking", "bench"],
    ["plots", "report", "leaderboard", "adapters"],
    ["cli", "__main__"],
]
SUITE = """
name = "one-cell"
datasets = ["random-rbf"]
methods = ["ensemble"]
losses = ["log"]
seeds = 1
[training]
epochs = 2
[dataset.random-rbf]
n_points = 300
"""
COLORS = ("#0b7a75", "#c8553d", "#5b5f97", "#d9a441")


class Here:
    """An engine that runs a benchmark's tasks in this process, where they can be traced."""

    def run(self, suite: Suite, tasks: Sequence[Task]) -> Iterator[Event]:
        for task in tasks:
            yield Event(task, "started")
            yield attempt(suite, task)


@dataclass(frozen=True)
class Step:
    """A file on the way, and the first of its functions that was called."""

    file: Path
    function: str


def trace(work: Callable[[], object]) -> list[Step]:
    """Return the files whose functions run, in order; what importing a file runs does not count."""
    steps: dict[Path, Step] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(SOURCE)):
            return
        file = Path(code.co_filename).relative_to(SOURCE)
        if file in steps or any(module.f_code.co_name == "<module>" for module in _callers(frame)):
            return
        steps[file] = Step(file, code.co_qualname.replace(".<locals>", ""))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(steps.values())


def _callers(frame: FrameType) -> Iterator[FrameType]:
    """Yield a frame and those that called it, as far as they are in the library."""
    caller: FrameType | None = frame
    while caller is not None:
        if caller.f_code.co_filename.startswith(str(SOURCE)):
            yield caller
        caller = caller.f_back


def ways(folder: Path) -> dict[str, list[Step]]:
    """Trace a prediction file, a cell of a benchmark, and a rule that is fitted and applied."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3) / 3, 300)
    probs = 0.7 * p[:, None] + 0.3 * rng.dirichlet(np.ones(3), (300, 4))
    ids = np.arange(300).astype(np.str_)
    np.savez(folder / "ensemble.npz", probs=probs, ids=ids)
    np.savez(folder / "truth.npz", counts=rng.multinomial(9, p), ids=ids)
    truth, rule = ["--truth", folder / "truth.npz"], folder / "rule.json"
    budget = ["--loss", "zero_one", "--risk-max", "0.2", "--delta", "0.1"]
    suite = parse_suite(SUITE)
    works: dict[str, Callable[[], object]] = {
        "evaluate": lambda: _run("evaluate", folder / "ensemble.npz", *truth, "--quick"),
        "cell": lambda: run_suite(suite, Path(tempfile.mkdtemp(dir=folder)), engine=Here()),
        "fit": lambda: _run(
            "rule", "fit", folder / "ensemble.npz", *truth, *budget, "--save", rule
        ),
        "apply": lambda: _run("rule", "apply", rule, folder / "ensemble.npz"),
    }
    steps = {}
    for name, work in works.items():
        work()  # kernels that are compiled for the first time call more
        steps[name] = trace(work)
    return steps


def _run(*words: object) -> None:
    with suppress(SystemExit):
        command([str(word) for word in words])


def first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.split("\n\n")[0].split())


def n_lines(room: str) -> tuple[int, int]:
    """Return how many files and lines a room has."""
    path = SOURCE / room
    files = list(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    return len(files), sum(len(file.read_text().splitlines()) for file in files)


def rooms_table() -> str:
    """Return the rooms, top floor first."""
    rows = []
    for floor in reversed(FLOORS):
        for room in floor:
            path = SOURCE / room / "__init__.py" if (SOURCE / room).is_dir() else None
            holds = (
                first_sentence(path or SOURCE / f"{room}.py").removesuffix(".").partition(".")[0]
            )
            files, lines = n_lines(room)
            rows.append([f"`{room}`", holds.replace("|", "\\|"), str(files), f"{lines:,}"])
    files, lines = map(sum, zip(*(n_lines(room) for f in FLOORS for room in f), strict=True))
    rows.append(["all", "", str(files), f"{lines:,}"])
    return table(["room", "what it holds", "files", "lines"], rows, text=2)


def way_table(steps: list[Step]) -> str:
    """Return the files of a way."""
    rows = [
        [str(i), f"`{step.file}`", f"`{step.function}`", first_sentence(SOURCE / step.file)]
        for i, step in enumerate(steps, 1)
    ]
    return table(["", "file", "first call", "what the file is"], rows, text=4)


def draw(traced: dict[str, list[Step]]) -> Figure:
    """Draw the floors with their rooms, and how many files of each room a way crosses."""
    names = {
        "evaluate": "rue evaluate",
        "cell": "one cell",
        "fit": "rule fit",
        "apply": "rule apply",
    }
    with look(), mpl.rc_context({"axes.grid": False}):
        figure = Figure(figsize=(9.5, 7.2), layout="constrained")
        axes = figure.subplots()
        write = partial(axes.text, va="center")
        for level, floor in enumerate(FLOORS):
            width = 1 / len(floor)
            for place, room in enumerate(floor):
                left = place * width
                corner, size = (left + 0.004, level + 0.06), (width - 0.008, 0.88)
                axes.add_patch(mpl.patches.Rectangle(corner, *size, fc="#f3f1ec", ec="#bbb"))
                write(left + 0.014, level + 0.68, room, fontsize=9)
                number = f"{n_lines(room)[1]:,}" if width > 0.2 else ""
                right = left + width - 0.014
                write(right, level + 0.68, number, fontsize=7, color="#777", ha="right")
                apart = min(0.05, (width - 0.03) / 4)
                for i, steps in enumerate(traced.values()):
                    crossed = sum(step.file.with_suffix("").parts[0] == room for step in steps)
                    if crossed:
                        x = left + 0.022 + i * apart
                        axes.plot(x, level + 0.3, "o", ms=11, color=COLORS[i], mec="none")
                        write(x, level + 0.29, str(crossed), color="w", fontsize=7, ha="center")
        for i, (key, steps) in enumerate(traced.items()):
            axes.plot([], [], "o", color=COLORS[i], label=f"{names[key]}: {len(steps)} files")
        axes.set(xlim=(0, 1), ylim=(0, len(FLOORS)), xticks=[], yticks=[])
        axes.set_frame_on(False)
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def run(_: Options) -> Pages:
    """Trace the commands; `rule apply` is traced with the rule that `rule fit` wrote."""
    with tempfile.TemporaryDirectory() as folder:
        traced = ways(Path(folder))
        picture = Path(folder, "architecture.png")
        save(draw(traced), picture)
        files = [str(step.file) for steps in traced.values() for step in steps]
        keep_file(picture, "architecture", files)
    counts = {name: str(len(steps)) for name, steps in traced.items()}
    sentence = (
        f"`rue evaluate` crosses {counts['evaluate']} files, a cell {counts['cell']}, "
        f"`rue rule fit` {counts['fit']} and `rue rule apply` {counts['apply']}."
    )
    blocks = {name: way_table(steps) for name, steps in traced.items()}
    return {PAGE: blocks | {"rooms": rooms_table(), "counts": sentence}}


def sources() -> dict[str, list[str]]:
    """Return what the picture shows: the files that the tables of its page list."""
    listed = re.findall(r"^\| \d+ \| `([\w/.]+)`", PAGE.read_text(), re.MULTILINE)
    return {"architecture": listed}

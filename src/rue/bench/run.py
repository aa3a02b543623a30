"""Run a suite: run missing and stale cells, and store each as soon as it is done."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rue.bench.cells import Cell, cells, configuration, json_checksum, network_cell
from rue.bench.engine import Engine, Local
from rue.bench.store import State, Store
from rue.bench.suite import Suite
from rue.bench.tasks import tasks
from rue.errors import InputError


@dataclass
class Progress:
    """The state of a run, which is passed to ``on_change`` after every event."""

    total: int
    done: list[Cell] = field(default_factory=list)
    failed: dict[Cell, str] = field(default_factory=dict)
    running: list[Cell] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def time_left(self) -> float | None:
        """Return the estimated seconds until the run is done; None before the first result."""
        finished = len(self.done) + len(self.failed)
        if not finished:
            return None
        return (time.monotonic() - self.started) / finished * (self.total - finished)


@dataclass(frozen=True)
class SuiteRun:
    """The result of running a suite.

    Attributes
    ----------
    folder : Path
        The folder of the results.
    kept : tuple of Cell
        Cells that were finished before.
    done : tuple of Cell
        Cells that were run now.
    failed : mapping of Cell to str
        Cells that failed, with the error.
    redone : mapping of Cell to str
        Why a cell that existed was run again: ``stale`` or ``corrupt``.
    """

    folder: Path
    kept: tuple[Cell, ...]
    done: tuple[Cell, ...]
    failed: Mapping[Cell, str]
    redone: Mapping[Cell, State]


def run_suite(
    suite: Suite,
    out: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
    force: bool = False,
    threads: int = 1,
    root: str | None = None,
    on_change: Callable[[Progress], None] | None = None,
) -> SuiteRun:
    """Run the cells of a suite that a folder does not contain yet.

    Parameters
    ----------
    suite
        What to run.
    out
        The folder; an interrupted run resumes in it.
    engine
        Where tasks run; None means one local process at a time.
    only
        Run only some cells: ``{"method": ["ensemble"], "seed": ["0", "1"]}``.
    force
        Whether to run finished cells again.
    threads
        The number of threads of each task; the last bit of sums may depend on it.
    root
        A data root that is searched first.
    on_change
        Called when a task starts, ends or fails.

    Returns
    -------
    SuiteRun
        Which cells were kept, done and failed.
    """
    store = Store(out)
    chosen_cells = select(cells(suite), only or {})
    configs = {cell: configuration(suite, cell, root) for cell in chosen_cells}
    with store.lock():
        store.keep_suite(suite)
        states: dict[Cell, State] = {
            cell: store.state(cell, json_checksum(configs[cell])) for cell in chosen_cells
        }
        todo = [cell for cell in chosen_cells if force or states[cell] != "done"]
        planned = tasks(
            suite,
            todo,
            configs,
            threads=threads,
            root=root,
            checkpoints=store.checkpoints if isinstance(engine, Local) else None,
        )
        for task in planned:
            if task.checkpoints is not None:
                store.make_checkpoints(network_cell(suite, task.cells[0]))
        progress = Progress(len(todo))
        changed = on_change or (lambda _: None)
        changed(progress)
        for event in (engine or Local()).run(suite, planned):
            store.require_in_place()
            if event.kind == "started":
                progress.running += event.task.cells
            else:
                for result in event.results:
                    store.write(result)
                    progress.done.append(result.cell)
                for cell in event.task.cells:
                    progress.running.remove(cell)
                    if event.kind == "failed":
                        store.write_error(cell, event.error)
                        progress.failed[cell] = event.error.splitlines()[-1]
            changed(progress)
    return SuiteRun(
        store.folder,
        kept=tuple(cell for cell in chosen_cells if cell not in todo),
        done=tuple(progress.done),
        failed=progress.failed,
        redone={c: s for c, s in states.items() if s in ("stale", "corrupt")},
    )


def select(candidates: Sequence[Cell], only: Mapping[str, Sequence[str]]) -> list[Cell]:
    """Return the cells that match ``--only``."""
    chosen = list(candidates)
    for key, values in only.items():
        if key not in ("dataset", "method", "seed"):
            raise InputError(f"cells are chosen by dataset=, method= or seed=, got {key}=")
        options = list(dict.fromkeys(str(getattr(cell, key)) for cell in candidates))
        for value in values:
            if value not in options:
                raise InputError(f"{key}= must be of {', '.join(options)}, got {value!r}")
        chosen = [cell for cell in chosen if str(getattr(cell, key)) in values]
    if not chosen:
        raise InputError("there must be a cell to run, and the choice leaves none")
    return chosen

"""The progress of a benchmark on stderr: live on a terminal, or one line for each finished cell."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import typer

from rue._text import ESCAPES
from rue.bench.engine import Engine, Local
from rue.bench.run import Progress, SuiteRun, run_suite
from rue.bench.suite import Suite

_BAR = 60  # characters


def run_with_progress(
    suite: Suite,
    out: Path,
    *,
    make_engine: Callable[[int], Engine] = Local,
    workers: int | None = None,
    threads: int | None = None,
    **options: Any,
) -> SuiteRun:
    """Run a suite with its progress on stderr; other options are those of run_suite."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    probes = all(suite.network_of(dataset) == "probe" for dataset in suite.datasets)
    workers = workers or (cores or 1 if probes else 1)
    threads = threads or (1 if probes else max(1, (cores or 1) // workers))
    with _screen(suite.name, out) as on_change:
        engine = make_engine(workers)
        return run_suite(suite, out, engine=engine, threads=threads, on_change=on_change, **options)


@contextmanager
def only_stderr() -> Iterator[None]:
    """Send everything that is written to stdout within the block to stderr instead.

    This includes what C++ code and processes that are started within it write to the descriptor
    itself, such as Ray's own log.
    """
    try:
        out, err = sys.__stdout__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]
        own = os.dup(out)
    except (AttributeError, OSError, ValueError):  # closed, or no file of the system
        with redirect_stdout(sys.stderr):
            yield
        return
    sys.stdout.flush()
    try:
        os.dup2(err, out)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(own, out)
        os.close(own)


@contextmanager
def _screen(name: str, out: Path) -> Iterator[Callable[[Progress], None]]:
    """Show progress on stderr: live on a terminal, else a line for each cell that ends."""
    last: list[Progress] = []
    with _terminal(name) if sys.stderr.isatty() else _log(name) as show:

        def on_change(progress: Progress) -> None:
            last[:] = [progress]
            show(progress)

        try:
            yield on_change
        except KeyboardInterrupt:
            if last:
                done = f"{len(last[0].done)} of {last[0].total} cells are done and kept in {out}"
                typer.echo(f"{name}: interrupted: {done}; run the same command to resume", err=True)
            raise


@contextmanager
def _log(name: str) -> Iterator[Callable[[Progress], None]]:
    ended = 0

    def show(progress: Progress) -> None:
        nonlocal ended
        finished = len(progress.done) + len(progress.failed)
        if finished > ended:
            ended = finished
            failed = f"{len(progress.failed)} failed" if progress.failed else ""
            typer.echo(_state(name, progress, failed), err=True)

    yield show


@contextmanager
def _terminal(name: str) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), refresh_per_second=2, transient=True) as live:

        def show(progress: Progress) -> None:
            finished = len(progress.done) + len(progress.failed)
            filled = _BAR * finished // max(progress.total, 1)
            counts = f"{len(progress.running)} running, {len(progress.failed)} failed"
            live.update(
                Group(
                    Text(_state(name, progress, counts)),
                    Text.assemble(("━" * filled, "green"), ("━" * (_BAR - filled), "dim")),
                    *(Text(f"  {cell}", style="dim") for cell in progress.running[:10]),
                    *(
                        Text(
                            f"  {cell}: {error}".translate(ESCAPES),
                            style="red",
                            overflow="ellipsis",
                            no_wrap=True,
                        )
                        for cell, error in list(progress.failed.items())[-5:]
                    ),
                )
            )

        yield show


def _state(name: str, progress: Progress, counts: str) -> str:
    """Return how far a run is, with these counts of cells."""
    finished, left = len(progress.done) + len(progress.failed), progress.time_left()
    time_left = "" if left is None else f"about {_clock(left)} left"
    parts = (f"{name}: {finished} of {progress.total} cells", counts, time_left)
    return ", ".join(filter(None, parts))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

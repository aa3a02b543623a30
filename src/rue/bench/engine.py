"""Engines run tasks. The one here runs each task in its own process on this machine.

An engine yields events as they happen. Results are returned to the driver, which alone writes
files. If a task raises or its process dies, only this task fails.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Literal, Protocol

from rue._text import one_line
from rue.bench.suite import Suite
from rue.bench.tasks import Result, Task, run_task
from rue.errors import InputError, RueError

__all__ = ["Engine", "Event", "Local", "attempt"]


@dataclass(frozen=True)
class Event:
    """A task that was started, is done (with its results) or failed (with the error's text)."""

    task: Task
    kind: Literal["started", "done", "failed"]
    results: tuple[Result, ...] = ()
    error: str = ""


class Engine(Protocol):
    """The interface of engines."""

    def run(self, suite: Suite, tasks: Sequence[Task]) -> Iterator[Event]:
        """Yield events until every task is done or failed; closing the iterator stops the rest."""
        ...


def attempt(suite: Suite, task: Task) -> Event:
    """Run a task; an exception becomes the error of the event, its message the last line."""
    try:
        return Event(task, "done", tuple(run_task(suite, task)))
    except RueError as error:
        return Event(task, "failed", error=one_line(error))
    except Exception as error:
        trace = traceback.format_exc().strip()
        last = " ".join(f"{type(error).__name__}: {error}".split())
        return Event(task, "failed", error=f"{trace}\n{last}")


@dataclass(frozen=True)
class Local:
    """Run tasks in processes on this machine, ``workers`` at a time.

    With ``gpus_per_run``, each run gets that many of the GPUs in ``gpus``, or a share of one.
    """

    workers: int = 1
    gpus_per_run: float = 0.0
    gpus: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise InputError(f"workers must be at least 1, got {self.workers}")
        if self.gpus_per_run < 0:
            raise InputError(f"gpus_per_run must not be negative, got {self.gpus_per_run}")
        if self.gpus_per_run > len(self.gpus):
            raise InputError(
                f"gpus_per_run is {self.gpus_per_run:g}, but there are {len(self.gpus)} GPUs here"
            )

    def slots(self) -> list[str | None]:
        """Return the value of CUDA_VISIBLE_DEVICES for each run that may be active."""
        if not self.gpus_per_run:
            return [None] * self.workers
        if self.gpus_per_run >= 1:
            per_run = int(self.gpus_per_run)
            starts = range(0, len(self.gpus) - per_run + 1, per_run)
            slots = [",".join(self.gpus[i : i + per_run]) for i in starts]
        else:
            slots = [gpu for _ in range(int(1 / self.gpus_per_run)) for gpu in self.gpus]
        return list(slots[: self.workers])

    def run(self, suite: Suite, tasks: Sequence[Task]) -> Iterator[Event]:
        """See :class:`Engine`."""
        context = multiprocessing.get_context("spawn")
        waiting, free = deque(tasks), deque(self.slots())
        running: dict[Connection, _Running] = {}
        try:
            while waiting or running:
                while waiting and free:
                    task, slot = waiting.popleft(), free.popleft()
                    ours, theirs = context.Pipe(duplex=False)
                    process = context.Process(target=_child, args=(theirs, suite, task, slot))
                    process.start()
                    theirs.close()
                    running[ours] = _Running(task, slot, process)
                    yield Event(task, "started")
                for connection in wait(list(running)):
                    assert isinstance(connection, Connection)
                    one = running.pop(connection)
                    try:
                        event: Event = connection.recv()
                        one.process.join()
                    except (EOFError, OSError):  # it died before or while it told its results
                        one.process.join()
                        code = one.process.exitcode
                        why = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
                        event = Event(one.task, "failed", error=f"its process died ({why})")
                    connection.close()
                    free.append(one.slot)
                    yield event
        finally:
            for one in running.values():
                one.process.kill()


@dataclass
class _Running:
    task: Task
    slot: str | None
    process: BaseProcess = field(repr=False)


def _child(connection: Connection, suite: Suite, task: Task, slot: str | None) -> None:
    """Run a task in its own process, which ends when the driver ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's, who stops us
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    if slot is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = slot
    connection.send(attempt(suite, task))
    connection.close()

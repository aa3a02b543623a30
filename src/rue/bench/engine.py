"""Engines run tasks. The one here runs each task in its own process on this machine.

An engine yields events as they happen. Results are returned to the driver, which alone writes
files. If a task raises or its process dies, only this task fails.
"""

import multiprocessing
import os
import signal
import socket
import threading
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Literal, Protocol

from rue._schema import NotNegative, Positive, require_fields
from rue._text import one_line
from rue.bench.suite import Suite
from rue.bench.tasks import Result, Task, run_task
from rue.errors import InputError, RueError, missing_extra


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

    workers: Positive = 1
    gpus_per_run: NotNegative = 0.0
    gpus: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_fields(self)
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


_RETRIES = 3


@dataclass(frozen=True)
class RayCluster:
    """A running cluster with a given ``address``, or one that is started on this machine.

    ``workers`` limits the number of concurrent tasks; None means as many as fit.
    """

    address: str | None = None
    workers: Positive | None = None
    gpus_per_run: NotNegative = 0.0

    def __post_init__(self) -> None:
        require_fields(self)

    def run(self, suite: Suite, tasks: Sequence[Task]) -> Iterator[Event]:
        """See :class:`rue.bench.engine.Engine`."""
        try:
            import ray
        except ImportError:
            raise missing_extra("the Ray engine needs an extra", "ray") from None
        ours = not ray.is_initialized()
        if ours:
            self._connect(ray)
        # A process for each task, so that its peak memory is its own.
        remote = ray.remote(max_calls=1)(attempt)
        waiting = list(reversed(tasks))
        running: dict[Any, Task] = {}
        try:
            while waiting or running:
                while waiting and (self.workers is None or len(running) < self.workers):
                    task = waiting.pop()
                    place = remote.options(
                        num_cpus=task.threads,
                        num_gpus=self.gpus_per_run,
                        max_retries=_RETRIES,
                        name=str(task),
                    )
                    running[place.remote(suite, task)] = task
                    yield Event(task, "started")
                for reference in ray.wait(list(running), num_returns=1)[0]:
                    task = running.pop(reference)
                    try:
                        event: Event = ray.get(reference)
                    except ray.exceptions.RayError as error:
                        text = one_line(error)
                        event = Event(task, "failed", error=f"{type(error).__name__}: {text}")
                    yield event
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
            if ours:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        if self.address is not None:
            _require_answer(self.address)
        # The driver's settings of the data root and of threads go with the tasks.
        names = ("RUE_DATA", "NUMBA_CACHE_DIR", "PYTHONPATH")
        variables = {name: os.environ[name] for name in names if name in os.environ}
        try:
            ray.init(
                address=self.address,
                runtime_env={"env_vars": variables},
                log_to_driver=False,
                logging_level="ERROR",
                include_dashboard=None if self.address else False,
            )
        except ConnectionError as error:
            raise InputError(f"no Ray cluster at {self.address!r}: {error}") from None


def _require_answer(address: str) -> None:
    """Raise if nothing listens at host:port; Ray itself would retry for ten minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():  # auto, local
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"no Ray cluster at {address!r}: {error}") from None

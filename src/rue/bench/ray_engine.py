"""A Ray cluster as engine: tasks with CPUs and GPUs, retried when a node dies.

Workers read their data from their own node's ``RUE_DATA`` or cache; results travel to the
driver, which stores them. Needs the extra ``rue[ray]``.
"""

import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rue._text import one_line
from rue.bench.engine import Event, attempt
from rue.bench.suite import Suite
from rue.bench.tasks import Task
from rue.errors import InputError, MissingExtraError

__all__ = ["RayCluster"]

_RETRIES = 3


@dataclass(frozen=True)
class RayCluster:
    """A running cluster with a given ``address``, or one that is started on this machine.

    ``workers`` limits the number of concurrent tasks; None means as many as fit.
    """

    address: str | None = None
    workers: int | None = None
    gpus_per_run: float = 0.0

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers must be at least 1, got {self.workers}")
        if self.gpus_per_run < 0:
            raise InputError(f"gpus_per_run must not be negative, got {self.gpus_per_run}")

    def run(self, suite: Suite, tasks: Sequence[Task]) -> Iterator[Event]:
        """See :class:`rue.bench.engine.Engine`."""
        try:
            import ray
        except ImportError:
            raise MissingExtraError(
                "the Ray engine needs an extra: pip install -e '.[ray]' in a clone, else "
                "pip install 'rue[ray]'"
            ) from None
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

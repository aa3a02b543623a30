"""Plain threads for kernels: any thread may start them, several at once, and after a fork.

The threads of numba (``parallel=True``) cannot do that: OpenMP ends or hangs a process that was
forked after its first parallel region, and numba's own work queue aborts if two threads use it.
The threads here end with each call, so that a fork finds none of them.
"""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import Thread
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rue._kernels import kernel

T = TypeVar("T")
R = TypeVar("R")

# Points are divided into a fixed number of blocks, so that results do not depend on the number
# of cores; fewer numbers than this are not worth a thread.
N_BLOCKS = 16
FEW_NUMBERS = 1 << 14

# Of the C library: from how many bytes on it returns what is free at the end of its memory, and
# asks for memory that is returned at once; the values are those that it comes to by itself.
_USUAL = {-1: 1 << 26, -3: 1 << 25}

_n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
_all_threads = int(os.environ.get("NUMBA_NUM_THREADS") or _n_cores or 1)
_n_threads = _all_threads


def use_threads(n_threads: int) -> None:
    """Limit kernels to this number of threads, or to the number available if that is smaller."""
    global _n_threads
    _n_threads = max(1, min(n_threads, _all_threads))


def thread_limit() -> int:
    """Return the number of threads that kernels may use."""
    return _n_threads


def each(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Apply ``function`` to every item on as many threads as kernels may use; results in order."""
    n_threads = min(_n_threads, len(items))
    if n_threads < 2:
        return [function(item) for item in items]
    todo, results = deque(range(len(items))), {}
    errors: list[BaseException] = []

    def work() -> None:
        # A thread takes the next item when it is done with one.
        while todo:
            try:
                i = todo.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[i] = function(items[i])
            except BaseException as error:
                errors.append(error)
                todo.clear()

    threads = []
    for _ in range(n_threads - 1):
        thread = Thread(target=work)
        try:
            thread.start()
        except RuntimeError:  # the limit of threads is reached, or the interpreter ends
            break
        threads.append(thread)
    work()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[i] for i in range(len(items))]


class Rooms(Generic[R]):
    """Memory that threads borrow, because fresh pages take longer than most kernels."""

    def __init__(self, make: Callable[[], R]) -> None:
        self._make = make
        self._free: deque[R] = deque()

    @contextmanager
    def borrowed(self) -> Iterator[R]:
        """Let the block have memory of any content that no other thread has."""
        try:
            room = self._free.pop()
        except IndexError:
            room = self._make()
        yield room
        self._free.append(room)


def release_memory() -> None:
    """Return freed memory to the system, where the C library keeps it."""
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep the memory that the block frees: fresh pages take longer than most products."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    set_option = getattr(library, "mallopt", lambda *_: None)
    for option in _USUAL:
        set_option(option, 1 << 30)
    try:
        yield
    finally:
        for option, value in _USUAL.items():
            set_option(option, value)
        release_memory()


def on_blocks(function: Callable[[int, int], R], n_points: int, n_numbers: int) -> list[R]:
    """Apply ``function`` to the first and last index (exclusive) of each block of points."""
    if n_numbers < FEW_NUMBERS:
        return [function(0, n_points)]
    ends = [b * n_points // N_BLOCKS for b in range(N_BLOCKS + 1)]
    return each(lambda b: function(ends[b], ends[b + 1]), range(N_BLOCKS))


def filled(compiled: Any, out: NDArray[Any], first: NDArray[Any], *others: Any) -> NDArray[Any]:
    """Return ``out``, which a kernel writes for the points from ``start`` to ``stop``."""
    on_blocks(lambda a, b: compiled(a, b, out, first, *others), len(first), first.size)
    return out


def pointwise(body: Callable[..., None]) -> Callable[..., tuple[NDArray[Any], NDArray[Any]]]:
    """Compile a kernel that writes two components of the points from ``start`` to ``stop``."""
    compiled = kernel(body)

    @wraps(body)
    def run(first: NDArray[Any], *others: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        out = np.empty(len(first)), np.empty(len(first))
        on_blocks(lambda a, b: compiled(a, b, *out, first, *others), len(first), first.size)
        return out

    return run

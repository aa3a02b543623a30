"""Threads for kernels and sorts that release the interpreter's lock."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["each", "launch", "use"]

T = TypeVar("T")
R = TypeVar("R")


def each(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Apply ``function`` to every item on as many threads as numba may use; results in order."""
    from numba import get_num_threads

    n_threads = min(get_num_threads(), len(items))
    if n_threads < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))


def use(n_threads: int) -> None:
    """Limit kernels to this number of threads, or to the number available if that is smaller."""
    from numba import config, set_num_threads

    set_num_threads(min(n_threads, config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]


def launch() -> int:
    """Start numba's threads, if they are not running yet, and return their number.

    The first start also sets the number of threads that OpenMP uses in this process.
    """
    from numba import get_num_threads

    return int(get_num_threads())

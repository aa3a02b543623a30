"""How a thing is timed: the least of several runs, after one that warms up."""

import time
from collections.abc import Callable, Iterator

Row = tuple[str, float, str, float, str]
"""What, ours in seconds, the peer, the peer's seconds, the goal."""

Rows = Iterator[Row]


class GiB(float):
    """Memory, where a row measures that."""


def least(function: Callable[[], object], repeats: int = 5) -> float:
    function()
    return min(_once(function) for _ in range(repeats))


def least_of_both(
    ours: Callable[[], object], peer: Callable[[], object], repeats: int = 7
) -> tuple[float, float]:
    """Time two functions in turn, so that a busy machine is busy for both."""
    ours()
    peer()
    times = [(_once(ours), _once(peer)) for _ in range(repeats)]
    return min(t for t, _ in times), min(t for _, t in times)


def _once(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start

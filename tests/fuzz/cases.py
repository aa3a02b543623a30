"""One case by its number, and ranges of them."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from fuzz import (  # noqa: F401  each registers its kinds
    benchmarks,
    datasets,
    doors,
    guard,
    readers,
)
from fuzz.kinds import KINDS, case
from rue._kernels.threads import use_threads

_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # no disk is worn by the files

__all__ = ["kind_of", "run", "run_range", "warm_up"]


def kind_of(number: int) -> str:
    """Return the name of a case's kind."""
    return KINDS[number % len(KINDS)].name


def run(number: int, *, keep: Path | None = None) -> guard.Outcome:
    """Make the files of a case, use them, and return what became of it."""
    folder = Path(tempfile.mkdtemp(prefix="rue-fuzz-", dir=_MEMORY)) if keep is None else keep
    folder.mkdir(parents=True, exist_ok=True)
    try:
        kind, made = case(number, folder)
        use = kind.make(made)
        return guard.outcome(use, folder, valid=made.valid)
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def run_range(
    numbers: Iterable[int],
    *,
    kinds: Collection[str] | None = None,
    at: Any = None,
    skipped: Collection[int] = (),
) -> dict[str, Any]:
    """Try cases and count what became of them; ``at`` is called with the number of each."""
    counted: dict[str, Counter[str]] = {}
    failures, slowest, largest, tried, total = [], (0.0, -1), (0, -1), 0, 0.0
    costs: dict[str, dict[str, float]] = {}
    for number in numbers:
        name = kind_of(number)
        if number in skipped or (kinds is not None and name not in kinds):
            continue
        if at is not None:
            at.value = number
        found = run(number)
        tried += 1
        total += found.seconds
        slowest = max(slowest, (round(found.seconds, 3), number))
        largest = max(largest, (found.memory >> 20, number))
        cost = costs.setdefault(name, {"seconds": 0.0, "memory_mib": 0})
        cost["seconds"] = max(cost["seconds"], round(found.seconds, 3))
        cost["memory_mib"] = max(cost["memory_mib"], found.memory >> 20)
        counted.setdefault(name, Counter())[found.kind] += 1
        if found.kind == "failure":
            failures.append({"case": number, "kind": name, "text": found.text})
    return {
        "tried": tried,
        "kinds": {name: dict(each) for name, each in counted.items()},
        "failures": failures,
        "seconds": total,
        "slowest": list(slowest),
        "largest": list(largest),
        "costs": costs,
    }


def warm_up() -> None:
    """Use a valid file of each kind once: imports and compiled code are no case's own.

    Kernels keep to one thread: on 12 points others only spin.
    """
    use_threads(1)
    for number in range(3 * len(KINDS)):
        run(number)

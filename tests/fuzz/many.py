"""Many cases, over processes: what is done is kept, and a worker that dies is replaced."""

import argparse
import json
import multiprocessing
import platform
import queue
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from fuzz import cases, guard
from fuzz.kinds import KINDS

CHUNK = 500
SILENCE = 120.0  # seconds of wall clock without a case finished, after which a worker is ended


def run(given: argparse.Namespace) -> dict[str, Any]:
    """Try all cases in chunks, each in one of the workers; what is done already is kept."""
    given.out.parent.mkdir(parents=True, exist_ok=True)
    kept = given.out.with_suffix(".parts.jsonl")
    what = {"first": given.first, "cases": given.cases, "only": given.kind, "kinds": len(KINDS)}
    parts = _resumed(kept, what)
    starts = range(given.first, given.first + given.cases, CHUNK)
    waiting = [start for start in starts if start not in parts]
    with kept.open("a") as file:
        if not given.workers:
            cases.warm_up()
            with guard.limited():
                for start in waiting:
                    stop = min(start + CHUNK, given.first + given.cases)
                    parts[start] = {
                        "start": start,
                        **cases.run_range(range(start, stop), kinds=given.kind),
                    }
                    _keep(file, parts, start)
            waiting = []
        workers = [_Worker() for _ in range(min(given.workers, len(waiting)))]
        while waiting or any(worker.chunk is not None for worker in workers):
            for worker in workers:
                if worker.chunk is None and waiting:
                    start = waiting.pop(0)
                    stop = min(start + CHUNK, given.first + given.cases)
                    worker.give(start, stop, given.kind)
                for part in worker.finished():
                    parts[part["start"]] = part
                    _keep(file, parts, part["start"])
            time.sleep(0.05)
    for worker in workers:
        worker.end()
    return _summary(what, [parts[start] for start in sorted(parts)])


class _Worker:
    """A process that tries chunks; one that dies or hangs is replaced, its case a failure."""

    def __init__(self) -> None:
        self.chunk: tuple[int, int, list[str] | None] | None = None
        self.lost: list[tuple[int, str]] = []
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.tasks, self.results = context.Queue(), context.Queue()
        self.at = context.Value("q", -1)
        self.process = context.Process(
            target=_work, args=(self.tasks, self.results, self.at), daemon=True
        )
        self.process.start()
        self.seen, self.since = -1, time.monotonic()

    def give(self, start: int, stop: int, kinds: list[str] | None) -> None:
        self.chunk, self.lost = (start, stop, kinds), []
        self.seen, self.since = -1, time.monotonic()
        self.tasks.put((start, stop, kinds, []))

    def finished(self) -> list[dict[str, Any]]:
        if self.chunk is None:
            return []
        try:
            part = self.results.get_nowait()
        except queue.Empty:
            self._replace_if_lost()
            return []
        part["failures"] += [
            {"case": case, "kind": cases.kind_of(case), "text": why} for case, why in self.lost
        ]
        for case, _ in self.lost:
            counted = part["kinds"].setdefault(cases.kind_of(case), {})
            counted["failure"] = counted.get("failure", 0) + 1
        part["tried"] += len(self.lost)
        self.chunk = None
        return [part]

    def _replace_if_lost(self) -> None:
        at, now = self.at.value, time.monotonic()
        if at != self.seen:
            self.seen, self.since = at, now
        dead = not self.process.is_alive()
        if not dead and now - self.since < SILENCE:
            return
        assert self.chunk is not None
        start, stop, kinds = self.chunk
        why = f"the process died ({self.process.exitcode})" if dead else "nothing for two minutes"
        self.lost.append((at, why))
        self.process.kill()
        self.process.join()
        self._start()
        # What the process had found in this chunk is lost with it: try those cases again, too.
        skipped = [case for case, _ in self.lost]
        self.tasks.put((start, stop, kinds, skipped))

    def end(self) -> None:
        self.tasks.put(None)
        self.process.join(10)
        self.process.kill()


def _work(tasks: Any, results: Any, at: Any) -> None:
    cases.warm_up()
    with guard.limited():
        while (task := _next(tasks)) is not None:
            start, stop, kinds, skipped = task
            part = cases.run_range(range(start, stop), kinds=kinds, at=at, skipped=skipped)
            results.put({"start": start, **part})


def _next(tasks: Any) -> Any:
    """Return the next task; None if there is none left, or nobody to give one."""
    parent = multiprocessing.parent_process()
    while parent is not None and parent.is_alive():
        try:
            return tasks.get(timeout=2)
        except queue.Empty:
            continue
    return None


def _keep(file: TextIO, parts: dict[int, dict[str, Any]], start: int) -> None:
    """Write a part that is done, and a line of progress."""
    file.write(json.dumps(parts[start]) + "\n")
    file.flush()
    failed = sum(len(each["failures"]) for each in parts.values())
    done = sum(each["tried"] for each in parts.values())
    print(f"{done:,} cases, {failed} failures", file=sys.stderr, flush=True)


def _resumed(kept: Path, what: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the parts of an earlier run of the same cases; begin anew if they are of others."""
    head = json.dumps(what)
    lines = kept.read_text().splitlines() if kept.is_file() else []
    if not lines or lines[0] != head:
        kept.write_text(head + "\n")
        return {}
    parts = {}
    for line in lines[1:]:
        try:
            part = json.loads(line)
        except json.JSONDecodeError:  # the run was killed as it wrote it
            continue
        parts[part["start"]] = part
    return parts


def _summary(what: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    by_kind: dict[str, Counter[str]] = {}
    for part in parts:
        for name, counted in part["kinds"].items():
            by_kind.setdefault(name, Counter()).update(counted)
    return {
        **what,
        "tried": sum(part["tried"] for part in parts),
        "results": sum(counted["result"] for counted in by_kind.values()),
        "errors": sum(counted["error"] for counted in by_kind.values()),
        "failures": [failure for part in parts for failure in part["failures"]],
        "by_kind": {name: dict(counted) for name, counted in sorted(by_kind.items())},
        "cpu_seconds": round(sum(part["seconds"] for part in parts), 1),
        "slowest_case": max((part["slowest"] for part in parts), default=None),
        "largest_case": max((part["largest"] for part in parts), default=None),
        "peak_memory_mib": max((part["largest"][0] for part in parts), default=0),
        "most_by_kind": {
            name: {
                key: max(part["costs"][name][key] for part in parts if name in part["costs"])
                for key in ("seconds", "memory_mib")
            }
            for name in sorted(by_kind)
        },
        "versions": {
            "rue": version("rue"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "pandas", "pyarrow", "numba", "pillow")},
        },
        "date": time.strftime("%Y-%m-%d"),
    }

"""Try random mutants of the core against the fast tests of their files; resumable.

::

    python -m mutants --number 300 --out out/mutants.json

A mutant is one small change of one expression: a comparison, an operator, a number, a condition.
It is killed if a test fails or hangs. Only tests that call the changed function are run, the
shortest first: one run of all tests before shows which do, and it is kept beside the results. Each
result is written at once, and a second run with the same file resumes with the mutants that have
none. A survivor either changes no behaviour, which its ``judgement`` says, or shows that a test is
missing: name it in ``killed_since`` once it is written. Edit the file by hand for both;
``python -m studies reliability mutants FILE NUMBER`` publishes it.
"""

import argparse
import ast
import json
import os
import random
import shutil
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import Any

from mutants.changes import mutants
from mutants.runs import Calls, First, run

TOP = Path(__file__).parents[2]
ROOMS = ("losses", "truth", "beliefs", "components.py", "metrics", "selectors", "pareto", "io")
OTHERS = (
    "tests/test_components.py",
    "tests/test_recorded.py",
    "tests/test_house.py::test_dataclasses_are_frozen",
)


def tests_of(room: str) -> list[str]:
    """Return what is collected for a room: its examples and tests, and some of the whole."""
    if room == "components":
        return ["src/rue/components.py", "tests/test_real_components.py", "tests/test_run.py"]
    return [f"src/rue/{room}", f"tests/{room}"]


def function_at(path: Path, start: int) -> int | None:
    """Return the first line of the innermost function around a byte, or None outside of all."""
    source = path.read_bytes()
    line = source[:start].count(b"\n") + 1
    lines = [
        min([node.lineno, *(item.lineno for item in node.decorator_list)])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(lines, default=None)


def chosen_tests(
    traced: list[dict[str, Any]], function: str | None, most: float = float("inf")
) -> list[str]:
    """Return the tests that call a function, the shortest first, of so many seconds in all."""
    found = {}
    for trace in traced:
        everywhere = function is None or any(function in other["at_import"] for other in traced)
        for name, test in trace["tests"].items():
            if everywhere or function in test["calls"]:
                found[name] = test["seconds"]
    order = sorted(found, key=lambda name: found[name])
    ends = accumulate(found[name] for name in order)
    return [name for name, end in zip(order, ends, strict=True) if end <= most]


def collected(tests: list[str]) -> list[str]:
    """Return the files of tests."""
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


def main() -> int:
    """Return 0 if at least 95 % of the mutants that change behaviour are killed."""
    parser = argparse.ArgumentParser(prog="python -m mutants")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=200.0, help="CPU seconds for one mutant")
    what = "only the shortest tests, of so many seconds in all: others may kill what survives"
    parser.add_argument("--seconds", type=float, default=float("inf"), help=what)
    parser.add_argument("--rooms", nargs="*", help="try only the chosen mutants of these packages")
    parser.add_argument("--out", type=Path, default=Path("out/mutants.json"))
    given = parser.parse_args()
    package = TOP / "src/rue"
    files = [
        path
        for room in ROOMS
        for path in sorted(
            [package / room] if room.endswith(".py") else package.glob(f"{room}/**/*.py")
        )
    ]
    every = [(path, change) for path in files for change in mutants(path)]
    chosen = random.Random(given.seed).sample(every, min(given.number, len(every)))
    results = json.loads(given.out.read_text()) if given.out.exists() else {}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    traces_file = given.out.with_suffix(".calls.json")
    traces = json.loads(traces_file.read_text()) if traces_file.exists() else {}
    sound: dict[str, bool] = {}  # whether a test passes on the code as it is
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(TOP, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "out", "site"))

        def trace(room: str, tests: list[str]) -> dict[str, Any]:
            """Return the calls of tests, from the file if they are there."""
            if room not in traces:
                calls = Calls(copy / "src/rue", tuple(room.removesuffix(".py") for room in ROOMS))
                traces[room] = run(copy, calls, tests, 20 * given.limit, keep=True)
                traces_file.write_text(json.dumps(traces))
                print(f"{len(traces[room]['tests'])} tests of {room}", flush=True)
            result: dict[str, Any] = traces[room]
            return result

        for path, (start, end, old, new) in chosen:
            inside = path.relative_to(package)
            text = path.read_bytes()
            line = text[:start].count(b"\n") + 1
            name = f"{inside}:{line} {' '.join(old.split())} -> {new}"
            if name in results:
                continue
            room = inside.parts[0].removesuffix(".py")
            if given.rooms and room not in given.rooms:
                continue
            traced = [trace(room, tests_of(room)), trace("others", list(OTHERS))]
            first_line = function_at(path, start)
            tests = chosen_tests(traced, first_line and f"{inside}:{first_line}", given.seconds)
            begin, target = time.monotonic(), copy / path.relative_to(TOP)
            target.write_bytes(text[:start] + new.encode() + text[end:])
            killed = None
            while killed is None and tests:
                arguments = ["-x", *collected(tests)]
                killed = run(copy, First(tests), arguments, given.limit, keep=False)
                if killed is None:
                    break
                if killed in tests and killed not in sound:
                    mutated = target.read_bytes()
                    _restore(target, path)
                    arguments = collected([killed])
                    failed = run(copy, First([killed]), arguments, given.limit, keep=False)
                    sound[killed] = failed is None
                    target.write_bytes(mutated)
                if not sound.get(killed, True):
                    print("not used, since it fails without any change:", killed, flush=True)
                    tests = [test for test in tests if sound.get(test, True)]
                    killed = None
            _restore(target, path)
            results[name] = {
                "killed_by": killed,
                "seconds": round(time.monotonic() - begin, 1),
                "judgement": "",
                "killed_since": "",
            }
            given.out.write_text(json.dumps(results, indent=1) + "\n")
            print("survived" if killed is None else "killed", name, flush=True)
    tests_by_mutant = [value["killed_by"] or value["killed_since"] for value in results.values()]
    judged = [result["judgement"] for result in results.values()]
    counted = [test for test, said in zip(tests_by_mutant, judged, strict=True) if test or not said]
    n_killed = sum(map(bool, counted))
    print(f"{n_killed} of {len(counted)} mutants that change behaviour are killed")
    return int(n_killed < 0.95 * len(counted))


def _restore(target: Path, source: Path) -> None:
    """Write the file as it was, with its time, so that its compiled code is valid again."""
    shutil.copyfile(source, target)
    os.utime(target, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))


if __name__ == "__main__":
    sys.exit(main())

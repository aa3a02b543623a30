"""Try random mutants of the core against the fast tests of their files; resumable.

::

    python -m mutants --number 300 --out out/mutants.json

A mutant is one small change of one expression: a comparison, an operator, a number, a condition.
It is killed if a test fails or hangs. Each result is written at once, and a second run with the
same file goes on with the mutants that have none. A survivor either changes no behaviour, which
its ``judgement`` says, or shows that a test is missing: name it in ``killed_since`` once it is
written. Edit the file by hand for both; ``python -m studies reliability mutants`` publishes it.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[2]
ROOMS = ("losses", "truth", "beliefs", "components.py", "metrics", "selectors", "pareto", "io")
SWAPS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.And: "or",
    ast.Or: "and",
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "maximum": "minimum"}


def mutants(path: Path) -> Iterator[tuple[int, int, str, str]]:
    """Yield start, end, old and new text of every change of a file."""
    source = path.read_text()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))

    def place(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )

    text = source.encode()

    def changed(node: ast.expr, new: str) -> tuple[int, int, str, str]:
        start, end = place(node)
        return start, end, text[start:end].decode(), new

    for node in _code(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            yield changed(node, f"({left}) {SWAPS[type(node.ops[0])]} ({right})")
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            yield changed(node, f"(({left}) {SWAPS[type(node.op)]} ({right}))")
        elif isinstance(node, ast.BoolOp):
            parts = [f"({ast.unparse(part)})" for part in node.values]
            yield changed(node, f"({f' {SWAPS[type(node.op)]} '.join(parts)})")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield changed(node, f"({ast.unparse(node.operand)})")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield changed(node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            if node.value + 1 != node.value:  # 1e100 + 1 is 1e100
                yield changed(node, repr(node.value + 1))
        elif isinstance(node, ast.IfExp):
            body, other = ast.unparse(node.orelse), ast.unparse(node.body)
            yield changed(node, f"(({body}) if {ast.unparse(node.test)} else ({other}))")
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield changed(node, NAMES[node.id])


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those of annotations, error messages, and text."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "type_params") or isinstance(tree, ast.Raise):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
                yield node
                yield from _code(node)


def tests_of(path: Path) -> list[list[str]]:
    """Return the tests to try, one set after the other: those of the file, then of its room."""
    room = path.parts[0].removesuffix(".py")
    own = sorted(Path(TOP, "tests", room).glob(f"test_{path.stem}*.py"))
    if room == "components":
        return [["tests/test_components.py", "tests/test_real_components.py", "tests/test_run.py"]]
    sets = [[f"src/rue/{path}", *(str(file.relative_to(TOP)) for file in own)]]
    frozen = "tests/test_house.py::test_dataclasses_are_frozen"
    others = ["tests/test_components.py", "tests/test_recorded.py", frozen]
    return [*sets, [f"tests/{room}"], others]


def passes(copy: Path, tests: list[str], limit: float) -> bool:
    """Return whether the tests pass on the copy within so many seconds."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    try:
        done = subprocess.run(
            [*command, "-m", "not slow and not browser", *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 5)  # 5: none was collected


def main() -> int:
    """Return 0 if at least 95 % of the mutants that change behaviour are killed."""
    parser = argparse.ArgumentParser(prog="python -m mutants")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one set of tests")
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
    sound: dict[str, bool] = {}  # whether tests pass on the code as it is
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(TOP, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "out", "site"))
        for path, (start, end, old, new) in chosen:
            inside = path.relative_to(package)
            text = path.read_bytes()
            line = text[:start].count(b"\n") + 1
            name = f"{inside}:{line} {' '.join(old.split())} -> {new}"
            if name in results:
                continue
            begin, target = time.monotonic(), copy / path.relative_to(TOP)
            target.write_bytes(text[:start] + new.encode() + text[end:])
            sets = tests_of(inside)
            killed = None
            for tests in sets:
                if passes(copy, tests, given.limit):
                    continue
                target.write_bytes(text)
                key = " ".join(tests)
                if key not in sound:
                    sound[key] = passes(copy, tests, given.limit)
                if sound[key]:
                    killed = key
                    break
                print("not used, since these fail without any change:", key, flush=True)
                target.write_bytes(text[:start] + new.encode() + text[end:])
            target.write_bytes(text)
            results[name] = {
                "killed_by": killed,
                "seconds": round(time.monotonic() - begin, 1),
                "judgement": "",
                "killed_since": "",
            }
            given.out.write_text(json.dumps(results, indent=1) + "\n")
            print("survived" if killed is None else "killed", name, flush=True)
    tests = [result["killed_by"] or result.get("killed_since") for result in results.values()]
    judged = [result["judgement"] for result in results.values()]
    counted = [test for test, said in zip(tests, judged, strict=True) if test or not said]
    n_killed = sum(map(bool, counted))
    print(f"{n_killed} of {len(counted)} mutants that change behaviour are killed")
    return int(n_killed < 0.95 * len(counted))


if __name__ == "__main__":
    sys.exit(main())

"""Try many cases, or repeat one.

::

    python -m fuzz --cases 100000 --out out/fuzz.json   # two workers; resumes where it stopped
    python -m fuzz --case 4711 --keep /tmp/case         # one case, its files kept
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from fuzz import cases
from fuzz.many import run


def main() -> int:
    """Return 0 if every case kept the property."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--kind", action="append", help="only the cases of this kind; repeat it")
    parser.add_argument("--workers", type=int, default=2, help="processes; 0: this one")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz.json"))
    parser.add_argument("--case", type=int, help="try this one case and say what became of it")
    parser.add_argument("--keep", type=Path, help="with --case: a folder to keep its files in")
    given = parser.parse_args()
    if given.case is not None:
        found = cases.run(given.case, keep=given.keep)
        print(f"{given.case} {cases.kind_of(given.case)}: {found.kind} {found.text}")
        return int(found.kind == "failure")
    summary = run(given)
    given.out.write_text(json.dumps(summary, indent=1) + "\n")
    print(_told(summary))
    return int(bool(summary["failures"]))


def _told(summary: dict[str, Any]) -> str:
    lines = [
        f"{summary['tried']:,} cases: {summary['results']:,} results, {summary['errors']:,} "
        f"errors of ours, {len(summary['failures'])} failures"
    ]
    lines += [
        f"  case {each['case']} ({each['kind']}): {each['text']}"
        for each in summary["failures"][:50]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

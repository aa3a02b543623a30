"""Write the figures of a run of the fuzzer into docs/reliability.md.

make fuzz
python -m studies.reliability out/fuzz.json [out/again.json]

The second file is of a later run of those kinds of files that the first found something in. Both
are kept in docs/rows/fuzz.json; without arguments the page is filled from it again.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from studies import DOCS
from studies.pages import fill_file, listed, table
from studies.rows import read_rows, write_rows

PAGE = DOCS / "reliability.md"


def main() -> None:
    if len(sys.argv) > 1:
        given = [json.loads(Path(path).read_text()) for path in sys.argv[1:]]
        write_rows("fuzz", {"runs": given})
    fill_file(PAGE, {"fuzz": figures(read_rows("fuzz")["runs"])})


def figures(runs: list[dict[str, Any]]) -> str:
    """Return what the runs found: sentences, the failures, and a table of the kinds of files."""
    first, *later = runs
    failures = first["failures"]
    parts = [_totals("One run", first) + f" Versions: {_versions(first)}."]
    if failures:
        parts.append(
            "None of them fails any more. Each is now a test in `tests/fuzz/test_found.py`, or was "
            "mended in the fuzzer itself where that could not write a file (`the process died`):"
        )
        parts.append(
            "\n".join(
                f"- Case {each['case']} ({each['kind']}): `{_short(each['text'])}`"
                for each in failures
            )
        )
    for again in later:
        what = listed(list(again["by_kind"]))
        parts.append(
            f"{_totals('After that, a second run', again)} It repeated the kinds in which "
            f"something was found: {what}."
        )
    failed = Counter(each["kind"] for each in failures)
    most = first.get("most_by_kind", {})  # runs before it was measured have none
    rows = [
        [name, f"{found.get('result', 0):,}", f"{found.get('error', 0):,}", f"{failed[name]:,}"]
        + ([f"{most[name]['seconds']:.2f}", f"{most[name]['memory_mib']:,}"] if most else [])
        for name, found in first["by_kind"].items()
    ]
    costs = ["seconds at most", "MiB at most"] if most else []
    parts.append(table(["kind of file", "results", "errors", "failures", *costs], rows))
    return "\n\n".join(parts)


def _totals(name: str, run: dict[str, Any]) -> str:
    seconds, case = run["slowest_case"]
    n = len(run["failures"])
    return (
        f"{name} of {run['tried']:,} cases on {run['date']} gave {run['results']:,} results, "
        f"{run['errors']:,} one-line errors and {n or 'no'} failure{'' if n == 1 else 's'}. The "
        f"slowest case took {seconds:.2f} s (number {case}), and the process never more than "
        f"{run['peak_memory_mib']:,} MiB."
    )


def _versions(run: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in run["versions"].items())


def _short(text: str) -> str:
    return text.partition(" (")[0][:120].replace("`", "'")


if __name__ == "__main__":
    main()

"""Write the figures of runs of the fuzzer and of mutants into docs/reliability.md.

    python -m studies reliability out/fuzz.json [out/again.json]
    python -m studies reliability mutants out/mutants.json 300

The second file of the fuzzer is of a later run of those kinds of files that the first found
something in. The number is of mutants drawn, which a run need not get through; a run is kept beside
those with other numbers.
"""

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

from studies import DOCS
from studies.pages import listed, table
from studies.rows import Row, read_rows, stamp, write_rows
from studies.study import Options, Pages

PAGE = DOCS / "reliability.md"


def run(options: Options) -> Pages:
    """Keep the results of a run."""
    of_mutants = options.words[:1] == ("mutants",)
    paths = options.words[1:2] if of_mutants else options.words
    given = [json.loads(Path(path).read_text()) for path in paths]
    if of_mutants:
        drawn = int(options.words[2])
        made = stamp("pytest") | {"date": date.today().isoformat(), "drawn": drawn}
        other_runs = [run for run in read_rows("mutants")["runs"] if run["drawn"] != drawn]
        write_rows("mutants", {"runs": [*other_runs, made | {"mutants": _brief(given[0])}]})
    elif given:
        write_rows("fuzz", {"runs": given})
    return {}


def pages(_: Row) -> Pages:
    fuzz, mutants = read_rows("fuzz")["runs"], read_rows("mutants")
    return {PAGE: {"fuzz": fuzz_text(fuzz), "mutants": mutants_text(mutants)}}


def fuzz_text(runs: list[dict[str, Any]]) -> str:
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
        [name, f"{counts.get('result', 0):,}", f"{counts.get('error', 0):,}", f"{failed[name]:,}"]
        + ([f"{most[name]['seconds']:.2f}", f"{most[name]['memory_mib']:,}"] if most else [])
        for name, counts in first["by_kind"].items()
    ]
    costs = ["seconds at most", "MiB at most"] if most else []
    parts.append(table(["kind of file", "results", "errors", "failures", *costs], rows))
    return "\n\n".join(parts)


def mutants_text(record: dict[str, Any]) -> str:
    """Return how many mutants the tests noticed, before and after those that were written then."""
    runs = record["runs"]
    mutants = [item for run in runs for item in run["mutants"].items()]
    rooms: dict[str, Counter[str]] = {}
    for name, result in mutants:
        path = name.partition(":")[0]
        rooms.setdefault(path.partition("/")[0].removesuffix(".py"), Counter())[_fate(result)] += 1
    fates = sum(rooms.values(), Counter())
    changing = len(mutants) - fates["equal"]
    noticed = fates["before"] + fates["since"]
    sentences = (
        f"{len(mutants)} random mutants of {len(rooms)} packages were tried: "
        f"{listed([_one_run(run) for run in runs])}. "
        f"The tests of their packages noticed {fates['before']}, and {fates['equal']} change no "
        f"behaviour (a first capacity that grows, a tolerance at its last bit; "
        f"`docs/rows/mutants.json` has a sentence about each). Of the {changing} that change it, "
        f"{_percent(fates['before'], changing)} % were noticed at first and "
        f"{_percent(noticed, changing)} % ({noticed}) are now, by tests that were written "
        f"for them or that such a run leaves out as too long. "
        f"Left alive: {fates['alive'] or 'none'}."
    )
    keys = ("before", "since", "equal", "alive")
    rows = [
        [room, f"{sum(fate.values())}", *(f"{fate[key]}" for key in keys)]
        for room, fate in sorted(rooms.items())
    ]
    head = ["package", "mutants", "noticed", "noticed since", "no change", "alive"]
    return f"{sentences}\n\n{table(head, rows)}"


def _one_run(run: dict[str, Any]) -> str:
    """Return how many of the drawn mutants a run tried, and all of which packages."""
    rooms = Counter(name.partition("/")[0] for name in run["mutants"])
    most, number = rooms.most_common(1)[0]
    of = f", {number} of them of {most}" if number > 0.8 * rooms.total() else ""
    return f"on {run['date']} {len(run['mutants'])} of {run['drawn']} that were drawn{of}"


def _fate(result: dict[str, Any]) -> str:
    if result["killed_by"]:
        return "before"
    return "since" if result.get("killed_since") else "equal" if result["judgement"] else "alive"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}"


def _brief(results: dict[str, Any]) -> dict[str, Any]:
    """Return results without the seconds that they took."""
    return {
        name: {key: value for key, value in result.items() if key != "seconds"}
        for name, result in results.items()
    }


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

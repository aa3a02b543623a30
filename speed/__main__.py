"""Print the table of all measurements, and put it into docs/speed.md."""

import importlib
import os
import pkgutil
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import speed
from speed.timing import GiB, Row
from studies.pages import fill_file, table

PAGE = Path("docs/speed.md")


def main() -> None:
    wanted = sys.argv[1:]
    print(f"{'what':<62}{'ours':>10}  {'peer':<44}{'peer':>10}{'ratio':>8}  goal")
    for module in pkgutil.iter_modules(speed.__path__):
        if module.name in ("__main__", "timing") or (wanted and module.name not in wanted):
            continue
        part = importlib.import_module(f"speed.{module.name}")
        measured = []
        for row in part.rows():
            measured.append(row)
            what, ours, peer, theirs, ratio, goal = _cells(row)
            print(f"{what:<62}{ours:>10}  {peer:<44}{theirs:>10}{ratio:>8}  {goal}", flush=True)
            fill_file(PAGE, {module.name: _section(measured)})


def _section(measured: list[Row]) -> str:
    """Return the rows of a file as a table, with the machine and the day."""
    head = ["what", "rue", "compared with", "its time", "ratio", "goal"]
    cells = [[cell.replace("|", r"\|") for cell in _cells(row)] for row in measured]
    load = f"load {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else ""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    machine = f"{_processor()}, {os.cpu_count()} cores, {load}"
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    return f"{table(head, cells)}\n\nMeasured on {when}: {machine}; {packages}."


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (info.read_text().splitlines() if info.exists() else ())
        if line.startswith("model name")
    ]
    return names[0] if names else platform.processor() or platform.machine()


def _cells(row: Row) -> list[str]:
    what, ours, peer, theirs, goal = row
    ratio = f"{ours / theirs:.3g}" if theirs else ""
    return [what, _shown(ours), peer, _shown(theirs), ratio, goal]


def _shown(seconds: float) -> str:
    if isinstance(seconds, GiB):
        return f"{seconds:.3g} GiB"
    if not seconds:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


if __name__ == "__main__":
    main()

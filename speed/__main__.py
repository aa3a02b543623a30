"""Print the table of all measurements."""

import importlib
import pkgutil
import sys

import speed
from speed.timing import GiB


def main() -> None:
    wanted = sys.argv[1:]
    print(f"{'what':<62}{'ours':>10}  {'peer':<44}{'peer':>10}{'ratio':>8}  goal")
    for module in pkgutil.iter_modules(speed.__path__):
        if module.name in ("__main__", "timing") or (wanted and module.name not in wanted):
            continue
        for what, ours, peer, theirs, goal in importlib.import_module(
            f"speed.{module.name}"
        ).rows():
            ratio = f"{ours / theirs:8.3g}" if theirs else " " * 8
            print(
                f"{what:<62}{_shown(ours):>10}  {peer:<44}{_shown(theirs):>10}{ratio}  {goal}",
                flush=True,
            )


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

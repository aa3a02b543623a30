"""Run active learning and write the tables of docs/proxies.md.

    python studies/proxies.py [--root ROOT] [PATTERN...]   run what is not in docs/proxies/ yet
    python studies/proxies.py --tables-only                write proxies.md from docs/proxies/

A job is active-learning_DATA_METHOD, such as active-learning_letter_dropout; a pattern such as
'*_letter_*' chooses some. Its file holds the rows, the seconds of CPU they took, versions and
checksums. A job whose file is there is not run again.
"""

import argparse
import json
import platform
import time
from fnmatch import fnmatchcase
from importlib.metadata import version

import numpy as np

import rue.data
from studies import DOCS

ROWS = DOCS / "proxies"
PAGE = DOCS / "proxies.md"
METHODS = ("dropout", "ensemble", "evidential", "ddu", "laplace")
SEEDS = range(3)
ACQUISITIONS = ("epistemic", "total", "random", "oracle")
LEARNING = ("letter", "random-rbf")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--root")
    parser.add_argument("--tables-only", action="store_true")
    arguments = parser.parse_args()
    ROWS.mkdir(exist_ok=True)
    jobs = [(data, method) for data in LEARNING for method in METHODS]
    for data, method in [] if arguments.tables_only else jobs:
        file = ROWS / f"active-learning_{data}_{method}.json"
        if not file.exists() and any(fnmatchcase(file.stem, p) for p in arguments.patterns):
            record = measured(data, method, arguments.root)
            file.write_text(json.dumps(record, indent=1) + "\n")
            print(file.stem, f"{record['cpu_seconds']:.0f} s of CPU", flush=True)
    records = {file.stem: json.loads(file.read_text()) for file in sorted(ROWS.glob("*.json"))}
    PAGE.write_text(fill(PAGE.read_text(), blocks(records)))


def measured(name: str, method: str, root: str | None) -> dict:
    """Run a job; give its rows with how long it took, and from what."""
    data = [rue.data.load(name, root, seed=seed) for seed in SEEDS]
    start = time.process_time()
    rows = learn(data, method)
    return {
        "data": name,
        "method": method,
        "seeds": list(SEEDS),
        "cpu_seconds": time.process_time() - start,
        "rows": rows,
        "checksums": dict(data[0].checksums),
        "versions": {"rue": rue.__version__, "python": platform.python_version()}
        | {package: version(package) for package in ("numpy", "scikit-learn", "torch")},
    }


def learn(data: list[rue.data.DataSet], method: str) -> list[dict]:
    from rue.methods import laplace
    from rue.proxies.active_learning import run

    # A hundred draws for each point of the pool would take longer than all the training.
    config = laplace.Config(n_draws=20) if method == "laplace" else None
    rows = run(data, method, SEEDS, acquisitions=ACQUISITIONS, config=config, progress=True)
    return [row.to_dict() for row in rows]


def blocks(records: dict) -> dict[str, str]:
    tables = {f"learning {data}": learning_table(records, data) for data in LEARNING}
    return tables | {"seconds": seconds_table(records)}


def learning_table(records: dict, data: str) -> str:
    head = [
        *(f"NAUC {name}" for name in ACQUISITIONS),
        "accuracy at the start",
        "in the end, total",
    ]
    lines = ["| method | " + " | ".join(head) + " |", "|---|" + "--:|" * len(head)]
    for method in METHODS:
        record = records.get(f"active-learning_{data}_{method}")
        if record is None:
            continue
        by = {a: [r for r in record["rows"] if r["acquisition"] == a] for a in ACQUISITIONS}
        cells = [spread([r["nauc"] for r in rows]) for rows in by.values()]
        cells += [spread([r["accuracy"][place] for r in by["total"]]) for place in (0, -1)]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines) if len(lines) > 2 else "Not run yet."


def seconds_table(records: dict) -> str:
    lines = ["| data set | " + " | ".join(METHODS) + " | all |"]
    lines.append("|---|" + "--:|" * (len(METHODS) + 1))
    for data in LEARNING:
        found = [records.get(f"active-learning_{data}_{method}") for method in METHODS]
        if any(found):
            times = [None if r is None else r["cpu_seconds"] for r in found]
            cells = ["-" if t is None else f"{t:.0f}" for t in times]
            total = "-" if None in times else f"{sum(times):.0f}"
            lines.append(f"| `{data}` | {' | '.join(cells)} | {total} |")
    return "\n".join(lines)


def spread(values: list[float], digits: int = 3) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values, ddof=1):.{digits}f}"


def fill(page: str, texts: dict[str, str]) -> str:
    """Put each text between its marks."""
    for name, text in texts.items():
        begin, end = f"<!-- begin {name} -->\n", f"\n<!-- end {name} -->"
        before, rest = page.split(begin)
        page = before + begin + text + end + rest.split(end)[1]
    return page


if __name__ == "__main__":
    main()

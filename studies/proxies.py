"""Run active learning and write the tables of docs/proxies.md.

    python -m studies.proxies [--root ROOT] [PATTERN...]   run the jobs that have no rows yet
    python -m studies.proxies --tables-only                write the page from docs/rows/

A job is active-learning_DATA_METHOD, such as active-learning_letter_dropout; a pattern such as
'*_letter_*' selects jobs. docs/rows/JOB.json holds its rows, the CPU seconds they took, versions
and checksums. A job that has its file is not run again.
"""

import argparse
import time
from fnmatch import fnmatchcase

import rue.data
from rue.proxies.active_learning import Acquisition, run
from studies import DOCS, ROWS
from studies.pages import fill_file, spread, table
from studies.rows import Row, read_rows, stamp, write_rows

PAGE = DOCS / "proxies.md"
METHODS = ("dropout", "ensemble", "evidential", "ddu", "laplace")
SEEDS = range(3)
ACQUISITIONS: tuple[Acquisition, ...] = ("epistemic", "total", "random", "oracle")
LEARNING = ("letter", "random-rbf")
JOBS = {
    f"active-learning_{data}_{method}": (data, method) for data in LEARNING for method in METHODS
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--root")
    parser.add_argument("--tables-only", action="store_true")
    arguments = parser.parse_args()
    for job, (data, method) in {} if arguments.tables_only else JOBS.items():
        wanted = any(fnmatchcase(job, pattern) for pattern in arguments.patterns)
        if wanted and not (ROWS / f"{job}.json").exists():
            record = measured(data, method, arguments.root)
            write_rows(job, record)
            print(job, f"{record['cpu_seconds']:.0f} s of CPU", flush=True)
    fill_file(PAGE, blocks(records()))


def records() -> dict[str, Row]:
    """Return the record of each job that has been run."""
    return {job: found for job in JOBS if (found := read_rows(job))}


def measured(name: str, method: str, root: str | None) -> Row:
    """Run a job, and return its rows with how long it took."""
    data = [rue.data.load(name, root, seed=seed) for seed in SEEDS]
    start = time.process_time()
    rows = learn(data, method)
    return {
        "data": name,
        "method": method,
        "seeds": list(SEEDS),
        "cpu_seconds": time.process_time() - start,
        "rows": rows,
        **stamp("numpy", "scikit-learn", "torch", checksums=data[0].checksums),
    }


def learn(data: list[rue.data.DataSet], method: str) -> list[Row]:
    from rue.methods import laplace

    # A hundred draws for each point of the pool would take longer than all the training.
    config = laplace.Config(n_draws=20) if method == "laplace" else None
    rows = run(data, method, SEEDS, acquisitions=ACQUISITIONS, config=config, progress=True)
    return [row.to_dict() for row in rows]


def blocks(records: dict[str, Row]) -> dict[str, str]:
    """Return the tables of the page."""
    tables = {f"learning {data}": learning_table(records, data) for data in LEARNING}
    return tables | {"seconds": seconds_table(records)}


def learning_table(records: dict[str, Row], data: str) -> str:
    head = [f"NAUC {name}" for name in ACQUISITIONS]
    lines = []
    for method in METHODS:
        record = records.get(f"active-learning_{data}_{method}")
        if record is None:
            continue
        by = {a: [r for r in record["rows"] if r["acquisition"] == a] for a in ACQUISITIONS}
        cells = [spread([r["nauc"] for r in rows]) for rows in by.values()]
        cells += [spread([r["accuracy"][place] for r in by["total"]]) for place in (0, -1)]
        lines.append([method, *cells])
    head = ["method", *head, "first accuracy", "last accuracy (total)"]
    return table(head, lines) if lines else "Not run yet."


def seconds_table(records: dict[str, Row]) -> str:
    lines = []
    for data in LEARNING:
        found = [records.get(f"active-learning_{data}_{method}") for method in METHODS]
        if any(found):
            seconds = [r["cpu_seconds"] for r in found if r is not None]
            cells = ["-" if r is None else f"{r['cpu_seconds']:.0f}" for r in found]
            total = f"{sum(seconds):.0f}" if len(seconds) == len(found) else "-"
            lines.append([f"`{data}`", *cells, total])
    return table(["data set", *METHODS, "all"], lines)


if __name__ == "__main__":
    main()

"""Run active learning and write the tables of docs/proxies.md.

A job is one method on one data set; the record has its rows and the CPU seconds they took. A job
that is in the record is not run again.
"""

import time
from collections.abc import Iterator

import rue.data
from rue.proxies import active_learning
from rue.proxies.active_learning import Acquisition
from studies import DOCS
from studies.pages import spread, table
from studies.rows import Row, where
from studies.study import Options, Pages

PAGE = DOCS / "proxies.md"
METHODS = ("dropout", "ensemble", "evidential", "ddu", "laplace")
SEEDS = range(3)
ACQUISITIONS: tuple[Acquisition, ...] = ("epistemic", "total", "random", "oracle")
LEARNING = ("letter", "random-rbf")


def compute(record: Row, options: Options) -> Iterator[Row]:
    """Yield the record after each job."""
    checksums: dict[str, str] = record.get("checksums", {})
    jobs: list[Row] = record.get("jobs", [])
    for name in LEARNING:
        data = [rue.data.load(name, options.root, seed=seed) for seed in SEEDS]
        checksums |= data[0].checksums
        for method in METHODS:
            if not where(jobs, data=name, method=method):
                start = time.process_time()
                job: Row = {"data": name, "method": method, "seeds": list(SEEDS)}
                rows = learn(data, method)
                job |= {"cpu_seconds": time.process_time() - start, "rows": rows}
                jobs.append(job)
                yield {"checksums": checksums, "jobs": jobs}


def learn(data: list[rue.data.DataSet], method: str) -> list[Row]:
    from rue.methods import laplace

    # A hundred draws for each point of the pool would take longer than all the training.
    config = laplace.Config(n_draws=20) if method == "laplace" else None
    rows = active_learning.run(
        data, method, SEEDS, acquisitions=ACQUISITIONS, config=config, progress=True
    )
    return [row.to_dict() for row in rows]


def pages(record: Row) -> Pages:
    tables = {f"learning {data}": learning_table(record["jobs"], data) for data in LEARNING}
    return {PAGE: tables | {"seconds": seconds_table(record["jobs"])}}


def learning_table(jobs: list[Row], data: str) -> str:
    """Return the NAUC of each method on a data set, and its accuracy before and after."""
    lines = []
    for job in where(jobs, data=data):
        by = {a: where(job["rows"], acquisition=a) for a in ACQUISITIONS}
        cells = [spread([r["nauc"] for r in rows]) for rows in by.values()]
        cells += [spread([r["accuracy"][place] for r in by["total"]]) for place in (0, -1)]
        lines.append([job["method"], *cells])
    head = ["method", *(f"NAUC {name}" for name in ACQUISITIONS)]
    return table([*head, "first accuracy", "last accuracy (total)"], lines)


def seconds_table(jobs: list[Row]) -> str:
    """Return the CPU seconds of each job."""
    lines = []
    for data in LEARNING:
        seconds = {job["method"]: job["cpu_seconds"] for job in where(jobs, data=data)}
        numbers = [seconds[method] for method in METHODS] + [sum(seconds.values())]
        lines.append([f"`{data}`", *(f"{number:.0f}" for number in numbers)])
    return table(["data set", *METHODS, "all"], lines)

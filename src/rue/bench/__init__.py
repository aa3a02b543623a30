"""The benchmark: data sets x methods x seeds, from a laptop to a cluster.

suite.py    what to run: a small TOML file, and those that come with rue (suites/)
cells.py    one data set x method x seed, its seed and its configuration
tasks.py    running those that train together, and what is computed for each
store.py    a folder of finished cells, each written completely or not at all
engine.py   local processes, or a Ray cluster
run.py      run missing and stale cells, and store them
tables.py   the tables of finished cells            resampling.py  their intervals
baselines.py  the rows of a study that come with rue, and a row's place among them

``rue bench run`` trains, so it needs the extra ``rue[torch]``; reading results does not.
"""

from rue.bench.cells import Cell, CellRow, DataFacts
from rue.bench.engine import Engine, Event, Local
from rue.bench.run import Progress, SuiteRun, run_suite
from rue.bench.store import State, Store
from rue.bench.suite import Suite, parse_suite, read_suite, shipped
from rue.bench.tables import (
    Results,
    SummaryRow,
    beside_published,
    read_results,
    summarize,
    table_rows,
)
from rue.bench.tasks import Result, Task
from rue.methods._training.settings import Network, Regime

__all__ = [
    "Cell",
    "CellRow",
    "DataFacts",
    "Engine",
    "Event",
    "Local",
    "Network",
    "Progress",
    "Regime",
    "Result",
    "Results",
    "State",
    "Store",
    "Suite",
    "SuiteRun",
    "SummaryRow",
    "Task",
    "beside_published",
    "parse_suite",
    "read_results",
    "read_suite",
    "run_suite",
    "shipped",
    "summarize",
    "table_rows",
]

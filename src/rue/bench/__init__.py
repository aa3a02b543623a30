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

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

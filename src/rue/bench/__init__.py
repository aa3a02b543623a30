"""The benchmark: data sets x methods x seeds, from a laptop to a cluster.

suite.py    what to run: a small TOML file, and those that come with rue (suites/)
cells.py    one data set x method x seed, its seed and its configuration
tasks.py    running those that train together
criteria.py what is computed of a trained method
store.py    a folder of finished cells, each there whole or not at all
engine.py   local processes             ray_engine.py  a Ray cluster
run.py      do what is missing or stale, and store it
summary.py  finished cells to the paper's tables    resampling.py  how sure they are

``rue bench run`` trains, so it needs the extra ``rue[torch]``; reading results does not.
"""

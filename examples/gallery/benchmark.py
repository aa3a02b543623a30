# %% [markdown]
# # A benchmark in ten lines
#
# Data sets, methods and seeds in, a table out. You can stop a run at any time: what is finished is
# kept, and the same command resumes.

# %%
import subprocess
import sys
from pathlib import Path

from rue.bench import Store, read_results, table_rows
from rue.bench.resampling import compare_methods, draw
from rue.plots import plot_rankings, save

# %% [markdown]
# ## The suite
#
# `random-rbf` is made, so nothing is downloaded, and its true answers are known exactly. This suite
# is small: 1,000 points, three methods, two seeds.

# %%
SUITE = """
name = "gallery"
datasets = ["random-rbf"]
methods = ["ensemble", "evidential", "ddu"]
losses = ["log"]
seeds = 2
training = { epochs = 10 }
dataset.random-rbf = { n_points = 1000 }
"""
Path("suite.toml").write_text(SUITE)

# %% [markdown]
# ## Run it
#
# In a terminal: `rue bench run suite.toml --out out`, then `rue bench table out`.


# %%
def rue_command(*words):
    command = [sys.executable, "-m", "rue", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


rue_command("bench", "run", "suite.toml", "--out", "out")
print(rue_command("bench", "table", "out"))

# %% [markdown]
# ## Which method is best?
#
# Test points are drawn again and again, the same for all methods. In the figure a thick bar
# connects methods that cannot be separated.

# %%
store = Store("out")
rows = table_rows(read_results(store).rows)
ranking = compare_methods(rows, draw(store, rows))("random-rbf", "log", "n_aurec")
print(ranking)
save(plot_rankings([("random-rbf, log loss", ranking)]), "benchmark.png")

"""The sandbox: five Bayes-optimal scorers that disagree, in closed form (section 3, figure 1).

world.py      the truth: function, noise, density, sample
posterior.py  Bayesian linear regression on it
gaussian.py   Definition 1 in closed form, for three losses
scorers.py    the five scorers and what they reject
split.py      approximation against estimation error
summary.py    one run of all of it
"""

from rue.sandbox.scorers import SCORERS
from rue.sandbox.split import RegretSplit, split_regret
from rue.sandbox.summary import LOSSES, Sandbox, run_sandbox
from rue.sandbox.world import REGIONS, World, make_world

__all__ = [
    "LOSSES",
    "REGIONS",
    "SCORERS",
    "RegretSplit",
    "Sandbox",
    "World",
    "make_world",
    "run_sandbox",
    "split_regret",
]

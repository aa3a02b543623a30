"""The sandbox: worlds in which everything is known (section 3, figure 1).

world.py      the true function, the noise, the density and the training sample
posterior.py  Bayesian linear regression on the sample; Definition 1 in closed form for three
              losses; approximation and estimation error
summary.py    the five scorers, the inputs that they reject, and run_sandbox
categories.py a classification world with an exact posterior, and the same two errors there
"""

from rue.sandbox.categories import CategoryWorld, make_category_world, split_category_regret
from rue.sandbox.posterior import Posterior, RegretSplit, SandboxLoss, split_regret
from rue.sandbox.summary import SANDBOX_LOSSES, SCORERS, Sandbox, run_sandbox
from rue.sandbox.world import REGIONS, Features, World, make_world

__all__ = [
    "REGIONS",
    "SANDBOX_LOSSES",
    "SCORERS",
    "CategoryWorld",
    "Features",
    "Posterior",
    "RegretSplit",
    "Sandbox",
    "SandboxLoss",
    "World",
    "make_category_world",
    "make_world",
    "run_sandbox",
    "split_category_regret",
    "split_regret",
]

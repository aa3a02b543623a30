"""The sandbox: worlds in which everything is known (section 3, figure 1).

world.py      the true function, the noise, the density and the training sample
posterior.py  Bayesian linear regression on the sample; Definition 1 in closed form for three
              losses; approximation and estimation error
summary.py    the five scorers, the inputs that they reject, and run_sandbox
categories.py a classification world with an exact posterior, and the same two errors there
"""

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

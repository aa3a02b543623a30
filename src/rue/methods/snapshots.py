"""Snapshots: any method's mean, with a strength learnt afterwards (Ahdritz et al. 2024).

A snapshot is the counts c of several answers about one input. A fitted method's mean m(x) becomes
the Dirichlet s(x) m(x), whose strength s maximises the Dirichlet-multinomial likelihood of the
snapshots of validation inputs, which the method has not learnt from:

    log Gamma(s) - log Gamma(n + s) + sum_k log Gamma(c_k + s m_k) - log Gamma(s m_k) + const.

s is a function of what the method says about x, so that it is calibrated among the inputs of which
the method says the same: log s is a quadratic function of its total and epistemic uncertainty under
log loss, each as the normal quantile of its rank among the validation inputs, with a standard
normal prior on all coefficients but the constant. The derivative by log s is

    s (psi(s) - psi(n + s) + sum_k m_k (psi(c_k + s m_k) - psi(s m_k))).
"""

from rue.methods._training.second_moments import clipped
from rue.methods._training.strengths import PostHocConfig as Config
from rue.methods._training.strengths import post_hoc
from rue.methods.learner import Learner

__all__ = ["Config", "clipped", "fit", "predict"]

learner = Learner("snapshots", Config, *post_hoc())
fit = learner.fit
predict = learner.predict

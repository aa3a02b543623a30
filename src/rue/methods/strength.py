"""Strength: any method's mean, with one Dirichlet strength for all points.

A fitted method's mean m(x) becomes the Dirichlet s m(x). The one number s maximises the
Dirichlet-multinomial likelihood of the answers about validation inputs, which the method has not
learnt from (:mod:`rue.methods.snapshots` has a strength for each point). It is the baseline of
methods that learn from replicates: with it the epistemic component ranks points as the mean alone
would, and its size is that of the annotators' disagreement with the mean.
"""

from rue.methods._training.second_moments import clipped
from rue.methods._training.strengths import PostHocConfig as Config
from rue.methods._training.strengths import post_hoc
from rue.methods.learner import Learner

__all__ = ["Config", "clipped", "fit", "predict"]

learner = Learner("strength", Config, *post_hoc(constant=True))
fit = learner.fit
predict = learner.predict

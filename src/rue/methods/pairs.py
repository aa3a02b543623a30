"""Pairs: a network that predicts two answers at once (Johnson et al. 2024).

Given x and everything that the network cannot see of it, two annotators answer independently. If p
is the distribution of answers, the joint distribution of two answers, as the network sees it, is

    q(y1, y2 | x) = E[p p^T | x],

so its marginal is the mean m = E[p | x], and its covariance Sigma = q - m m^T is that of p: two
answers agree more often than independent ones to the extent that p varies among inputs that look
alike. The Brier regret of predicting m is |p - m|^2, so its expectation is tr Sigma.

The network gives logits of the K (K + 1) / 2 unordered pairs, whose softmax is u; q_kk = u_kk and
q_jk = q_kj = u_jk / 2. Training minimises the cross-entropy of u and the share of each pair among
the m answers c: c_k (c_k - 1) / (m (m - 1)) of equal ones, 2 c_j c_k / (m (m - 1)) of others. That
is an unbiased estimate of p p^T for every m from 2 on; points with fewer answers are left out.

Members are combined by the mean of their joints, and the belief is the Dirichlet with its mean and
trace (:mod:`rue.methods.dirichlet_multinomial`). Nothing makes Sigma a covariance; where its
trace is not above 0 the strength is clipped, and :func:`clipped` tells of which points.
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray
from rue._schema import Positive
from rue.beliefs import Dirichlet
from rue.methods._training.settings import Settings, Training
from rue.methods.dirichlet_multinomial import clipped, match, unordered_pairs
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, networks

__all__ = ["Config", "clipped", "fit", "joint", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """How many members, and how to train."""

    n_members: Positive = 5
    training: Training | None = None


def _recipe(config: Config) -> Recipe:
    from rue.methods._training import objectives

    return Recipe(
        method="pairs",
        objective=objectives.pair_cross_entropy,
        n_members=config.n_members,
        n_outputs=lambda n_classes: n_classes * (n_classes + 1) // 2,
        kind="answers",
        least_answers=2,
        mean=lambda model, x: objectives.pair_marginal(
            model.logits(x).double().softmax(-1).mean(0)
        ),
    )


def _belief(fitted: Fitted, inputs: AnyInputs) -> Dirichlet:
    from torch import from_numpy

    from rue.methods._training.objectives import pair_marginal

    shares = _shares(fitted, inputs)
    first, second = unordered_pairs(shares.shape[1])
    mean = pair_marginal(from_numpy(shares)).numpy()
    return Dirichlet(match(mean, shares[:, first == second].sum(axis=1)))


def joint(fitted: Fitted, inputs: AnyInputs) -> FloatArray:
    """Return the members' mean of q(y1, y2 | x), shape (n_points, n_classes, n_classes)."""
    shares = _shares(fitted, inputs)
    first, second = unordered_pairs(shares.shape[1])
    n_classes = int(first[-1]) + 1
    values = np.zeros((len(shares), n_classes, n_classes))
    values[:, first, second] += shares / 2
    values[:, second, first] += shares / 2
    return values


def _shares(fitted: Fitted, inputs: AnyInputs) -> FloatArray:
    """Return the members' mean shares of pairs (n, n_pairs)."""
    chunks = fitted.model.chunks(inputs)
    return np.concatenate([x.double().softmax(-1).mean(0).cpu().numpy() for x in chunks])


learner = Learner("pairs", Config, networks(_recipe), _belief, clipped)
fit = learner.fit
predict = learner.predict

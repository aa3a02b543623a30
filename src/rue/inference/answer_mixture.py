"""A mixture of Dirichlets for the distributions that answers are drawn from (empirical Bayes).

Each point has its own p*, and p* is a draw from a mixture of Dirichlets that is fitted to the
answers about all points. Given a point's own answers, p* then has a posterior, from which the
answers of further annotators can be drawn. A class that nobody has chosen yet keeps a small
probability: under log loss such classes decide how fast the bracket narrows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray, IntArray

FLEXIBLE = (1.5, 5.0, 30.0, 500.0)
"""Where the components of each majority start, from points that differ to points that agree."""
SMOOTH = (5.0,)
"""One component for each majority, which cannot follow the noise of few answers."""
MOST_MAJORITIES = 16
MOST_POINTS = 4_000
N_STEPS = 300
_LEAST, _LARGEST = 1e-6, 1e6


@dataclass(frozen=True, eq=False)
class AnswerMixture:
    """A mixture of Dirichlets: weights (n_components,) and alpha (n_components, n_classes)."""

    weights: FloatArray
    alpha: FloatArray

    def posterior(self, counts: FloatArray) -> "AnswerPosterior":
        """Return the posterior of each point's distribution given the point's answers."""
        from scipy.special import gammaln

        logs = np.empty((len(counts), len(self.alpha)))
        for c, alpha in enumerate(self.alpha):
            rises = (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)
            whole = gammaln(counts.sum(axis=1) + alpha.sum()) - gammaln(alpha.sum())
            logs[:, c] = np.log(self.weights[c]) + rises - whole
        return AnswerPosterior(counts, _shares(logs), self.alpha)


@dataclass(frozen=True, eq=False)
class AnswerPosterior:
    """What each point's answers say about p*: shares of components (n_points, n_components)."""

    counts: FloatArray
    shares: FloatArray
    alpha: FloatArray

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw a distribution for each point, shape (n_points, n_classes)."""
        chosen = (self.shares.cumsum(axis=1) < rng.random((len(self.counts), 1))).sum(axis=1)
        drawn = rng.standard_gamma(self.counts + self.alpha[chosen.clip(max=len(self.alpha) - 1)])
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def fit_answer_mixture(
    counts: FloatArray, rng: np.random.Generator, concentrations: Sequence[float] = FLEXIBLE
) -> AnswerMixture:
    """Fit a mixture to answers by EM, with a component per majority and concentration."""
    if len(counts) > MOST_POINTS:
        counts = counts[rng.choice(len(counts), MOST_POINTS, replace=False)]
    rows, times = np.unique(counts, axis=0, return_counts=True)
    alpha = _start(rows, times, concentrations)
    n_components, n_classes = alpha.shape
    weights = np.full(n_components, 1 / n_components)
    single, whole = np.arange(rows.max()), np.arange(rows.sum(axis=1).max())
    # The j-th answer for a class has the factor alpha + j, so sums over answers are products
    # of matrices: 1 where a point has more than j answers for the class.
    has = (rows[:, :, None] > single).reshape(len(rows), -1).astype(np.float64)
    has_any = (rows.sum(axis=1)[:, None] > whole).astype(np.float64)
    before = -np.inf
    for _ in range(N_STEPS):
        own = np.log(alpha[:, :, None] + single).reshape(n_components, -1)
        total = np.log(alpha.sum(axis=1)[:, None] + whole)
        likelihood = np.log(weights) + has @ own.T - has_any @ total.T
        share = _shares(likelihood) * times[:, None]
        weights = np.maximum(share.sum(axis=0) / times.sum(), 1e-12)
        reached = (share.T @ has).reshape(n_components, n_classes, -1)
        reached_any = share.T @ has_any
        for _ in range(5):
            up = (reached / (alpha[:, :, None] + single)).sum(axis=2)
            down = (reached_any / (alpha.sum(axis=1)[:, None] + whole)).sum(axis=1)
            alpha = alpha * up / np.maximum(down, 1e-300)[:, None]
            alpha = alpha.clip(_LEAST, _LARGEST)
        now = float(times @ np.logaddexp.reduce(likelihood, axis=1))
        if now - before < 1e-5 * times.sum():
            break
        before = now
    return AnswerMixture(weights / weights.sum(), alpha)


def _start(rows: FloatArray, times: IntArray, concentrations: Sequence[float]) -> FloatArray:
    """Return the first parameters: each frequent majority's mean, with each concentration."""
    n_classes = rows.shape[1]
    frequencies = (rows + 0.1) / (rows + 0.1).sum(axis=1, keepdims=True)
    majority = rows.argmax(axis=1)
    size = np.bincount(majority, times, minlength=n_classes)
    frequent = np.argsort(-size, kind="stable")[:MOST_MAJORITIES]
    means = []
    for k in frequent[size[frequent] > 0]:
        here = majority == k
        means.append((frequencies[here] * times[here, None]).sum(axis=0) / times[here].sum())
    return np.concatenate([np.array(means) * c for c in concentrations])


def _shares(log_likelihood: FloatArray) -> FloatArray:
    """Return the probability of each component given a point's answers."""
    share = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))

"""The leave-one-out Bayes risk under log loss, written from docs/brackets.md alone."""

import numpy as np
import pytest

from rue import Annotations, Log
from rue.truth.realized import estimate_bayes_risk


def from_the_sentence(counts):
    n, n_classes = counts.shape
    m, shares = counts.sum(axis=1), counts / counts.sum(axis=1, keepdims=True)
    top = counts == counts.max(axis=1, keepdims=True)
    weight = top / top.sum(axis=1, keepdims=True)  # of a point for each class l

    def pooled(i, label):
        others = np.arange(n) != i
        total = weight[others, label] @ shares[others] + 1 / n_classes
        return total / (weight[others, label].sum() + 1)

    terms = []  # for each point: the share, count and q of each answer, and how many others
    for i in range(n):
        answers = []
        for y in np.flatnonzero(counts[i]):
            rest = counts[i] - np.eye(n_classes)[y]
            labels = np.flatnonzero(rest == rest.max())
            q = np.mean([pooled(i, label)[y] for label in labels])
            answers.append((shares[i, y], rest[y], q, m[i] - 1))
        terms.append(answers)

    def loss(i, s):
        return -sum(w * np.log((c + s * q) / (r + s)) for w, c, q, r in terms[i])

    def best(i, candidates):
        sums = [sum(loss(j, s) for j in range(n) if j != i) for s in candidates]
        place = 0
        for k in range(1, len(sums)):
            if sums[k] < sums[place] - 1e-12 * abs(sums[k]):
                place = k
        return candidates[place]

    found = []
    for i in range(n):
        s = n_classes / 2
        if n > 1:
            octave = best(i, 2.0 ** np.arange(-10, 13))
            s = best(i, octave * 2.0 ** (np.arange(-8, 9) / 8))
        p = shares[i][shares[i] > 0]
        found.append(max(loss(i, s), -(p * np.log(p)).sum()))
    return np.array(found)


@pytest.mark.parametrize(("n", "k", "m"), [(1, 3, 4), (2, 2, 3), (14, 3, 5), (14, 4, 8)])
def test_a_reader_can_reproduce_it(n, k, m, rng):
    counts = rng.multinomial(m, rng.dirichlet(np.ones(k)), n).astype(float)
    ours = estimate_bayes_risk(Annotations(counts), Log(), "leave_one_out")
    assert ours == pytest.approx(from_the_sentence(counts), abs=1e-9)

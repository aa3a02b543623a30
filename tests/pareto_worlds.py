"""Star and hat components of several kinds, for the tests of surfaces and the Pareto-gap."""

import numpy as np
from hypothesis import strategies as st

from rue import Annotations, Components, Draws, decompose, realize

eighths = st.integers(0, 6).map(lambda i: i / 8)
few = st.integers(0, 4)
tied = st.lists(st.tuples(eighths, eighths, few, few), min_size=1, max_size=12)


def components(aleatoric, epistemic):
    aleatoric, epistemic = np.asarray(aleatoric, float), np.asarray(epistemic, float)
    return Components(aleatoric + epistemic, aleatoric, epistemic)


def pair(rows):
    """Star and hat from rows of (aleatoric, epistemic, aleatoric_hat, epistemic_hat)."""
    columns = np.array(rows, float).T
    return components(*columns[:2]), components(*columns[2:])


def continuous(n, seed=0):
    """Estimates that know something of skewed realised components, all values distinct."""
    rng = np.random.default_rng(seed)
    aleatoric, epistemic = rng.random(n), rng.gamma(0.5, 0.5, n)
    hat = components(aleatoric + rng.random(n), epistemic + 0.4 * rng.gamma(1, 1, n))
    return components(aleatoric, epistemic), hat


def gridded(n, seed=0):
    """Ties in each component, and blocks of identical points."""
    star, hat = continuous(n, seed)
    return (
        components(np.round(star.aleatoric, 1), np.round(star.epistemic * 4) / 4),
        components(np.round(hat.aleatoric * 5) / 3, np.round(hat.epistemic * 7)),
    )


def crowded(n, seed=0):
    """0/1 loss on few annotators: most regrets are 0, and rounding pulls equal scores apart."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(4, 0.4), n)
    draws = np.stack([rng.dirichlet(row * 9 + 0.1) for row in np.repeat(p, 3, axis=0)])
    counts = rng.multinomial(7, p)
    belief = Draws(draws.reshape(n, 3, 4))
    return realize(Annotations(counts), belief, "zero_one"), decompose(belief, "zero_one")


def skewed(n, seed=0):
    """Most points lie on two lines, and are the closer to each other the nearer to 0."""
    rng = np.random.default_rng(seed)
    aleatoric, epistemic = rng.gamma(0.5, 1, (2, n))
    line = rng.choice(3, n)
    return (
        components(rng.random(n), rng.gamma(0.5, 0.5, n)),
        components(aleatoric, np.choose(line, [0.0, 0.3 * aleatoric, epistemic])),
    )


KINDS = {"continuous": continuous, "gridded": gridded, "crowded": crowded}

"""Hamiltonian Monte Carlo, many chains at once, and what tells whether they have mixed."""

import numpy as np


def sample(density, start, factor, rng, *, n_draws, step=0.4, n_steps=5):
    """Draw from a density on R^p.

    Parameters
    ----------
    density
        Gives log densities (n_chains,) and their gradients (n_chains, p) of points (n_chains, p).
    start
        Where the chains begin.
    factor
        L with L L' about the covariance: the walk is in L^-1 x, where all widths are about 1.

    Returns
    -------
    draws, acceptance
        Shapes (n_chains, n_draws, p) and (), the share of proposals that were taken.
    """
    x, (height, slope) = start, density(start)
    draws, taken = np.empty((n_draws, *start.shape)), 0.0
    for draw in range(n_draws):
        momentum = rng.normal(size=x.shape)
        before = height - (momentum**2).sum(axis=1) / 2
        new, new_height, new_slope = x, height, slope
        length = step * rng.uniform(0.8, 1.2)  # a fixed one can return to where it came from
        for _ in range(n_steps):
            momentum = momentum + length / 2 * new_slope @ factor
            new = new + length * momentum @ factor.T
            new_height, new_slope = density(new)
            momentum = momentum + length / 2 * new_slope @ factor
        after = new_height - (momentum**2).sum(axis=1) / 2
        accept = np.log(rng.random(len(x))) < after - before
        x = np.where(accept[:, None], new, x)
        height = np.where(accept, new_height, height)
        slope = np.where(accept[:, None], new_slope, slope)
        draws[draw] = x
        taken += accept.mean() / n_draws
    return draws.transpose(1, 0, 2), taken


def r_hat(draws):
    """Split R-hat of each coordinate (Gelman et al. 2013, section 11.4): 1 when chains agree."""
    half = draws.shape[1] // 2
    parts = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = half * parts.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt(((half - 1) / half * within + between / half) / within)


def effective(draws):
    """How many independent draws each coordinate is worth, from its autocorrelation.

    Geyer's rule: sums of neighbouring pairs are added until one is not positive.
    """
    n_chains, n_draws, p = draws.shape
    centred = draws - draws.mean(axis=(0, 1))
    spectrum = np.abs(np.fft.rfft(centred, n=2 * n_draws, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :n_draws].mean(axis=0) / n_draws
    correlation = covariance / covariance[0]
    sizes = np.empty(p)
    for j in range(p):
        pairs = correlation[: n_draws // 2 * 2, j].reshape(-1, 2).sum(axis=1)
        end = np.argmax(pairs <= 0) if (pairs <= 0).any() else len(pairs)
        sizes[j] = n_chains * n_draws / (2 * pairs[:end].sum() - 1)
    return sizes

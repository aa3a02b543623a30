"""Simulated annotators, who answer independently from p*."""

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import as_array, require_whole
from rue.errors import InputError, ShapeError
from rue.truth.annotations import Annotations

__all__ = ["simulate_annotators"]


def simulate_annotators(
    annotations: Annotations, n_annotators: ArrayLike, *, seed: int = 0
) -> Annotations:
    """Return annotations with independent random answers from each point's p*.

    Parameters
    ----------
    annotations : Annotations
        The known or estimated p*.
    n_annotators : int or array_like of shape (n_points,)
        The number of answers per point: one number, or one per point, each at least 1.
    seed : int
        Seed of the answers.

    Returns
    -------
    Annotations
        Counts of shape (n_points, n_classes).

    Examples
    --------
    >>> from rue import Annotations
    >>> from rue.data import simulate_annotators
    >>> known = Annotations.from_probs([[0.9, 0.1], [0.5, 0.5]])
    >>> simulate_annotators(known, [3, 100]).n_annotators
    array([  3., 100.])
    """
    n = as_array("n_annotators", n_annotators)
    if n.ndim > 1 or (n.ndim == 1 and len(n) != annotations.n_points):
        raise ShapeError(
            f"n_annotators must be one number or {annotations.n_points}, got shape {n.shape}"
        )
    wrong = ~((n >= 1) & (n < 2.0**53) & (n == np.rint(n)))
    if wrong.any():
        raise InputError(f"n_annotators must be whole numbers from 1, got {n[wrong].flat[0]}")
    require_whole("seed", seed)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n.astype(np.int64), annotations.probs)
    return Annotations(counts, annotations.values)

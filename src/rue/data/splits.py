"""Deterministic splits: five folds hashed from names, rotated by the seed."""

import hashlib
from collections.abc import Iterable
from typing import TypedDict

import numpy as np

from rue._arrays import IntArray, require_whole

__all__ = ["N_FOLDS", "Splits", "hashed_folds", "rotate"]

N_FOLDS = 5


class Splits(TypedDict):
    """Indices of the points that train, validate and test."""

    train: IntArray
    validation: IntArray
    test: IntArray


def hashed_folds(name: str, groups: Iterable[str], *, seed: int = 0) -> IntArray:
    """Return each point the fold, 0..4, of its group.

    The fold is a hash of the data set's name and the group's, so it depends neither on the
    order of the points nor on which others there are, and points of one group never part.
    Seeds 0..4 rotate the same folds (:func:`rotate`); every further five hash anew.
    """
    deal = require_whole("seed", seed) // N_FOLDS
    fold_of: dict[str, int] = {}
    folds = []
    for group in groups:
        if group not in fold_of:
            digest = hashlib.blake2b(f"{name}\n{deal}\n{group}".encode(), digest_size=8).digest()
            fold_of[group] = int.from_bytes(digest, "big") % N_FOLDS
        folds.append(fold_of[group])
    return np.array(folds, dtype=np.int64)


def rotate(folds: IntArray, seed: int) -> Splits:
    """Split by DCIC's rule: fold s validates, fold s + 1 tests, the other three train (mod 5)."""
    validation = require_whole("seed", seed) % N_FOLDS
    test = (validation + 1) % N_FOLDS
    return Splits(
        train=np.flatnonzero((folds != validation) & (folds != test)),
        validation=np.flatnonzero(folds == validation),
        test=np.flatnonzero(folds == test),
    )

"""Deterministic splits: five folds hashed from names, rotated by the seed."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from rue._arrays import IntArray, require_whole
from rue.errors import InputError

if TYPE_CHECKING:
    from rue.data.dataset import DataSet

N_FOLDS = 5


class Splits(TypedDict):
    """Indices of the points that train, validate and test."""

    train: IntArray
    validation: IntArray
    test: IntArray


def hashed_folds(name: str, groups: Iterable[str], *, seed: int = 0) -> IntArray:
    """Return the fold, 0..4, of each point; points of one group have the same."""
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


def split_as_published(folds: IntArray, seed: int) -> Splits:
    """Split by the rule of the paper's code: fold s tests, a tenth of the rest validates."""
    test = require_whole("seed", seed) % N_FOLDS
    rest = np.flatnonzero(folds != test)
    chosen = np.random.default_rng(seed).permutation(len(rest))
    n_validation = len(rest) // 10
    return Splits(
        train=np.sort(rest[chosen[n_validation:]]),
        validation=np.sort(rest[chosen[:n_validation]]),
        test=np.flatnonzero(folds == test),
    )


def limit_training(data: "DataSet", n_points: int, *, seed: int = 0) -> "DataSet":
    """Return the data set with at most ``n_points`` training points, and a note that says so."""
    require_whole("n_points", n_points, least=1)
    require_whole("seed", seed)
    n_all = len(data.train)
    if n_all <= n_points:
        return data
    # Stored rows hash official training points by their place alone, without "train-".
    places = (str(data.ids[row]).removeprefix("train-") for row in data.train)
    names = (f"{data.name}\n{seed}\n{place}".encode() for place in places)
    hashes = [hashlib.blake2b(name, digest_size=8).digest() for name in names]
    train = np.sort(data.train[sorted(range(n_all), key=hashes.__getitem__)[:n_points]])
    note = f"{n_points:,} of {n_all:,} training points, drawn by seed {seed}"
    return replace(data, train=train, notes=(*data.notes, note))


def add_validation(data: "DataSet", n_points: int, *, seed: int = 0) -> "DataSet":
    """Return the data set with ``n_points`` validation points or more, from its training."""
    missing = require_whole("n_points", n_points, least=1) - len(data.validation)
    n_all = len(data.train)
    if missing <= 0:
        return data
    if missing >= n_all:
        raise InputError(f"{data.name} has {n_all} training points, {missing} cannot validate")
    taken = _lowest_hashes(data, missing, f"validation {require_whole('seed', seed)}")
    note = f"{missing:,} of {n_all:,} training points validate, drawn by seed {seed}"
    return replace(
        data,
        train=data.train[~np.isin(data.train, taken)],
        validation=np.sort(np.concatenate([data.validation, taken])),
        notes=(*data.notes, note),
    )


def _lowest_hashes(data: "DataSet", n_points: int, salt: str) -> IntArray:
    names = (f"{data.name}\n{salt}\n{data.ids[row]}".encode() for row in data.train)
    hashes = [hashlib.blake2b(name, digest_size=8).digest() for name in names]
    order = sorted(range(len(hashes)), key=hashes.__getitem__)
    return np.sort(data.train[order[:n_points]])

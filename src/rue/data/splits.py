"""Deterministic splits and random numbers, hashed from names.

Five folds are rotated by the seed. Random numbers come from numpy's streams, hashed from names such
as (method, seed, member, epoch): they are the same on every device, nothing moves when a seed is
added, and training that resumes at an epoch needs no generator's state.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
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


def stream(*names: object) -> np.random.Generator:
    """Return the random generator that belongs to these names."""
    return np.random.Generator(np.random.SFC64(hashed(*names)))


def hashed(*names: object) -> int:
    """Return a whole number below 2^63 that belongs to these names."""
    return _hash(*names) >> 1


def _hash(*names: object) -> int:
    content = "\n".join(map(str, names)).encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")


def hashed_folds(name: str, groups: Iterable[str], *, seed: int = 0) -> IntArray:
    """Return the fold, 0..4, of each point; points of one group have the same."""
    deal = require_whole("seed", seed) // N_FOLDS
    folds = [_hash(name, deal, group) % N_FOLDS for group in groups]
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


def named_splits(parts: Sequence[str]) -> Splits:
    """Return the splits by the name of each point's; another name is none of them."""
    part = np.array(parts, np.str_)
    train, validation, test = (np.flatnonzero(part == name) for name in Splits.__annotations__)
    return Splits(train=train, validation=validation, test=test)


def shared_groups(groups: Sequence[str], parts: Sequence[str]) -> int:
    """Count the groups that have points in more than one split; "" is none."""
    pairs = {(group, part) for group, part in zip(groups, parts, strict=True) if part}
    return sum(n > 1 for n in Counter(group for group, _ in pairs).values())


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
    train = _lowest_hashes(data, n_points, seed, prefix="train-")
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


def hold_out(data: "DataSet") -> "DataSet":
    """Return the data set with validation points: its own, or a tenth of the training points."""
    if len(data.validation):
        return data
    n = len(data.train)
    if n < 2:
        raise InputError(f"{data.name} needs at least 2 training points to hold one out, has {n}")
    taken = _lowest_hashes(data, max(1, round(n / 10)), "validation")
    return replace(data, train=data.train[~np.isin(data.train, taken)], validation=taken)


def _lowest_hashes(data: "DataSet", n_points: int, salt: object, prefix: str = "") -> IntArray:
    """Return the training points whose ids, without a prefix, have the lowest hashes."""
    ids = (str(data.ids[row]).removeprefix(prefix) for row in data.train)
    order = np.argsort([hashed(data.name, salt, name) for name in ids])
    return np.sort(data.train[order[:n_points]])

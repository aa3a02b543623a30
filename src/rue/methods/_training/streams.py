"""Named streams of random numbers, which do not depend on the other networks.

Data orders, dropout masks and augmentation come from numpy's streams, hashed from (method, seed,
member, epoch). So they are the same on every device, nothing moves when a seed is added, and a
training that is taken up at an epoch needs no generator's state.
"""

import hashlib

import numpy as np


def stream(*names: object) -> np.random.Generator:
    """Return the generator that belongs to these names."""
    return np.random.Generator(np.random.SFC64(hashed(*names)))


def hashed(*names: object) -> int:
    """Return a whole number below 2^63 that belongs to these names."""
    text = "\n".join(map(str, names)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1

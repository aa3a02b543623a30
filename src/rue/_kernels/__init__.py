"""All code compiled by numba, one file per concept.

Kernels are imported inside the functions that call them, so that ``import rue`` stays fast.
"""

from functools import partial
from typing import Any

from numba import config, get_num_threads, njit, set_num_threads

# The numpy error model does not check divisors for zero, which lets loops vectorise.
kernel: Any = partial(njit, cache=True, error_model="numpy")
parallel_kernel: Any = partial(kernel, parallel=True)

# Work is divided into a fixed number of blocks: buffers are allocated once per block, and results
# do not depend on the number of cores.
N_BLOCKS = 16


@kernel
def block(b, n):
    """Return the first and last index (exclusive) of block ``b`` of ``range(n)``."""
    return b * n // N_BLOCKS, (b + 1) * n // N_BLOCKS


def use_threads(n_threads: int) -> None:
    """Limit kernels to this number of threads, or to the number available if that is smaller."""
    set_num_threads(min(n_threads, config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]


def launch_threads() -> int:
    """Start numba's threads, if they are not running yet, and return their number.

    The first start also sets the number of threads that OpenMP uses in this process.
    """
    return int(get_num_threads())

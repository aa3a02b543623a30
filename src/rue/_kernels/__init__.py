"""All of numba, one file a concept; imported only by the function that needs it."""

from functools import partial
from typing import Any

from numba import njit

# The numpy error model divides without asking for zero first, which lets loops vectorise.
kernel: Any = partial(njit, cache=True, error_model="numpy")
parallel_kernel: Any = partial(kernel, parallel=True)

# Work is cut into a fixed number of blocks, so that buffers are made once a block and results
# do not depend on how many cores there are.
N_BLOCKS = 16


@kernel
def block(b, n):
    """First and last index (exclusive) of block ``b`` of ``range(n)``."""
    return b * n // N_BLOCKS, (b + 1) * n // N_BLOCKS

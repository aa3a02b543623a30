"""All code compiled by numba, one file per concept; :mod:`rue._kernels.threads` runs it.

Kernels are imported inside the functions that call them, so that ``import rue`` stays fast.
"""

from functools import partial
from typing import Any

from numba import njit

# The numpy error model does not check divisors for zero, which lets loops vectorise. Kernels
# release the interpreter's lock, so that plain threads can run them.
kernel: Any = partial(njit, cache=True, error_model="numpy", nogil=True)

"""How many threads a process uses, whichever library asks."""

import threadpoolctl
import torch

from rue._kernels.threads import use

__all__ = ["use_threads"]


def use_threads(n_threads: int) -> None:
    """Let torch, numpy's BLAS and the kernels use as many threads; sums may depend on it."""
    torch.set_num_threads(n_threads)
    threadpoolctl.threadpool_limits(n_threads)
    use(n_threads)

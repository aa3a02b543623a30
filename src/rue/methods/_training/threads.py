"""The number of threads of all libraries of a process, and its GPUs."""

import os

import threadpoolctl
import torch

from rue._kernels.threads import use_threads as use_kernel_threads

__all__ = ["gpu_names", "use_threads"]


def use_threads(n_threads: int) -> None:
    """Set the number of threads of torch, BLAS and the kernels; sums may depend on it."""
    use_kernel_threads(n_threads)
    torch.set_num_threads(n_threads)
    threadpoolctl.threadpool_limits(n_threads)


def gpu_names() -> tuple[str, ...]:
    """Return the GPUs that this process may use, as CUDA_VISIBLE_DEVICES has them."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:
        return tuple(filter(None, given.split(",")))
    return tuple(str(index) for index in range(torch.cuda.device_count()))

"""Where networks run: the device and precision of a training, threads and GPUs of a process."""

import os
from typing import Literal

import threadpoolctl
import torch

from rue._kernels.threads import use_threads as use_kernel_threads
from rue.errors import InputError
from rue.methods._training.settings import Device, Training

__all__ = ["find_device", "find_precision", "gpu_names", "use_threads"]


def find_precision(training: Training, device: torch.device) -> Literal["float32", "bfloat16"]:
    """Return the precision of the hidden layers in training on a device."""
    if training.precision != "auto":
        return training.precision
    fast = device.type == "cuda" or (
        device.type == "cpu"
        and training.network == "resnet9"
        and torch.cpu._is_avx512_bf16_supported()
    )
    return "bfloat16" if fast and not training.is_probe else "float32"


def find_device(wanted: Device) -> torch.device:
    """Return the device; ``auto`` is the best available one."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return torch.device(next(name for name in there if there[name]))
    if not there[wanted]:
        raise InputError(f"device {wanted} is not there: use auto or cpu")
    return torch.device(wanted)


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

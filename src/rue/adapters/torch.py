"""torch and Hugging Face: any list of modules, or one module with dropout."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from rue._arrays import require_whole
from rue.beliefs import Draws
from rue.errors import InputError, ShapeError, missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("rue.adapters.torch needs an extra", "torch") from None

from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd
from torch.utils.data import (
    Dataset,
    IterableDataset,
    RandomSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from tqdm import tqdm

__all__ = ["draws"]

_TARGETS = ("label", "labels")
_SHUFFLING = (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)


def draws(
    model: nn.Module | Sequence[nn.Module],
    loader: Iterable[Any],
    n_draws: int = 20,
    *,
    logits: bool = True,
    seed: int = 0,
    progress: bool = True,
) -> Draws:
    """Return the outputs of several modules, or of several passes of one with dropout, as draws.

    Modules run in eval mode, except for the dropout of a single module. Afterwards, each
    submodule is in its previous mode again. Modules stay on their devices; batches are moved.

    Parameters
    ----------
    model : torch.nn.Module or sequence of torch.nn.Module
        Several modules, one draw each; or one module with dropout modules. Calls of
        ``torch.nn.functional.dropout`` are not active.
    loader : iterable
        Batches in the order of the annotations: a tensor, a tuple or list whose first element
        holds the inputs, or a dictionary of tensors, which are passed by name, as Hugging Face
        models take them, except ``label`` and ``labels``. All modules process a batch before the
        next one is loaded.
    n_draws : int
        The number of passes of a single module; ignored for several modules.
    logits : bool
        Whether the outputs, of shape (batch, n_classes), are logits; False for probabilities.
        An output may be a tensor, an object with an attribute ``logits``, or a dictionary with
        ``logits`` (with ``probs`` if ``logits`` is False).
    seed : int
        Seed of the dropout masks; the global random state of torch does not change.
    progress : bool
        Whether to show a progress bar if it takes more than two seconds.

    Returns
    -------
    Draws
        Probabilities of shape (n_points, n_draws, n_classes).

    Raises
    ------
    InputError
        If a single module has no dropout, the loader shuffles, or outputs are no logits.
    ShapeError
        If outputs have the wrong shape.

    Examples
    --------
    >>> import torch
    >>> model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(4, 3))
    >>> draws(model, torch.ones(10, 4).split(5), n_draws=20).probs.shape
    (10, 20, 3)
    """
    single = isinstance(model, nn.Module) and not isinstance(model, nn.ModuleList)
    modules = _modules([model] if single else model)
    n_draws, seed = require_whole("n_draws", n_draws, least=1), require_whole("seed", seed)
    dropouts = [part for part in modules[0].modules() if _drops(part)] if single else []
    if single and not dropouts:
        raise InputError(
            "a single model must have dropout above 0, otherwise all draws are equal; "
            f"{type(model).__name__} has none"
        )
    _require_ordered_batches(loader)
    devices = [_device(module) for module in modules]
    passes = [0] * n_draws if single else range(len(modules))
    parts: list[Any] = []
    total = len(loader) if isinstance(loader, Sized) else None
    with _evaluating(modules, dropouts), _seeded(seed, devices), torch.no_grad():
        hidden = None if progress else True
        for batch in tqdm(loader, "batches", total, delay=2, disable=hidden, leave=False):
            inputs = _inputs(batch)
            n_points = len(next(iter(inputs.values())))
            here = {
                device: {name: part.to(device) for name, part in inputs.items()}
                for device in set(devices)
            }
            outputs = [_probs(modules[i], here[devices[i]], n_points, logits) for i in passes]
            if len({output.shape[1] for output in outputs}) > 1:
                shapes = ", ".join(str(tuple(output.shape)) for output in outputs)
                raise ShapeError(f"all models must have the same number of classes, got {shapes}")
            parts.append(torch.stack([output.cpu() for output in outputs], dim=1).numpy())
    if not parts:
        raise InputError("loader must yield at least one batch, got none")
    return Draws(np.concatenate(parts))


def _modules(models: Any) -> list[nn.Module]:
    if not isinstance(models, Iterable):
        raise InputError(f"model must be a module or a list of them, got {type(models).__name__}")
    modules = list(models)
    for index, module in enumerate(modules):
        if not isinstance(module, nn.Module):
            raise InputError(f"model {index} must be a torch module, got {type(module).__name__}")
    if not modules:
        raise InputError("model must be a module or a list of them, got an empty list")
    return modules


def _require_ordered_batches(loader: Any) -> None:
    single = isinstance(loader, Dataset) and not isinstance(loader, IterableDataset)
    if single or isinstance(loader, Tensor) or not isinstance(loader, Iterable):
        raise InputError(
            "loader must yield batches, like a DataLoader or a list of tensors, "
            f"got {type(loader).__name__}"
        )
    within = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    for sampler in (getattr(loader, "sampler", None), within):
        if isinstance(sampler, _SHUFFLING) or getattr(sampler, "shuffle", False):
            raise InputError(
                "loader must keep the order of the points (shuffle=False), "
                f"got one with a {type(sampler).__name__}"
            )


def _drops(part: nn.Module) -> bool:
    """Return whether a submodule drops units at random in training mode."""
    if isinstance(part, _DropoutNd):
        return part.p > 0
    # Their dropout is no submodule, and the only thing that training mode changes in them.
    return isinstance(part, nn.MultiheadAttention | nn.RNNBase) and part.dropout > 0


def _device(module: nn.Module) -> torch.device:
    tensors = itertools.chain(module.parameters(), module.buffers())
    return next((tensor.device for tensor in tensors), torch.device("cpu"))


@contextlib.contextmanager
def _evaluating(modules: Sequence[nn.Module], dropouts: Sequence[nn.Module]) -> Iterator[None]:
    """Put all modules except the dropouts into eval mode, and restore their modes."""
    before = [(part, part.training) for module in modules for part in module.modules()]
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        for module in modules:
            module.eval()
        for part in dropouts:
            part.training = True
        if dropouts:  # a transformer layer in eval mode would skip its dropout
            torch.backends.mha.set_fastpath_enabled(False)
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for part, training in before:
            part.training = training


@contextlib.contextmanager
def _seeded(seed: int, devices: Sequence[torch.device]) -> Iterator[None]:
    """Seed the random generators, and restore their state."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[]))
        for device in set(devices) - {torch.device("cpu")}:
            fork = torch.random.fork_rng(devices=[device.index or 0], device_type=device.type)
            stack.enter_context(fork)
        torch.manual_seed(seed)
        yield


def _inputs(batch: Any) -> dict[str, Tensor]:
    """Return the tensors of a batch by name; the one of a batch without names is called ""."""
    inputs = batch[0] if isinstance(batch, list | tuple) and batch else batch
    if isinstance(inputs, Tensor):
        return {"": inputs}
    if isinstance(inputs, Mapping):
        named = {
            str(name): part
            for name, part in inputs.items()
            if isinstance(part, Tensor) and name not in _TARGETS
        }
        lengths = {len(part) if part.ndim else 0 for part in named.values()}
        if len(lengths) == 1 and lengths != {0}:
            return named
        raise ShapeError(
            "a batch that is a dictionary must hold tensors of one length, got "
            + (", ".join(f"{n} {tuple(part.shape)}" for n, part in named.items()) or "none")
        )
    raise InputError(
        "a batch must be a tensor, a dictionary of tensors, or a tuple or list whose first element "
        f"is one, got {type(inputs).__name__}"
    )


def _probs(module: nn.Module, inputs: dict[str, Tensor], n_points: int, logits: bool) -> Tensor:
    """Return the probabilities that a module predicts for a batch."""
    output = module(inputs[""]) if "" in inputs else module(**inputs)
    key = "logits" if logits else "probs"
    if isinstance(output, Mapping) and key in output:
        output = output[key]
    elif not isinstance(output, Tensor) and logits and hasattr(output, "logits"):
        output = output.logits
    if not isinstance(output, Tensor):
        raise InputError(
            f"a model must return a tensor, or {key} by name, got {type(output).__name__}"
        )
    if output.ndim != 2 or len(output) != n_points:
        raise ShapeError(
            f"a model must return shape ({n_points}, n_classes) for {n_points} inputs, "
            f"got {tuple(output.shape)}"
        )
    wide = output if output.dtype == torch.float64 else output.float()
    if logits and len(wide) and bool((wide >= 0).all() & ((wide.sum(-1) - 1).abs() < 1e-3).all()):
        raise InputError("the outputs must be logits, got probabilities: pass logits=False")
    return torch.softmax(wide, -1) if logits else wide

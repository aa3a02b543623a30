"""All code compiled by numba, one file per concept; :mod:`rue._kernels.threads` runs it.

Kernels are imported inside the functions that call them, so that ``import rue`` stays fast, and
their machine code is stored (:mod:`rue._kernels.machine_code`), so that numba is imported only to
compile.
"""

import os
import sys
from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any

import numpy as np

from rue._kernels import machine_code

__all__ = ["Kernel", "kernel"]

# Held while machine code is loaded. A fork waits until no other thread loads or compiles: the child
# would wait for that thread forever.
_lock = RLock()
_held: list[Any] = []


def _before_fork() -> None:
    compiling = sys.modules.get("numba.core.compiler_lock")
    for lock in [_lock, *([compiling.global_compiler_lock] if compiling else [])]:
        lock.acquire()
        _held.append(lock)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )

_SCALARS: dict[type, str] = {
    bool: "b",
    int: "i",
    float: "f",
    np.bool_: "b",
    np.int64: "i",
    np.float64: "f",
    type(None): "n",
}


def kernel(body: Any = None, **options: Any) -> Any:
    """Make a function a kernel, bare or with further options for numba.

    With ``vectors``, LLVM puts numbers that stand side by side into vectors, as numba otherwise
    does not let it.
    """
    if body is None:
        return lambda body: Kernel(body, options)
    return Kernel(body, options)


class Kernel:
    """A function that runs as machine code, for each signature from disk or compiled once."""

    def __init__(self, body: Any, options: dict[str, Any]) -> None:
        update_wrapper(self, body)
        self.body = body
        self._defaults = body.__defaults__ or ()
        self._n_arguments = body.__code__.co_argcount
        self._vectors = options.pop("vectors", False)
        self._options = options
        self._dispatcher: Any = None
        self._loaded: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        """Run the machine code of the arguments' types."""
        if self._defaults and (n_missing := self._n_arguments - len(args)) > 0:
            args += self._defaults[-n_missing:]
        try:
            key = tuple(map(_type, args))
        except TypeError:
            return self.dispatcher(*args)
        function = self._loaded.get(key)
        if function is None:
            with _lock:
                function = self._loaded.get(key) or self._load(key, args)
        return function(*args)

    @property
    def dispatcher(self) -> Any:
        """The function that numba compiles; reading it imports numba."""
        if self._dispatcher is None:
            compiler = machine_code.compiler(Kernel)
            # The numpy error model does not check divisors for zero, which lets loops vectorise.
            # Kernels release the interpreter's lock, so that plain threads can run them.
            self._dispatcher = compiler(
                self.body, cache=True, error_model="numpy", nogil=True, **self._options
            )
        return self._dispatcher

    @property
    def signatures(self) -> list[tuple[Any, ...]]:
        """The types of arguments that have been used so far."""
        return list(self._loaded)

    def _load(self, key: tuple[Any, ...], args: tuple[Any, ...]) -> Callable[..., Any]:
        """Return the machine code from disk, or compile and store it."""
        name = f"{self.body.__module__}.{self.body.__name__}"
        function = machine_code.load(name, key)
        if function is None:
            types = tuple(self.dispatcher.typeof_pyval(value) for value in args)
            with machine_code.vectors(self._vectors):
                self.dispatcher.compile(types)
            machine_code.store(name, key, self.dispatcher, types)
            function = machine_code.load(name, key) or self.dispatcher
        self._loaded[key] = function
        return function


def _type(value: Any) -> Any:
    """Return what numba tells types apart by, or raise TypeError if only numba knows."""
    kind = type(value)
    if kind is np.ndarray or kind is np.memmap:
        flags, dtype = value.flags, value.dtype
        if dtype.kind not in "biuf" or not dtype.isnative:
            raise TypeError
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{dtype.char}{value.ndim}{layout}{flags.writeable:d}{flags.aligned:d}"
    if kind is int and not -(2**63) <= value < 2**63:
        raise TypeError
    if kind is tuple:
        return tuple(map(_type, value))
    if kind in _SCALARS:
        return _SCALARS[kind]
    if isinstance(value, np.generic) and value.dtype.kind in "iuf":
        return value.dtype.char
    raise TypeError

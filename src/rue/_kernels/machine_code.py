"""Compiled kernels on disk, which run without numba being imported.

Importing numba and filling its registries takes half a second. Numba's own cache needs both. What
is stored here needs neither: the object code that LLVM made of a kernel for one signature, with
the function by which Python calls it, and the names of what it calls. llvmlite links it, with
numba's small library of helpers.

Code is used if it was compiled from the same files, by the same numba and llvmlite, for the same
processor and Python. Where anything is missing, with a version of numba whose library was not tried
here, or on other systems than Linux with ELF object files, numba compiles or loads the kernel as
always.
"""

import builtins
import ctypes
import hashlib
import importlib.util
import json
import os
import pickle
import platform
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from typing import Any

import numpy as np

_FOLDER = Path(__file__).parent
TRIED = ("0.68.",)
"""Versions of numba whose library of helpers was tried: its layout is not documented."""


@cache
def compiler(kernel_class: type) -> Any:
    """Import numba, tell it what a kernel within a kernel is, and return its decorator."""
    from numba import njit
    from numba.core import types
    from numba.core.typing.typeof import typeof_impl

    typeof_impl.register(kernel_class)(lambda value, _: types.Dispatcher(value.dispatcher))
    return njit


@contextmanager
def vectors(wanted: bool) -> Iterator[None]:
    """Let numba compile with or without vectors of numbers that stand side by side."""
    config: Any = sys.modules["numba.core.config"]
    before, config.SLP_VECTORIZE = config.SLP_VECTORIZE, int(wanted)
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


def load(name: str, key: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Return the stored function of this name and signature, or None."""
    if not _is_supported():
        return None
    for folder in _folders():
        try:
            text, _, code = Path(folder, _file_name(name, key)).read_bytes().partition(b"\n")
            head = json.loads(text)
        except (OSError, ValueError):
            continue
        try:
            if head["stamp"] == _stamp() and head["digest"] == hashlib.sha256(code).hexdigest():
                return _link(name, head, code)
        except (AttributeError, ImportError, KeyError, OSError, RuntimeError, TypeError):
            continue  # what is stored, or numba, is not as it should be: numba compiles
    return None


def store(name: str, key: tuple[Any, ...], dispatcher: Any, types: tuple[Any, ...]) -> None:
    """Store what numba compiled and cached, unless it needs more than :func:`load` can give."""
    if not _is_supported():
        return
    try:
        numbas = dispatcher._cache
        index_key = numbas._index_key(types, dispatcher.targetctx.codegen())
        library, description, environment, *_, others = numbas._cache_file.load(index_key)
        code = library[2][0]
        environments = {item.env_name: item.consts for item in (environment, *others)}
        constants = {
            name: [np.dtype(dtype).str for dtype in consts if isinstance(dtype, np.dtype)]
            for name, consts in environments.items()
        }
        if any(len(constants[name]) < len(environments[name]) for name in environments):
            return
        head = {
            "stamp": _stamp(),
            "digest": hashlib.sha256(code).hexdigest(),
            "entry": description.llvm_cpython_wrapper_name,
            "environment": environment.env_name,
            "constants": constants,
            "symbols": _undefined_symbols(code),
        }
    except (AttributeError, KeyError, TypeError, ValueError, RuntimeError, struct.error):
        return  # another numba keeps these things elsewhere: its own cache remains
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(json.dumps(head).encode() + b"\n" + code)
            Path(file.name).chmod(0o644)
            Path(file.name).replace(folder / _file_name(name, key))
        except OSError:
            continue
        return


def _link(name: str, head: dict[str, Any], code: bytes) -> Callable[..., Any] | None:
    """Return the callable of object code, or None if something that it calls is not there."""
    from llvmlite import binding

    module = binding.parse_assembly("")
    engine = binding.create_mcjit_compiler(module, _target().create_target_machine(jit=True))
    helpers = _helpers()
    for symbol in head["symbols"]:
        if symbol in helpers:
            binding.add_symbol(symbol, helpers[symbol])
        elif not binding.address_of_symbol(symbol):
            return None
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(head["entry"])
    if not address:
        return None
    library = _numba_module("_dynfunc")
    environments = {}
    for env_name, dtypes in head["constants"].items():
        environment = library.Environment({"__name__": "rue._kernels"})
        environment.consts.extend(map(np.dtype, dtypes))
        place = engine.get_global_value_address(env_name)
        if place:
            ctypes.c_void_p.from_address(place).value = id(environment)
        environments[env_name] = environment
    module_name, _, function = name.rpartition(".")
    made: Callable[..., Any] = library.make_function(
        sys.modules[module_name],
        function,
        f"machine code of {name}",
        address,
        environments[head["environment"]],
        (engine, environments),
    )
    return made


@cache
def _target() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple()


@cache
def _numba_module(name: str) -> Any:
    """Return an extension module of numba without importing numba's Python code."""
    full = f"numba.{name}"
    if full in sys.modules:
        return sys.modules[full]
    path = Path(_package("numba"), *name.split(".")).with_suffix(EXTENSION_SUFFIXES[0])
    spec = importlib.util.spec_from_file_location(full, loader=ExtensionFileLoader(full, str(path)))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return sys.modules.setdefault(full, module)


@cache
def _helpers() -> dict[str, int]:
    """Return the addresses of numba's helpers by the names that object code has for them."""
    symbols = {"_Py_NoneStruct": id(None)}
    symbols |= {
        f"PyExc_{value.__name__}": id(value)
        for value in vars(builtins).values()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    for module in ("_helperlib", "_dynfunc"):
        for name, address in _numba_module(module).c_helpers.items():
            symbols[name] = symbols[f"numba_{name}"] = address
    for name, address in _numba_module("core.runtime._nrt_python").c_helpers.items():
        symbols[name if name.startswith("_") else f"NRT_{name}"] = address
    symbols["numba_unpickle"] = ctypes.cast(_UNPICKLE, ctypes.c_void_p).value or 0
    return symbols


def _unpickle(address: int, size: int, _: int) -> Any:
    """Return a type of arrays or an error that is part of machine code, as numba's own does."""
    if address not in _unpickled:
        _unpickled[address] = pickle.loads(ctypes.string_at(address, size))
    return _unpickled[address]


_unpickled: dict[int, Any] = {}
_UNPICKLE = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
    _unpickle
)


@cache
def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin or "").parent if spec else Path()


@cache
def _is_supported() -> bool:
    """Return whether object files are ELF of 64 bits, and numba is one whose library is known."""
    if sys.platform != "linux" or sys.maxsize < 2**32 or "NUMBA_DISABLE_JIT" in os.environ:
        return False
    try:
        version = Path(_package("numba"), "_version.py").read_text()
    except OSError:
        return False
    return any(f'"version": "{tried}' in version for tried in TRIED)


@cache
def _stamp() -> str:
    """Return a digest of everything that machine code depends on."""
    from llvmlite import binding

    files = sorted(_FOLDER.glob("*.py"))
    parts = [
        platform.python_version(),
        np.__version__,
        *(Path(_package(name), "_version.py").read_text() for name in ("numba", "llvmlite")),
        *(f"{file.name} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files),
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        *(f"{name}={value}" for name, value in sorted(os.environ.items()) if "NUMBA" in name),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _folders() -> list[Path]:
    """Return where code is stored: beside the sources, or in the user's cache."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    own = os.environ.get("NUMBA_CACHE_DIR")
    return [Path(own, "rue")] if own else [_FOLDER / "__pycache__", Path(cache_home, "rue")]


def _file_name(name: str, key: tuple[Any, ...]) -> str:
    digest = hashlib.sha256(repr((key, sys.implementation.cache_tag)).encode()).hexdigest()[:16]
    return f"{name.removeprefix('rue._kernels.')}-{digest}.code"


def _undefined_symbols(code: bytes) -> list[str]:
    """Return the names that an ELF object file of 64 bits takes from elsewhere."""
    (at,), (size, count) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, at + size * i) for i in range(count)]
    names = []
    for section in sections:
        if section[1] != 2:  # the table of symbols
            continue
        text = sections[section[6]]
        strings = code[text[4] : text[4] + text[5]]
        for place in range(section[4], section[4] + section[5], 24):
            name, _, _, where = struct.unpack_from("<IBBH", code, place)
            if where == 0 and name:
                names.append(strings[name : strings.index(b"\0", name)].decode())
    return sorted(names)

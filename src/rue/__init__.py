"""rue: Regret-based Uncertainty Evaluation.

Names are loaded when they are first used, so that ``import rue`` takes milliseconds. They are
listed once, in ``__init__.pyi``, which type checkers and editors read, too.
"""

import importlib

__version__ = "0.1.0"


def _lazy_names(package, file):  # type: ignore[no-untyped-def]
    """Return the module of each name in a package's stub, and the package's ``__getattr__``."""
    modules = {}
    with open(f"{file.removesuffix('py')}pyi", encoding="utf-8") as stub:  # noqa: PTH123
        for line in stub:  # from MODULE import NAME as NAME
            words = line.split()
            if words[:1] == ["from"]:
                modules[words[3]] = words[1]

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if modules[name] == package:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(modules[name]), name)

    order = sorted(modules, key=lambda name: (not name.isupper(), name[0].islower(), name))
    return {name: modules[name] for name in order}, get


_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = ["__version__", *(name for name in _LAZY if name != "methods")]  # it is for torch


def __dir__():  # type: ignore[no-untyped-def]
    return sorted(__all__)

"""Load the public names of a package when they are first used."""

import importlib


def lazy_attributes(package, modules):  # type: ignore[no-untyped-def]
    """Return the ``__getattr__`` of a package whose names are loaded on first use."""

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(modules[name])
        is_submodule = modules[name] == f"{package}.{name}"
        return module if is_submodule else getattr(module, name)

    return get

"""Load the public names of a package when they are first used."""

import importlib


def lazy_attributes(package, modules):  # type: ignore[no-untyped-def]
    """Return the ``__getattr__`` of a package whose names are loaded on first use.

    The result is untyped and this module imports nothing but importlib, because ``import rue``
    runs it; type checkers read the ``if TYPE_CHECKING:`` imports of the package instead.

    Parameters
    ----------
    package : str
        Name of the package.
    modules : mapping of str to str
        The module that defines each public name; a name that maps to itself is a submodule.

    Returns
    -------
    callable
        A function from an attribute's name to its value, for PEP 562.
    """

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(modules[name])
        is_submodule = modules[name] == f"{package}.{name}"
        return module if is_submodule else getattr(module, name)

    return get

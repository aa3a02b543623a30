"""Other libraries' outputs as beliefs and annotations, one file per library.

sklearn.py      forests, bagging, any list of classifiers    -> Draws
torch.py        any list of modules, or one with dropout     -> Draws
pandas.py       a frame of answers in long form              -> Annotations, ids
accumulator.py  batches of a validation loop                 -> Evaluation

Each is loaded when it is first used, and with it its library.
"""

import importlib
from types import ModuleType

__all__ = ["accumulator", "pandas", "sklearn", "torch"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"rue.adapters.{name}")
    raise AttributeError(f"module 'rue.adapters' has no attribute {name!r}")

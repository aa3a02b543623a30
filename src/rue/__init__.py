"""rue: Regret-based Uncertainty Evaluation.

Names are loaded when first used, so that ``import rue`` costs nothing.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

# name -> module; the one list of what is public.
_PUBLIC = {
    "Components": "rue.components",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'rue' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""Everything that rue raises on purpose.

::

    RueError
    ├── InputError (ValueError)       an argument breaks a rule
    │   ├── ShapeError                its shape does not fit
    │   ├── FileError                 a file cannot be read as what it should be
    │   ├── AlignmentError            ids of two sides do not match
    │   └── InfeasibleError           no selector meets the budgets
    ├── MissingExtraError (ImportError)   an optional dependency is not installed
    └── PluginError (ImportError)     another package's method or data set cannot be loaded

A message is one line: the rule, the argument, the value received, the first offending row.
On the command line it goes to stderr and the exit code is 2.
"""

__all__ = [
    "AlignmentError",
    "FileError",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "PluginError",
    "RueError",
    "ShapeError",
]


class RueError(Exception):
    """The root of the tree."""


class InputError(RueError, ValueError):
    """An argument breaks a rule."""


class ShapeError(InputError):
    """An array has the wrong shape."""


class FileError(InputError):
    """A file cannot be read as what it should be."""


class AlignmentError(InputError):
    """The ids of two sides do not match one to one."""


class InfeasibleError(InputError):
    """No selector meets the budgets; the message says what could be attained."""


class MissingExtraError(RueError, ImportError):
    """An optional dependency is missing; the message says which install fixes it."""


class PluginError(RueError, ImportError):
    """A plugin cannot be loaded; the message names it and its package."""

"""The exceptions that rue raises.

::

    RueError
    ├── InputError (ValueError)       an argument breaks a rule
    │   ├── ShapeError                its shape does not fit
    │   ├── PointError (IndexError)   a point, or a mask of points, that is not there
    │   ├── FileError                 a file does not hold what it should
    │   ├── AlignmentError            the ids of two files do not match
    │   └── InfeasibleError           no selector meets the budgets
    ├── MissingExtraError (ImportError)   an optional dependency is not installed
    └── PluginError (ImportError)     another package's method or data set cannot be loaded

Each message is one line: the rule, the argument, the value received and the first invalid row.
On the command line it is printed on stderr, and the exit code is 2, or 1 for an InfeasibleError:
the input is valid, and the answer is no.
"""

from rue._text import ESCAPES

__all__ = [
    "AlignmentError",
    "FileError",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "PluginError",
    "PointError",
    "RueError",
    "ShapeError",
]


class RueError(Exception):
    """The base class of all errors of rue.

    As text it is one line: line breaks and control characters in it, such as those of a name
    from a file, are shown as escapes.
    """

    def __str__(self) -> str:
        return super().__str__().translate(ESCAPES)


class InputError(RueError, ValueError):
    """An argument breaks a rule."""


class ShapeError(InputError):
    """An array has the wrong shape."""


class PointError(InputError, IndexError):
    """A point is not there, or a mask has another number of points."""


class FileError(InputError):
    """A file does not hold what it should."""


class AlignmentError(InputError):
    """The ids of two files do not match one to one."""


class InfeasibleError(InputError):
    """No selector meets the budgets; the message states the best attainable value."""


class MissingExtraError(RueError, ImportError):
    """An optional dependency is missing; the message states how to install it."""


class PluginError(RueError, ImportError):
    """A plugin cannot be loaded; the message names it and its package."""

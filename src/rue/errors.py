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

Each message is one line: the rule, the argument, the value received and the first invalid row. Ways
out that are options of the command line are not part of the message: an error carries them as
``advice``, and a command shows those that it has. On the command line an error is printed on
stderr, and the exit code is 2, or 1 for an InfeasibleError: the input is valid, and the answer is
no.
"""

import re
from collections.abc import Mapping

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

    Parameters
    ----------
    message : str
        What is wrong.
    advice : mapping of str to str, optional
        What each option of the command line would do about it, for example
        ``{"--common": "keeps the ids on both sides"}``.

    Attributes
    ----------
    advice : dict of str to str
        The same.
    options : mapping of str to str, or None
        The options of the command that raised it, by the name of the argument in Python: it may
        advise them, and names its arguments by them. None in Python, where options with another
        name there are advised under that name.
    """

    def __init__(self, message: object = "", *, advice: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.advice = dict(advice or {})
        self.options: Mapping[str, str] | None = None

    def about(self, path: object) -> "RueError":
        """Return the same error as one about a file, unless it is one already."""
        if isinstance(self, FileError):
            return self
        kind = AlignmentError if isinstance(self, AlignmentError) else FileError
        named = self.message.startswith(f"{path} ")
        return kind(self.message if named else f"{path}: {self.message}", advice=self.advice)

    @property
    def message(self) -> str:
        """What is wrong, without advice."""
        return super().__str__().translate(ESCAPES)

    def __str__(self) -> str:
        if self.options is None:
            ways = {_IN_PYTHON[k]: v for k, v in self.advice.items() if k in _IN_PYTHON}
        else:
            ways = {k: v for k, v in self.advice.items() if k in self.options.values()}
        text = ", or ".join(f"{name} {what}" for name, what in ways.items())
        message = self.message + (f"; {text}" if text else "").translate(ESCAPES)
        for name, option in (self.options or {}).items():
            if "_" in name:  # not a word of English
                message = re.sub(rf"(?<![\w'/.-]){name}(?![\w'/.-])", option, message)
            elif name.isidentifier():
                message = re.sub(rf"^{name}(?= must )", option, message)
        return message


_IN_PYTHON = {
    "--classes": "with_classes",
    "--common": "common=True",
    "--by-position": "unnamed()",
    "--floor": "Log(floor=...)",
    "--range": "Ratings(..., range=...)",
    "--max-memory": "max_memory",
    "--values": "values=",
}


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


def missing_extra(what: str, extra: str, more: str = "") -> MissingExtraError:
    """Return the error that something needs an extra of rue, with the command that installs it."""
    return MissingExtraError(
        f"{what}: pip install -e '.[{extra}]'{more} in a clone, else "
        f"pip install 'rue[{extra}]'{more}"
    )


class PluginError(RueError, ImportError):
    """A plugin cannot be loaded; the message names it and its package."""

"""Keep stdout for what a command prints: another library's messages go to stderr."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

__all__ = ["only_stderr"]


@contextmanager
def only_stderr() -> Iterator[None]:
    """Send everything that is written to stdout within the block to stderr instead.

    This includes what C++ code and processes that are started within it write to the descriptor
    itself, such as Ray's own log.
    """
    try:
        out, err = sys.__stdout__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]
        kept = os.dup(out)
    except (AttributeError, OSError, ValueError):  # closed, or no file of the system
        with redirect_stdout(sys.stderr):
            yield
        return
    sys.stdout.flush()
    try:
        os.dup2(err, out)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, out)
        os.close(kept)

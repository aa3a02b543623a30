"""The property of every case, and how it is measured.

*A result, or one of rue's errors in one line, within 10 s and 1 GiB, and no write outside the
output folder.* Warnings count as failures, since they are what a number that is wrong comes with.

- Time is the processor time of this process (a busy machine is no failure), by an interval timer
  that raises; :mod:`fuzz.__main__` also ends a worker that answers nothing for two minutes.
- Memory is the peak resident memory of the process during the case, libraries included, which
  must not pass 1 GiB; half of that for the case alone in a process that is larger already. A
  request for gigabytes that the system refuses is a failure too: rue must refuse it first. The
  address space is limited, so that a bomb cannot take the machine with it.
- Writes are seen by an audit hook of the interpreter: opening to write, creating, renaming,
  removing and linking outside the folder of the case, starting processes, connecting, and looking
  up names in a pickle. Compiled code that the interpreter or numba caches is no such write.
"""

import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory import forget_peak, peak_of_this_process
from rue.errors import RueError

SECONDS = 10.0
BYTES = 1 << 30

_PATHS = {
    "os.mkdir": 1,
    "os.rename": 2,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.link": 2,
    "os.truncate": 1,
    "os.chmod": 1,
}
_NEVER = {
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "pickle.find_class"),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class TooSlow(BaseException):
    """The time is up; no reader may catch it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    ``kind`` is "result", "error" (one of ours) or "failure"; ``text`` the error or what failed;
    ``memory`` the peak of the process in bytes.
    """

    kind: str
    text: str
    seconds: float
    memory: int = 0


class _Watch:
    """What the audit hook, which can never be removed, does at present."""

    folder: str | None = None
    seen: tuple[str, ...] = ()
    hooked = False


def outcome(use: Callable[[Path], Any], folder: Path, *, valid: bool = False) -> Outcome:
    """Use the files in a folder and return what became of it.

    A ``valid`` case, whose files were not changed, must give a result.
    """
    forget_peak()
    limit, started = max(BYTES, peak_of_this_process() + BYTES // 2), time.process_time()
    kind, text = "result", ""
    with _watched(folder):
        try:
            with _timed():
                use(folder)
        except RueError as error:
            kind, text = "error", f"{type(error).__name__}: {error}"
            if "\n" in text or "\r" in text:
                kind, text = "failure", f"an error of several lines: {text!r}"
            elif "allocate" in text:
                kind, text = "failure", f"memory was asked for before it was refused: {text}"
            elif valid:
                kind, text = "failure", f"a valid file was refused: {text}"
        except TooSlow:
            kind, text = "failure", f"took more than {SECONDS:g} s"
        except BaseException as error:  # what else there is, is a bug
            if isinstance(error, KeyboardInterrupt):
                raise
            kind, text = "failure", _described(error)
    seconds = time.process_time() - started
    if _Watch.seen:
        kind, text = "failure", f"did what no reader may: {', '.join(_Watch.seen)}"
    memory = peak_of_this_process()
    if memory > limit:
        kind, text = "failure", f"took {memory >> 20} MiB of memory"
    return Outcome(kind, text, seconds, memory)


@contextmanager
def limited(n_bytes: int = 2 * BYTES) -> Iterator[None]:
    """Limit the address space to what there is now and ``n_bytes`` more."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _timed() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlow

    earlier = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)


@contextmanager
def _watched(folder: Path) -> Iterator[None]:
    if not _Watch.hooked:
        sys.addaudithook(_hook)
        _Watch.hooked = True
    compiled = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    _Watch.seen = ()
    _Watch.folder = os.path.realpath(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        _Watch.folder = None
        sys.dont_write_bytecode = compiled


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _Watch.folder is None:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = any(letter in mode for letter in "wax+") if mode else bool(flags & _WRITING)
        if writes and _is_outside(path):
            _Watch.seen += (f"open({path!r}, {mode or flags!r})",)
    elif event in _PATHS:
        if any(_is_outside(path) for path in arguments[: _PATHS[event]]):
            _Watch.seen += (f"{event}{arguments[: _PATHS[event]]}",)
    elif event == "pickle.find_class" and _is_numba():
        return
    elif event in _NEVER:
        _Watch.seen += (f"{event}{arguments!r}"[:200],)


def _is_outside(path: Any) -> bool:
    if isinstance(path, int):
        return False
    name = os.fspath(path)
    name = os.fsdecode(name) if isinstance(name, bytes) else name
    if name == os.devnull or "__pycache__" in name:
        return False
    folder = _Watch.folder
    if os.path.realpath(name) == folder:
        return False
    # The parent, since a link in the last place is itself what is made or removed.
    parent = os.path.realpath(Path(name).absolute().parent)
    return folder is not None and os.path.commonpath([parent, folder]) != folder


def _is_numba() -> bool:
    """Return whether it is numba that reads a pickle: of code that it compiled, or compiles."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(("numba.", "rue._kernels.machine_code")):
            return True
        frame = frame.f_back
    return False


def _described(error: BaseException) -> str:
    trace = error.__traceback__
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {str(error)[:300]} ({' < '.join(reversed(places[-4:]))})"

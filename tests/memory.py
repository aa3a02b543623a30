"""The peak memory of a fresh process, and of a part of this one.

``ru_maxrss`` of a child also counts the memory of the process that started it; VmHWM does not.
"""

import subprocess
import sys
from pathlib import Path

_PRINT = """
import memory
print(memory.peak_of_this_process())
"""


def peak(code: str, *arguments: object) -> tuple[str, int]:
    """Run code in a fresh process; return what it printed, and its peak memory in bytes."""
    paths = f"import sys; sys.path.append({str(Path(__file__).parent)!r})\n"
    command = [sys.executable, "-c", paths + code + _PRINT, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *printed, most = done.stdout.split("\n")[:-1]
    return "\n".join(printed), int(most)


def peak_of_this_process() -> int:
    """Return the largest resident memory since the start or :func:`forget_peak`, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def forget_peak() -> None:
    """Let the peak begin anew, at the resident memory of now."""
    Path("/proc/self/clear_refs").write_text("5")

"""The sandbox's command, from a cold start to its four files."""

import subprocess
import sys
import tempfile

from speed.timing import Rows, least


def rows() -> Rows:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "rue", "sandbox", "--out", folder]
        ours = least(lambda: subprocess.run(command, check=True, capture_output=True), 3)
    yield "rue sandbox", ours, "limit", 5.0, "<= 1"

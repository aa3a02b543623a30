"""Downloads that resume, are verified, and replace the target in one step.

The result is a valid file or a clear error: bytes are written to ``NAME.part``, which is verified
before it is renamed to ``NAME``. A lock makes a second process wait for the first; the system
releases it when its holder dies, so an interrupted download leaves only a part to resume from.
"""

import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rue.data.files import atomic_write, file_digest, open_zip, require_unshared
from rue.errors import FileError
from rue.io.atomic import is_full, locked, open_own

_TIMEOUT = 60  # seconds without a byte


def download(
    urls: Sequence[str],
    target: Path,
    check: Callable[[Path], str | None],
    *,
    progress: bool = False,
) -> Path:
    """Download a file to ``target`` from the first of ``urls`` that works, unless it exists."""
    with locked_target(target):
        if target.exists() and check(target) is None:
            return target
        part = target.with_name(target.name + ".part")
        failures = []
        for url in urls:
            wrong = _transfer(url, part, check, progress=progress)
            if wrong is None:
                part.replace(target)
                return target
            failures.append(f"{url}: {wrong}")
        n_before = part.stat().st_size if part.exists() else 0
        if not n_before:
            part.unlink(missing_ok=True)
        advice = (
            f"{n_before:,} bytes are kept, run the same command to resume"
            if n_before
            else "nothing was kept"
        )
        raise FileError("; ".join((*failures, advice)))


def content_check(name: str, sha256: str) -> Callable[[Path], str | None]:
    """Return a check that the content of a file has a given SHA-256."""

    def check(path: Path) -> str | None:
        try:
            digest = file_digest(path, name)
        except FileError as error:
            return str(error)
        return None if digest == sha256 else f"its SHA-256 should be {sha256}, got {digest}"

    return check


def zip_check(md5: str | None = None) -> Callable[[Path], str | None]:
    """Return a check that all members of a zip are intact, and that it has a known MD5."""

    def check(path: Path) -> str | None:
        if md5 is not None:
            with path.open("rb") as handle:
                digest = hashlib.file_digest(handle, "md5").hexdigest()
            return None if digest == md5 else f"its MD5 should be {md5}, got {digest}"
        try:
            with open_zip(path) as archive:
                broken = archive.testzip()
        except FileError as error:
            return str(error)
        return None if broken is None else f"{broken} in it is damaged"

    return check


def get(url: str) -> bytes:
    """Return the content of one address, in memory."""
    import pooch

    content = io.BytesIO()
    try:
        pooch.HTTPDownloader(timeout=_TIMEOUT)(url, content, None)
    except OSError as error:
        raise FileError(f"{url}: {_reason(error)}") from None
    return content.getvalue()


@contextlib.contextmanager
def locked_target(target: Path) -> Iterator[None]:
    """Hold the lock of ``target``, waiting for another process that has it."""
    require_unshared(target.parent)
    folder = target.parent / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / f"{target.name}.lock"):
        yield


def pip_download(requirement: str, sha256: str, target: Path) -> Path:
    """Fetch a named sdist with pip, from whatever index the user's pip is set to."""
    with locked_target(target):
        if target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == sha256:
            return target
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            name, version = requirement.split("==")
            backend = work / "backend" / "setuptools"
            backend.mkdir(parents=True)
            (backend / "__init__.py").touch()
            (backend / "build_meta.py").write_text(_BACKEND.format(name=name, version=version))
            (work / "requirements.txt").write_text(f"{requirement} --hash=sha256:{sha256}\n")
            out = work / "out"
            wanted = ("--require-hashes", "--requirement", str(work / "requirements.txt"))
            as_is = ("--no-deps", "--no-build-isolation", "--no-binary", ":all:")
            _run_pip("download", *as_is, *wanted, "--dest", str(out), backend=backend.parent)
            with atomic_write(target) as handle:
                handle.write(next(out.iterdir()).read_bytes())
        return target


_BACKEND = """\
import os


class _Backend:
    def get_requires_for_build_wheel(self, config_settings=None):
        return []

    def prepare_metadata_for_build_wheel(self, folder, config_settings=None):
        name = "{name}-{version}.dist-info"
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "METADATA"), "w") as file:
            file.write("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        return name


__legacy__ = _Backend()
"""


def _run_pip(*arguments: str, backend: Path) -> None:
    import importlib.util

    if importlib.util.find_spec("pip") is None:
        raise FileError(
            f"pip is needed to fetch this, and {sys.executable} has none: "
            "run `python -m ensurepip`, or put the file there yourself (see docs/data.md)"
        )
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    result = subprocess.run(
        [*command, *arguments],
        env={**os.environ, "PYTHONPATH": str(backend), "PIP_USE_PEP517": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
        raise FileError(f"pip could not fetch it: {' '.join(lines) or result.stderr.strip()}")


def _transfer(
    url: str, part: Path, check: Callable[[Path], str | None], *, progress: bool
) -> str | None:
    """Receive a file into ``part`` and return what went wrong; an invalid part is deleted."""
    resumed = part.exists() and part.stat().st_size > 0
    try:
        _receive(url, part, progress=progress)
    except OSError as error:
        if is_full(error):
            raise FileError(
                f"no space left for {part.with_suffix('')}: free some and run it again, "
                f"the next try resumes from {part}"
            ) from None
        return _reason(error)
    wrong = check(part)
    if wrong is not None:
        part.unlink()
        if resumed:  # perhaps the part was of another version: once more
            return _transfer(url, part, check, progress=progress)
    return wrong


def _receive(url: str, part: Path, *, progress: bool) -> None:
    import pooch

    with open_own(part) as handle:
        n_before = handle.tell()
        expected = None
        complete = False

        def on_response(response: Any, **_: Any) -> None:
            nonlocal expected, complete
            status, headers = response.status_code, response.headers
            if status == 416:  # nothing after what we have
                complete = True
            elif status in (200, 206):
                start = n_before if status == 206 else 0
                if start < n_before:  # the whole file, though only the rest was asked for
                    handle.truncate(0)
                elif start and not headers.get("Content-Range", "").startswith(
                    f"bytes {n_before}-"
                ):
                    raise OSError("the server sent another part than requested")
                if "Content-Length" in headers:
                    expected = start + int(headers["Content-Length"])

        # Compressed on its way, a file's length and ranges would be those of something else.
        headers = {"Accept-Encoding": "identity"}
        if n_before:
            headers["Range"] = f"bytes={n_before}-"
        fetch = pooch.HTTPDownloader(
            progressbar=progress,
            chunk_size=1 << 16,
            timeout=_TIMEOUT,
            headers=headers,
            hooks={"response": on_response},
        )
        try:
            fetch(url, handle, None)
        except OSError:
            if not complete:
                raise
        handle.flush()
        os.fsync(handle.fileno())
        received = handle.tell()
    if expected is not None and received < expected:
        raise OSError(f"it broke off after {received:,} of {expected:,} bytes")


def _reason(error: OSError) -> str:
    """Return a short reason why a request failed; the library's message is very long."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    text = str(error)
    if "Read" in type(error).__name__ or "IncompleteRead" in text or "Chunked" in text:
        return "the connection broke off"
    reasons = {"ConnectTimeout": "no answer in time", "ConnectionError": "no connection"}
    return reasons.get(type(error).__name__, text)

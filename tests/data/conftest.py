"""Real data where it is there, a web server of our own, and never the user's cache."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "data"
_REAL = os.environ.get("RUE_DATA") or (str(_BESIDE) if _BESIDE.is_dir() else "")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test away from the user's cache and from RUE_DATA."""
    folder = tmp_path / "cache"
    monkeypatch.setattr("rue.data.files.cache_folder", lambda: folder)
    monkeypatch.delenv("RUE_DATA", raising=False)
    return folder


@pytest.fixture(scope="session")
def real() -> Path:
    """Give the root of the real data."""
    if not _REAL:
        pytest.skip("no real data here: set RUE_DATA to a data root")
    return Path(_REAL)


@dataclass
class Server:
    """A web server on this machine that misbehaves when told to."""

    files: dict[str, bytes] = field(default_factory=dict)
    break_after: int | None = None  # bytes of a body, then hang up
    no_ranges: bool = False
    no_length: bool = False
    delay: float = 0.0  # seconds between pieces
    piece: int = 1 << 14
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, asked = self.path.split("?")[0], self.headers.get("Range")
            state.requests.append((path, asked))
            if path not in state.files:
                return self.send_error(404)
            body = state.files[path]
            start = 0
            if asked and not state.no_ranges:
                start = int(asked.removeprefix("bytes=").removesuffix("-"))
                if start >= len(body):
                    return self.send_error(416)
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            if not state.no_length:
                self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            body = body[start:][: state.break_after]
            for i in range(0, len(body), state.piece):
                try:
                    self.wfile.write(body[i : i + state.piece])
                except OSError:  # the client died
                    break
                time.sleep(state.delay)
            self.close_connection = True
            return None

        def log_message(self, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}).start()
    state.url = f"http://127.0.0.1:{http.server_port}"
    yield state
    http.shutdown()
    http.server_close()

"""One holder at a time, on POSIX and, with its calls acted out, on Windows."""

import errno
import fcntl
import importlib
import os
import subprocess
import sys
import threading
import time
import types

import pytest

import rue.io.atomic
from rue.errors import FileError
from rue.io.atomic import Held, locked


def _windows():
    """Act out msvcrt.locking as it is documented, by the locks of this system."""
    module = types.ModuleType("msvcrt")
    module.LK_NBLCK = 2
    places = []

    def locking(descriptor, mode, n_bytes):
        assert (mode, n_bytes) == (module.LK_NBLCK, 1)
        places.append(os.lseek(descriptor, 0, os.SEEK_CUR))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    module.locking, module.places = locking, places
    return module


@pytest.fixture(params=["posix", "windows"])
def system(request, monkeypatch):
    if request.param == "windows":
        modules = {"fcntl": ImportError, "msvcrt": _windows()}
        real = importlib.import_module

        def import_module(name, *rest):
            found = modules.get(name)
            if found is ImportError:
                raise ImportError(name)
            return found or real(name, *rest)

        monkeypatch.setattr(rue.io.atomic.importlib, "import_module", import_module)
        return modules["msvcrt"]
    return None


def test_one_holder_at_a_time(tmp_path, system):
    path = tmp_path / "lock"
    with locked(path, wait=False):
        with pytest.raises(Held) as caught, locked(path, wait=False):
            pass
        assert caught.value.process == str(os.getpid())
    with locked(path, wait=False):
        pass
    if system is not None:  # far beyond the process id, which others must be able to read
        assert set(system.places) == {1 << 30}


def test_waiting_for_another_holder(tmp_path, system):
    path, order = tmp_path / "lock", []

    def second():
        with locked(path):
            order.append("second")

    with locked(path):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.3)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_failure_inside_releases_it(tmp_path, system):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock"):
        _ = 1 / 0
    with locked(tmp_path / "lock", wait=False):
        pass


def test_the_holder_is_unknown_where_the_file_says_nothing_sensible(tmp_path, system):
    path = tmp_path / "lock"
    with locked(path, wait=False):
        path.write_bytes(b"\x1b[31mroot")
        with pytest.raises(Held) as caught, locked(path, wait=False):
            pass
    assert caught.value.process == ""


def test_a_killed_holder_frees_it(tmp_path):
    path = tmp_path / "lock"
    code = (
        "import sys, time, pathlib; from rue.io.atomic import locked\n"
        "with locked(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Held) as caught, locked(path, wait=False):
        pass
    assert caught.value.process == str(holder.pid)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with locked(path, wait=False):
        pass


def test_a_link_is_refused_and_what_it_points_to_stays(tmp_path):
    (tmp_path / "precious").write_text("old")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(FileError, match="lock: is a symbolic link"), locked(tmp_path / "lock"):
        pass
    assert (tmp_path / "precious").read_text() == "old"


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(FileError, match="lock: cannot be locked: No locks available"),
        locked(tmp_path / "lock"),
    ):
        pass


@pytest.mark.parametrize("system", ["windows"], indirect=True)
def test_the_windows_way_passes_other_errors_on(tmp_path, system):
    def refuse(*_):
        raise OSError(errno.EINVAL, "Invalid argument")

    system.locking = refuse
    with (
        pytest.raises(FileError, match="lock: cannot be locked: Invalid argument"),
        locked(tmp_path / "lock"),
    ):
        pass


def test_rue_loads_without_fcntl_and_resource():
    """As on Windows: no module needs them to be imported."""
    code = (
        "import sys; sys.modules['fcntl'] = sys.modules['resource'] = None\n"
        "import rue.bench.store, rue.bench.run, rue.bench.tasks, rue.data, rue.cli, rue.io.atomic"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

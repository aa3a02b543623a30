"""Kernels in processes that fork, in many threads at once, and where no thread can be started."""

import subprocess
import sys

import pytest

from rue._kernels.threads import each

# What every child process does first: evaluate on several threads, so that a fork comes after it.
START = """
import sys, warnings
warnings.simplefilter("error")
import numpy as np
import rue
from rue._kernels.threads import use_threads

def row(seed):
    rng = np.random.default_rng(seed)
    p_star = rng.dirichlet(np.ones(4), 2_000)
    probs = 0.5 * p_star[:, None] + 0.5 * rng.dirichlet(np.ones(4), (2_000, 5))
    counts = rng.multinomial(20, p_star)
    found = rue.evaluate(rue.Annotations(counts), rue.Draws(probs), loss="log", gap=False)
    real = rue.evaluate(
        rue.Ratings(rng.normal(size=(4_000, 3))),
        rue.Gaussians(rng.normal(size=(4_000, 5)), rng.gamma(2.0, size=(4_000, 5))),
        loss="crps",
        gap=False,
    )
    return [found.aurec, found.aurc_total, found.spearman_hat, real.aurec, real.risk]

if __name__ == "__main__":
    use_threads(2)
    rows = [row(seed) for seed in range(4)]
"""

WAYS = {
    "Pool": """
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(row, range(4)) == rows
""",
    "ProcessPoolExecutor": """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert list(pool.map(row, range(4))) == rows
""",
    "ThreadPool": """
    from multiprocessing.pool import ThreadPool
    with ThreadPool(8) as pool:
        assert pool.map(row, [*range(4)] * 4) == rows * 4
""",
    "fork in a thread, while another thread compiles": """
    import multiprocessing
    from threading import Event, Thread
    from numba.core.compiler_lock import global_compiler_lock
    compiling, done = Event(), Event()
    def compile():
        with global_compiler_lock:
            compiling.set()
            done.wait(0.5)
    def evaluate():
        with global_compiler_lock:
            assert row(0) == rows[0]
    thread = Thread(target=compile)
    thread.start()
    compiling.wait()
    warnings.simplefilter("ignore")  # Python 3.12 warns about threads that run during a fork
    child = multiprocessing.get_context("fork").Process(target=evaluate)
    child.start()
    child.join()
    assert child.exitcode == 0
""",
    "no thread can be started": """
    import resource, threading
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + 2**29
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    threading.stack_size(2**30)
    try:
        threading.Thread(target=print).start()
    except RuntimeError:
        assert [row(seed) for seed in range(4)] == rows
    else:
        raise AssertionError("a thread was started")
""",
    "numba's threads have not started": """
    import numba
    try:
        numba.threading_layer()
    except ValueError:
        pass
    else:
        raise AssertionError("they have")
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_bits_and_no_deadlock(way):
    _run(START + WAYS[way])


def test_workers_of_a_data_loader():
    pytest.importorskip("torch")
    load = """
    import multiprocessing
    from torch.utils.data import DataLoader
    options = {"multiprocessing_context": "fork", "collate_fn": list}
    class Rows(list):
        def __getitem__(self, seed):
            return row(seed)
    batches = DataLoader(Rows(range(4)), num_workers=2, **options)
    assert [batch[0] for batch in batches] == rows
"""
    _run(START + load)


def test_each_keeps_the_order_of_items_and_raises_what_a_thread_raised():
    assert each(lambda i: i * i, range(50)) == [i * i for i in range(50)]
    assert each(str, []) == []

    def fail(i):
        if i == 7:
            raise IndexError("seven")
        return i

    with pytest.raises(IndexError, match="seven"):
        each(fail, range(50))


def _run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]

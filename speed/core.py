"""Curves, decomposition, Dirichlet expectations, memory, start-up."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from rue import Dirichlet, aurec, decompose
from rue.losses import LOSSES, _expected_lead, get_loss
from speed.timing import GiB, Rows, least, least_of_both


def rows() -> Rows:
    yield from curves()
    yield from decomposition()
    yield from dirichlet()
    yield from start_up()
    yield from memory()


def curves() -> Rows:
    from rue._kernels.sorting import areas, argsort

    rng = np.random.default_rng(0)
    for n in (10**4, 10**5, 10**6, 10**7):
        regret, score = rng.gamma(0.5, size=n), rng.gamma(0.5, size=n)

        def peer(regret=regret, score=score):
            order = np.argsort(score)
            return np.cumsum(regret[order]), np.cumsum(score[order])

        def ours(regret=regret, score=score):
            return areas(regret, score, np.empty(0), argsort(score), False)

        a, b = least_of_both(ours, peer, repeats=3 if n == 10**7 else 9)
        yield f"area under one curve, N = {n:,}", a, "argsort + two cumsums", b, "<= 1.5"
    a, b = least_of_both(lambda: aurec(regret, score), peer, repeats=3)
    yield "aurec with its oracle (two sorts), N = 10,000,000", a, "argsort + two cumsums", b, ""


def decomposition() -> Rows:
    rng = np.random.default_rng(0)
    for dtype, goal in ((np.float64, "<= 0.8"), (np.float32, "<= 2.0")):
        for shape in ((200_000, 5, 10), (10_000, 20, 100), (1_000, 20, 1_000)):
            probs = rng.dirichlet(np.ones(shape[2]), shape[:2]).astype(dtype)
            for name in LOSSES:
                loss = get_loss(name)
                a, b = least_of_both(
                    lambda loss=loss, probs=probs: loss.expect_draws(probs),
                    lambda probs=probs: probs * np.log(probs),
                    repeats=5,
                )
                size = " x ".join(f"{n:,}" for n in shape)
                what = f"decompose {name}, {size} {np.dtype(dtype).name}"
                yield what, a, "one numpy pass of p * log p", b, goal


def dirichlet() -> Rows:
    rng = np.random.default_rng(0)
    for n, k in ((2_000, 10), (10_000, 10), (100, 1_000)):
        alpha = 1 + rng.gamma(1.0, size=(n, k)) * 5

        def sample(alpha=alpha):
            draws = rng.standard_gamma(alpha, size=(1_000, *alpha.shape))
            return (draws.max(axis=2) / draws.sum(axis=2)).mean(axis=0)

        belief = Dirichlet(alpha)
        ours = least(lambda belief=belief: decompose(belief, "zero_one"), 3)
        what = f"exact Dirichlet 0/1 (to 1e-10), {n:,} x {k:,}"
        yield (
            what,
            ours,
            "1,000 draws (to 1e-2)",
            least(sample, 2),
            "<= 0.2" if n == 10_000 else "<= 1",
        )
    alpha = 1 + rng.gamma(1.0, size=(10_000, 10)) * 5
    a, b = least_of_both(
        lambda: _expected_lead.expected_lead(alpha), lambda: _by_special_functions(alpha), 5
    )
    yield "exact Dirichlet 0/1, 10,000 x 10", a, "a special function at every node", b, "<= 0.2"


def _by_special_functions(alpha: np.ndarray) -> None:
    """Evaluate the integrals as a plain reading of the formula would, on one thread."""
    from scipy.special import gammainc

    nodes, _ = np.polynomial.legendre.leggauss(_expected_lead.N_NODES)
    for start in range(0, len(alpha), 1_000):
        a = np.sort(alpha[start : start + 1_000], axis=1)
        low, high = _expected_lead._range(a, a.sum(axis=1))
        for _ in range(8):  # bisection
            _expected_lead._one_above(a, np.exp((low + high) / 2)[:, None])
        x = np.exp(low[:, None] + (high - low)[:, None] * (nodes + 1) / 2)
        gammainc(a[:, -1, None], x) * _expected_lead._one_above(a[:, :-1], x)


def start_up() -> Rows:
    def run(*arguments):
        return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    bare = least(run("-c", "pass"))
    started = least(run("-c", "import rue"))
    yield "python -c 'import rue'", started, "bare python", bare, "<= 2"
    yield "import rue, beyond the start of python", started - bare, "limit", 0.06, "<= 1"
    yield "rue --help", least(run("-m", "rue", "--help")), "limit", 0.5, "<= 1"
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        np.savez(Path(folder, "p.npz"), probs=rng.dirichlet(np.ones(10), (10_000, 5)))
        np.save(Path(folder, "c.npy"), rng.multinomial(50, np.ones(10) / 10, 10_000))
        files = [str(Path(folder, "p.npz")), "--truth", str(Path(folder, "c.npy"))]
        losses = ["--loss", "log", "--loss", "zero_one", "--no-gap"]
        evaluate = least(run("-m", "rue", "evaluate", *files, *losses))
        yield "rue evaluate, 10,000 x 5 x 10, log and zero_one", evaluate, "limit", 3.0, "<= 1"
        np.savez(Path(folder, "p.npz"), probs=rng.dirichlet(np.ones(10), (500, 5)))
        np.save(Path(folder, "c.npy"), rng.multinomial(50, np.ones(10) / 10, 500))
        evaluate = least(run("-m", "rue", "evaluate", *files)) - bare
        what = "rue evaluate of 500 points with the gap, beyond the start of python"
        yield what, evaluate, "limit", 0.35, "<= 1"


def memory() -> Rows:
    """Peak extra memory of decomposing 4 GB of draws on disk."""
    code = """
import sys, time
import numpy as np
from rue import Draws, decompose
import rue._kernels.draws
warm = decompose(Draws(np.full((4, 2, 3), 1 / 3, np.float32)), "log")
def memory(key):
    return int(open("/proc/self/status").read().split(key)[1].split()[0])

open("/proc/self/clear_refs", "w").write("5")  # forget the peak so far
before = memory("VmRSS:")
start = time.perf_counter()
decompose(Draws(np.load(sys.argv[1], mmap_mode="r")), "log")
print(memory("VmHWM:") - before, time.perf_counter() - start)
"""
    shape = (50_000, 20, 1_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "draws.npy")
        out = np.lib.format.open_memmap(path, "w+", np.float32, shape)
        rng = np.random.default_rng(0)
        for start in range(0, shape[0], 1_000):
            part = rng.random((1_000, *shape[1:]), dtype=np.float32)
            out[start : start + 1_000] = part / part.sum(axis=2, keepdims=True)
        del out
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
        )
    kib, seconds = map(float, done.stdout.split())
    what = f"peak memory, 50,000 x 20 x 1,000 float32 mapped ({seconds:.1f} s)"
    yield what, GiB(kib / 2**20), "limit", GiB(1.0), "<= 1"

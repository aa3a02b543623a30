"""A whole row: a million points from a file, and what its columns of references cost."""

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from rue import Annotations, Draws, Run, evaluate_run
from rue.metrics.columns import unbiased_regret
from rue.metrics.floor import simulate_belief, simulate_floor
from rue.metrics.person import Parity
from rue.metrics.second_order import pair_scores
from rue.metrics.statistics import Area, Hat, Mean, Sample
from rue.truth.realized import person_risk
from speed.pareto import answers_and_draws
from speed.timing import GiB, Rows, least, least_of_both

N_POINTS, N_DRAWS, N_CLASSES = 1_000_000, 5, 10


def rows() -> Rows:
    yield from a_million_points()
    yield from columns()


def a_million_points() -> Rows:
    """Evaluate a file as a process of its own: the time and the peak of its memory."""
    rng = np.random.default_rng(0)
    probs = rng.standard_gamma(0.5, (N_POINTS, N_DRAWS, N_CLASSES)).astype(np.float32)
    probs /= probs.sum(axis=-1, keepdims=True)
    mean = probs.mean(axis=1, dtype=np.float64)
    counts = rng.multinomial(20, mean / mean.sum(axis=1, keepdims=True)).astype(np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.npz")
        np.savez(path, probs=probs, counts=counts, ids=np.arange(N_POINTS).astype(np.str_))
        allowed = GiB((2 * path.stat().st_size + 200e6) / 2**30)
        for options, limit, repeats in (
            (["--no-gap"], 2.5, 3),
            ([], 6.0, 2),
            (["--ci", "0.95", "--no-gap"], 10.0, 1),
        ):
            runs = [_processed("evaluate", str(path), *options) for _ in range(repeats)]
            what = " ".join(["rue evaluate", *options, "of 1,000,000 x 5 x 10"])
            yield what, min(seconds for seconds, _ in runs), "limit", limit, "<= 1"
            yield f"{what}: memory", GiB(min(p for _, p in runs)), "twice the file", allowed, "<= 1"


_MEASURED = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(json.dumps([process.returncode, time.perf_counter() - start, used.ru_maxrss / 2**20]))
"""


def _processed(*arguments: str) -> tuple[float, float]:
    """Return the seconds and the peak memory in GiB of a command, started by a small process."""
    command = [sys.executable, "-m", "rue", *arguments]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *command], capture_output=True, text=True, check=True
    )
    code, seconds, peak = json.loads(done.stdout)
    if code:
        raise RuntimeError(f"{' '.join(command)} exited with {code}")
    return seconds, peak


def columns() -> Rows:
    """Compare columns beyond the plain row with the plain row, at 10,000 points."""
    counts, probs = answers_and_draws(10_000)
    truth, belief = Annotations(counts), Draws(probs)

    def plain():
        evaluate_run(Run.from_belief(truth, belief, "brier"), gap=False, references=False)

    run = Run.from_belief(truth, belief, "brier")

    def further():
        fresh = replace(run)  # without what is computed once
        sample = Sample(fresh)
        pair_scores(truth, belief)
        person_risk(truth, run.loss)
        Parity().value(sample)
        for by in ("epistemic", "total"):
            Area(unbiased_regret, Hat(by)).value(sample)
        Mean(unbiased_regret).value(sample)

    row, extra = least_of_both(plain, further)
    what = "unbiased, pair and person columns, 10,000 x 5 x 10"
    yield what, extra, "the rest of the row", row - extra, "<= 0.5"
    for what, compute, limit in (
        ("floor and true regret, 20 replicates", lambda: simulate_floor(run), 5.0),
        ("expectation, 20 replicates", lambda: simulate_belief(run), 5.0),
        ("both rankings corrected, 16 splits", lambda: _corrected(run), 1.0),
    ):
        yield f"{what}, 10,000 x 5 x 10", least(compute, 2), "limit", limit, "<= 1"


def _corrected(run: Run) -> None:
    from rue.metrics.corrected import corrected_columns
    from rue.truth.answer_losses import answers

    corrected_columns(answers(run.annotations, run.belief, run.loss), run.hat, gap=False)

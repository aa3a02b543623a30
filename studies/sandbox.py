"""Draw the figures of docs/why_not_ood.md; studies.examples writes its tables."""

from matplotlib.figure import Figure

from rue.plots import plot_sandbox, plot_sandbox_curves
from rue.sandbox import run_sandbox
from studies.rows import Row


def figures(_: Row) -> dict[str, Figure]:
    sandbox = run_sandbox(seed=0)
    return {"sandbox": plot_sandbox(sandbox), "sandbox_curves": plot_sandbox_curves(sandbox)}

"""Type checkers reject wrong calls of the public API and accept right ones."""

import re
import subprocess
import sys
from pathlib import Path

import rue

RIGHT_AND_WRONG = """
import numpy as np
import rue
truth, belief = rue.Annotations([[3, 1]]), rue.Draws(np.full((1, 2, 2), 0.5))
row: rue.Evaluation = rue.evaluate(truth, belief, loss="log")
rue.evaluate("x", 3, los=4)  # wrong
rue.evaluate(truth, belief, los="log")  # wrong
rue.evaluate(belief, truth, loss="log")  # wrong
rue.evalute_typo()  # wrong
aurec: float = row.aurec
row.aurecs  # wrong
hat: rue.Components = rue.decompose(belief, "brier")
rue.Components(total=[3.0, 1.0], aleatoric=[2.0, 1.0], epistemic=[1.0, 0.0]).total.mean()
rue.Components(total=[3.0], aleatoric=[2.0], epistemic=[1.0], floor=[0.0])  # wrong
rue.decompose(belief, 3)  # wrong
rue.optimal_selector(hat, maximize="coverage", risk_max=0.1).lam
rue.optimal_selector(hat, maximize="coverages")  # wrong
curve: rue.Curve = rue.regret_coverage_curve(hat.epistemic, hat.epistemic)
rue.plots.plot_curves
rue.plots.plot_curvs  # wrong
rue.inference.compare
rue.metrics.measures.aurec(hat.epistemic, hat.epistemic)
rue.adapters.sklearn.draws
rue.adapters.keras  # wrong
rue.methods.ensemble.fit
rue.metods  # wrong
from rue import aurec_typo  # wrong
"""


def test_mypy_rejects_wrong_calls_and_accepts_right_ones(tmp_path):
    lines = RIGHT_AND_WRONG.splitlines()
    script = tmp_path / "calls.py"
    script.write_text(RIGHT_AND_WRONG)
    root = Path(rue.__file__).parents[2]  # its cache is warm: `make test` runs mypy first
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", script],
        cwd=root,
        capture_output=True,
        text=True,
    )
    rejected = {int(n) for n in re.findall(r"calls\.py:(\d+): error", done.stdout)}
    expected = {i for i, line in enumerate(lines, start=1) if line.endswith("# wrong")}
    assert rejected == expected, done.stdout + done.stderr

"""Why snapshots rank regret well: they learn to trust the total uncertainty of their ensemble.

Snapshots take the mean of an ensemble and learn on validation answers how strong it is, as a
function of the ensemble's total and epistemic uncertainty. If the total is what finds regret, then
the total uncertainty of the plain ensemble must find it as well as the snapshots' epistemic
uncertainty does, while the ensemble's own epistemic uncertainty does not.
"""

from collections.abc import Sequence

import numpy as np

from studies.atlas_analysis import estimate, grid
from studies.pages import table
from studies.rows import Row

LOSS = "log"


def text(rows: Sequence[Row]) -> str:
    """Return the table and one sentence, from the tuned rows."""
    shown = {
        ("snapshots", "n_aurec"): "snapshots, by epistemic",
        ("snapshots", "n_aurec_total"): "by total",
        ("ensemble", "n_aurec"): "ensemble, by epistemic",
        ("ensemble", "n_aurec_total"): "by total",
        ("snapshots", "spearman_hat"): "r_s hat of snapshots",
    }
    found = {key: grid(rows, key[1], LOSS).of(key[0]) for key in shown}
    names = [
        name
        for name in found["snapshots", "n_aurec"]
        if all(name in each and np.isfinite(each[name]) for each in found.values())
    ]
    if not names:
        return "Not run yet."
    lines = [[name, *(f"{each[name]:.3f}" for each in found.values())] for name in names]
    ours = found["snapshots", "n_aurec"]
    to_total, to_disagreement = (
        estimate({name: found["ensemble", key][name] - ours[name] for name in names})
        for key in ("n_aurec_total", "n_aurec")
    )
    return (
        "Snapshots take the mean of an ensemble and learn on validation answers how strong it is, "
        "as a function of the ensemble's total and epistemic uncertainty. Why do they find regret "
        "better than the ensemble does? The ensemble's own total uncertainty finds it about as "
        "well as they do. Its n-AuReC minus theirs is "
        f"{to_total} (mean over {to_total.families}; positive where snapshots are better); "
        f"for the ensemble's epistemic uncertainty, the disagreement of its members, the "
        f"difference is {to_disagreement}. So what snapshots learn is how far to trust the total: "
        "members disagree in other places than where their mean is wrong.\n\n"
        + table(["data set", *shown.values()], lines)
    )

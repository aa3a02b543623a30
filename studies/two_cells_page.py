"""The section of the study's page about the cells that other code has checked."""

import numpy as np

from rue.metrics.columns import title
from studies.pages import table
from studies.rows import Row

SHOWN = {
    "log": ("regret", "aurec", "n_aurec", "n_aurec_total", "pair_log_loss", "agreement_hat"),
    "brier": ("regret_unbiased", "r_aurec", "r_aurec_total", "n_aurec_corrected"),
}
WITHOUT_LOSS = ("pair_log_loss", "agreement_hat")


def checked(record: Row) -> str:
    """Return the section from docs/rows/two-cells.json, or nothing if there is none."""
    if not record:
        return ""
    rows = [
        row
        for row in record["comparisons"]
        if row["standard_errors"] is not None
        and (row["loss"] == "log" or row["column"] not in WITHOUT_LOSS)
    ]
    new = [row for row in rows if row["source"] != "atlas-paper"]
    largest = max(abs(row["standard_errors"]) for row in rows)
    columns, settings = record["columns"], record["settings"]
    exact, sampled = max(columns["largest"].values()), columns["sampled"]
    squares = np.concatenate([[one["mean_square"]] * one["n"] for one in sampled.values()])
    lines = [
        [row["dataset"], row["method"], loss, title(row["column"])]
        + [f"{row[f'{key}_mean']:.4f} ± {row[f'{key}_std']:.4f}" for key in ("own", "stored")]
        + [f"{row['standard_errors']:+.1f}"]
        for loss, keys in SHOWN.items()
        for row in new
        if row["loss"] == loss and row["column"] in keys
    ]
    lines.sort(key=lambda line: line[0], reverse=True)
    head = ["data set", "method", "loss", "column", "other code", "rue", "standard errors"]
    return "\n\n".join(
        [
            "## Checked with other code",
            "Two cells of the paper regime were trained once more by a script in plain torch and "
            "numpy that was written from the pages of rue and not from its source. It trains each "
            f"seed's split {settings['n_repeats']} times with random numbers of its own; their "
            "spread is the noise of training. "
            f"Of {len(rows)} comparisons of a column (with `atlas-paper`, five seeds, and "
            f"`{columns['run']}`, the suite `atlas-baselines` with the paper's settings, three "
            f"seeds) none differs by more than {largest:.1f} standard errors of that noise. "
            f"The table has those with `{columns['run']}`: means and standard deviations over its "
            "three seeds, in the script's case of the mean over its networks of a seed.",
            table(head, lines, text=4),
            mistakes(record["mistakes"]),
            f"The script's columns on the stored predictions of {columns['n_cells']} cells of "
            f"`{columns['run']}` differ from the stored ones by at most {exact:.0e}. Corrected "
            f"n-AuReC halves the answers at random; there the {len(squares)} differences have a "
            f"mean square of {squares.mean():.2f} in units of the error of the halvings (1 is "
            f"expected), and the largest is {max(one['largest'] for one in sampled.values()):.1f} "
            "errors.",
            "The script first differed in two points, about which the pages now say more: in the "
            "ninth digit, because probabilities of float32 are divided by their sum, and in "
            "corrected n-AuReC, because the smaller parts of all points make one half.",
            "`python -m studies two_cells` computed these numbers; they are in "
            "[two-cells.json](../../rows/two-cells.json).",
        ]
    )


def mistakes(rows: list[Row]) -> str:
    """Return how far off the same script is if it makes one mistake on purpose."""
    parts = []
    for row in rows:
        loss = "" if row["column"] in WITHOUT_LOSS else f" under {row['loss']} loss"
        parts.append(
            f"{row['mistake']} ({row['method']}) moves {title(row['column'])}{loss} by "
            f"{abs(row['standard_errors']):.0f} standard errors"
        )
    return f"The comparison can fail: on purpose, {'; '.join(parts)}."

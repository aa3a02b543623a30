"""Measure the calibration of epistemic uncertainty before and after recalibration.

    python -m studies.recalibration [--root ROOT]    measure, draw, fill docs/uncertainty.md
    python -m studies.recalibration --tables-only    fill the page from docs/rows/recalibration.json

The data sets and methods are those of :mod:`studies.plans`.
"""

import argparse

from rue import recalibrate, regret_calibration
from rue.components import Run
from rue.inference import calibration_bands
from studies import DOCS, FIGURES
from studies.pages import fill_file, table
from studies.plans import LOSSES, SETS, methods
from studies.rows import Row, read_rows, stamp, write_rows

PAGE = DOCS / "uncertainty.md"
FOLDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root")
    parser.add_argument("--tables-only", action="store_true")
    arguments = parser.parse_args()
    if not arguments.tables_only:
        rows = [row for name in SETS for row in measured(name, arguments.root)]
        write_rows("recalibration", {"gaps": rows} | stamp("numpy", "scipy", "scikit-learn"))
    fill_file(PAGE, {"recalibration": gaps_table(read_rows("recalibration")["gaps"])})


def measured(name: str, root: str | None = None) -> list[Row]:
    """Return one row per method and loss; draw the log loss of SNLI."""
    people, beliefs = methods(name, root)
    rows = []
    for loss in LOSSES:
        runs = [
            Run.from_belief(people, belief, loss, method=method)
            for method, belief in beliefs.items()
        ]
        for run in runs:
            regret, before = run.star.epistemic, run.hat.epistemic
            after = recalibrate(regret, before, folds=FOLDS)
            bands = calibration_bands(regret, after)
            inside = (bands.low <= bands.curve.estimated) & (bands.curve.estimated <= bands.high)
            rows.append(
                {"data": name, "method": run.method, "loss": loss, "n_points": len(run)}
                | {"regret": float(regret.mean()), "estimated": float(before.mean())}
                | {"recalibrated": float(after.mean()), "folds": FOLDS}
                | {"before": regret_calibration(regret, before).gap, "after": bands.curve.gap}
                | {"inside": int(inside.sum()), "n_bins": len(inside)}
            )
        if (name, loss) == ("chaosnli-snli", "log"):
            draw(runs)
    return rows


def draw(runs: list[Run]) -> None:
    """Draw the reliability diagram."""
    from rue.plots import plot_regret_calibration, save

    save(plot_regret_calibration(runs), FIGURES / "regret_calibration.png")


def gaps_table(rows: list[Row]) -> str:
    """Return the table of docs/uncertainty.md."""
    lines = [
        [
            SETS[row["data"]],
            row["method"],
            row["loss"],
            f"{row['regret']:.4f}",
            f"{row['estimated']:.4f}",
            f"{row['recalibrated']:.4f}",
            f"{row['before']:.4f}",
            f"{row['after']:.4f}",
            f"{row['inside']} of {row['n_bins']}",
        ]
        for row in rows
    ]
    head = ["data", "method", "loss", "mean regret", "mean estimate", "recalibrated"]
    return table([*head, "gap before", "gap after", "bins whose band has the estimate"], lines)


if __name__ == "__main__":
    main()

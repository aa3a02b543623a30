"""rue recalibrate: fit a map from epistemic uncertainty to regret, apply it, show it."""

import math
from pathlib import Path

import numpy as np
import typer

from rue._text import JsonObject
from rue.cli import App, emit_either
from rue.cli.inputs import Matched, OneLoss, method_of, require_other_file
from rue.cli.options import COLUMN, FILE, FORMAT, ONE_METHOD, TableOrJson, argument, option
from rue.components import Components, Run
from rue.deploy.points import DeployPoints, read_calibration, read_of_kind
from rue.deploy.recalibration_map import RecalibrationMap, fit_recalibration_map
from rue.errors import FileError
from rue.io.components import save_components
from rue.io.saving import save_table
from rue.metrics.clusters import cluster_column
from rue.metrics.measures import regret_calibration
from rue.metrics.table import format_grid

app = App(help="Recalibration: make uncertainty as large as the regret.")


@app.command(
    epilog="Example:  rue recalibrate fit cal.npz --truth counts.npy --loss log --out map.json"
)
def fit(
    matched: Matched,
    losses: OneLoss,
    file: str = ONE_METHOD,
    out: Path = option(..., "Write the map to this file, JSON."),
    folds: int = option(5, "Folds of the cross-fitted mean.", min=2),
    cluster: str | None = option(
        None,
        "Column of clusters, such as patients: keep each whole in folds and halves.",
        metavar=COLUMN,
    ),
    seed: int = option(0, "Seed of the folds and halves.", min=0),
    format: TableOrJson = FORMAT,
) -> None:
    """Fit a nondecreasing map from epistemic uncertainty to regret.

    The map is fitted to all points by isotonic regression. The gap before and after is the mean
    difference between estimate and regret over ten bins; after is an estimate for as many new
    points, from maps fitted to halves of the points and measured on the other halves. The order of
    the rows does not matter.

    Exit code 0: the gap falls, or the score had no unit, so that there is no gap before; 1: it does
    not fall (the map is written all the same); 2: invalid input.
    """
    name, files = method_of(file)
    require_other_file("--out", out, [*files, matched.truth, losses.cost])
    points = read_calibration(
        files,
        matched.answers(cluster),
        losses.chosen,
        name=name,
        values=losses.scale,
        matching=matched.matching_for(cluster),
    )
    assert points.star is not None  # calibration points have answers
    fitted = fit_recalibration_map(
        points.star,
        points.hat,
        kind=points.kind,
        folds=folds,
        seed=seed,
        cluster=None if cluster is None else cluster_column(points.groups, cluster),
    )
    fitted.save(out)
    lines = [*_lines(fitted, points.method), f"the map is in {out}"]
    helps = fitted.gap_before is None or fitted.gap_after < fitted.gap_before
    notes = [*points.notes]
    if not helps:
        why = (
            f"The map does not help on new points: the gap does not fall ({fitted.gap_before:.4g} "
            f"before, {fitted.gap_after:.4g} after), so the exit code is 1."
        )
        (notes if format == "json" else lines).append(why)
    emit_either(format, {"map": fitted.to_dict(), "notes": notes}, "\n".join(lines), notes)
    if not helps:
        raise typer.Exit(1)


@app.command(epilog="Example:  rue recalibrate apply new.npz --map map.json --out recalibrated.csv")
def apply(
    matched: Matched,
    file: str = ONE_METHOD,
    map_file: Path = option(..., "A map that rue recalibrate fit wrote.", "--map"),
    out: Path = option(..., "Write the components of each point to this table, .csv or .parquet."),
    format: TableOrJson = FORMAT,
) -> None:
    """Recalibrate the epistemic uncertainty of new points.

    The points must be of the kind that the map is made for: the same method, loss, classes and
    number of draws. The table has the recalibrated epistemic part, the aleatoric part, and as
    epistemic_before what the method estimated; with answers also risk and regret. The other
    commands read it in place of predictions. If the points have answers, the gap on them is
    reported before and after.
    """
    if out.suffix.lower() not in (".csv", ".parquet"):
        raise FileError(f"{out}: --out must be .csv or .parquet, got {out.suffix!r}")
    fitted = RecalibrationMap.load(map_file)
    name, files = method_of(file)
    require_other_file("--out", out, [*files, matched.truth, map_file])
    new = read_of_kind(
        files, fitted.kind, matched.answers(), owner="the map", name=name, matching=matched.matching
    )
    after = fitted.apply(new.hat)
    _write(out, new, after)
    outside = fitted.outside(new.hat.epistemic)
    notes = list(new.notes)
    if outside:
        notes.append(
            f"{outside:,} of {len(after):,} estimates are outside the range that the map was "
            "fitted on; they get the regret at its nearer end"
        )
    if _are_those_of(fitted, new):
        notes.append(
            "the map was fitted on these points, so their gap after it is too low: use the gap "
            "of the map"
        )
    means = _measured(new, after)
    lines = [
        *_lines(fitted, fitted.kind.method or map_file.stem),
        "",
        f"{new.method} · {len(after):,} new points",
        _before_and_after(means),
        f"components are in {out}",
    ]
    facts = {"map": fitted.to_dict(), "new": {"method": new.method} | means, "notes": notes}
    emit_either(format, facts, "\n".join(lines), notes)


@app.command(epilog="Example:  rue recalibrate show map.json --format json")
def show(
    map_file: Path = argument(..., "A map that rue recalibrate fit wrote.", metavar=FILE),
    format: TableOrJson = FORMAT,
) -> None:
    """Print a map: its purpose, its points and its steps."""
    fitted = RecalibrationMap.load(map_file)
    knots = zip(fitted.fitted.epistemic, fitted.fitted.regret, strict=True)
    steps = [["estimate", "regret"], *([f"{e:.4g}", f"{r:.4g}"] for e, r in knots)]
    lines = [*_lines(fitted, fitted.kind.method or map_file.stem), "", format_grid(steps, left=0)]
    emit_either(format, {"map": fitted.to_dict(), "notes": []}, "\n".join(lines))


def _lines(fitted: RecalibrationMap, name: str) -> list[str]:
    low, high = fitted.fitted.epistemic[[0, -1]]
    least, most = fitted.fitted.regret[[0, -1]]
    numbers = {
        "estimate": (fitted.mean_estimate, fitted.mean_recalibrated),
        "regret": fitted.mean_regret,
        "gap": (fitted.gap_before, fitted.gap_after),
    }
    clusters = "" if fitted.n_clusters is None else f" in {fitted.n_clusters:,} clusters"
    return [
        f"{name} · {fitted.kind.loss} loss · fitted on {fitted.n_points:,} points{clusters}",
        _before_and_after(numbers),
        f"after is on points left out: the mean by {fitted.folds} folds, the gap by halves, "
        f"seed {fitted.seed}",
        f"estimates from {low:.4g} to {high:.4g} become {least:.4g} to {most:.4g}",
    ]


def _are_those_of(fitted: RecalibrationMap, new: DeployPoints) -> bool:
    """Return whether points are those of the map, by their number and their means."""
    if new.star is None or len(new.hat) != fitted.n_points:
        return False
    regret, estimate = new.star.epistemic.mean(), new.hat.epistemic.mean()
    return math.isclose(regret, fitted.mean_regret) and math.isclose(estimate, fitted.mean_estimate)


def _before_and_after(means: JsonObject) -> str:
    """Return the table of means and gaps; an unknown number is a dash."""
    rows = [["", "before", "after"]]
    for title, key in (("mean estimate", "estimate"), ("mean regret", "regret"), ("gap", "gap")):
        if key in means:
            pair = means[key] if isinstance(means[key], tuple) else (means[key], means[key])
            rows.append([title, *("-" if value is None else f"{value:.4g}" for value in pair)])
    return format_grid(rows)


def _measured(new: DeployPoints, after: Components) -> JsonObject:
    """Return the means before and after, and with answers the regret and the gaps."""
    before = new.hat.epistemic
    means: JsonObject = {
        "n_points": len(after),
        "estimate": (float(before.mean()), float(after.epistemic.mean())),
    }
    if new.star is not None:
        regret = new.star.epistemic
        gaps = [regret_calibration(regret, part).gap for part in (before, after.epistemic)]
        means |= {
            "regret": float(regret.mean()),
            "gap": (None if new.hat.outside_score else gaps[0], gaps[1]),
        }
    return means


def _write(path: Path, new: DeployPoints, after: Components) -> None:
    before = {"epistemic_before": new.hat.epistemic}
    if new.star is not None:
        loss = new.kind.loss or ""
        run = Run(new.star, after, method=new.method, loss=loss, ids=new.ids, groups=before)
        save_components(path, run)
        return
    columns = {
        "id": new.ids,
        "aleatoric": after.aleatoric,
        "epistemic": after.epistemic,
        **before,
        "loss": np.full(len(after), new.kind.loss) if new.kind.loss else None,
        "method": np.full(len(after), new.method),
    }
    save_table(path, {k: v for k, v in columns.items() if v is not None}, parents=True)

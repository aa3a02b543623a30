"""rue demo: the whole way on real data, in a minute."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rue.cli.options import emit

if TYPE_CHECKING:
    from rue.evaluation import Evaluation

EXAMPLE = "rue demo --out out/demo"


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files; made if missing.")] = Path(
        "out/demo"
    ),
    seed: Annotated[int, typer.Option(help="Of the splits and models.")] = 0,
) -> None:
    """Fetch real ratings, fit three quick models, print their table and draw their curves."""
    import sys

    from rue.cli.sandbox import write_sandbox
    from rue.demo import DATASET, LOSSES, make_predictions
    from rue.evaluation import evaluate_components
    from rue.matching import read_components
    from rue.plots.curves import plot_curves
    from rue.plots.style import save
    from rue.sandbox import run_sandbox
    from rue.tables import format_rows

    out.mkdir(parents=True, exist_ok=True)
    emit(f"Fetching {DATASET} and fitting three models to what people said ...")
    files = make_predictions(out, seed=seed, progress=sys.stderr.isatty())
    runs = [(f.stem, loss, read_components(f, None, loss)) for loss in LOSSES for f in files]
    rows = [
        evaluate_components(c.star, c.hat, loss=loss, method=name, outside=c.outside)
        for name, loss, c in runs
    ]
    save(plot_curves([(name, loss, c.star, c.hat) for name, loss, c in runs]), out / "curves.png")
    write_sandbox(run_sandbox(seed=seed), out)
    emit("\n" + format_rows(rows) + "\n")
    for sentence in _meaning(rows):
        emit(sentence)
    emit(
        f"\nPredictions, curves.png and sandbox.png are in {out}; the table again, from the files:"
    )
    losses = " ".join(f"--loss {loss}" for loss in LOSSES)
    emit(f"  rue evaluate {' '.join(map(str, files))} {losses}")


def _meaning(rows: "list[Evaluation]") -> list[str]:
    """Say in three sentences what the table means."""
    best = min(rows[:3], key=lambda row: row.n_aurec)
    worst = max(rows[:3], key=lambda row: row.n_aurec)
    gaps = sorted(rows[:3], key=lambda row: row.pareto_gap)
    return [
        f"Of {best.n_points:,} snippets, acting on {best.method} costs {best.risk:.3f} nats each, "
        f"of which {best.regret:.3f} is regret: avoidable, had it known what people would say.",
        f"Rejecting by epistemic uncertainty, {best.method} finds that regret best "
        f"(n-AuReC {best.n_aurec:.3f}; 0 is perfect, 1 is chance) and {worst.method} worst "
        f"({worst.n_aurec:.3f}).",
        f"Both components together come closest to the best accept/reject rules in "
        f"{gaps[0].method} (Pareto-gap {gaps[0].pareto_gap:.4f}), least in {gaps[-1].method} "
        f"({gaps[-1].pareto_gap:.4f}).",
    ]

"""rue demo: the whole workflow on real data, in two minutes."""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import typer

from rue._arrays import FloatArray, IntArray
from rue._text import JsonObject
from rue.beliefs import Belief, Dirichlet, Draws
from rue.bench.cells import cells
from rue.bench.store import Store
from rue.bench.suite import read_suite
from rue.bench.tables import read_results, table_rows
from rue.cli import command_line, emit, terminal_width
from rue.cli._progress import run_with_progress
from rue.cli.options import option
from rue.cli.sandbox import write_sandbox
from rue.components import Run
from rue.data import fetch
from rue.data.datasets.random_rbf import random_rbf
from rue.io.runs import read_run
from rue.io.saving import save_predictions
from rue.metrics.evaluation import evaluate, evaluate_run
from rue.metrics.table import format_rows
from rue.report import from_files, from_folder, write_report
from rue.sandbox import run_sandbox
from rue.truth import Annotations

EXAMPLE = "rue demo --out out/demo"


def demo(
    out: Path | None = option(
        None,
        "Folder for the files: created if missing, otherwise resumed. The default is "
        "out/demo, or out/quick with --quick.",
    ),
    quick: bool = option(
        False, "Use synthetic data and small models instead: no network and no torch.", "--quick"
    ),
) -> None:
    """Train six methods on real ratings, and evaluate them.

    Fetch the ratings, print a table of the methods, and write a report page.
    """
    _quick(out or Path("out/quick")) if quick else _whole(out or Path("out/demo"))


def _whole(out: Path) -> None:
    """Run the suite ``demo``: real data, methods that train networks."""
    from rue.plots.curves import plot_curves
    from rue.plots.style import save

    suite = read_suite("demo")
    for name in suite.datasets:
        emit(f"Fetching {name} ...")
        fetch(name, progress=sys.stderr.isatty())
    emit(
        f"Training {len(suite.methods)} methods, {len(suite.seeds)} seeds each (regime "
        f"{suite.regime}) ..."
    )
    compiling = Thread(target=compile_kernels, daemon=True)
    compiling.start()
    report = run_with_progress(suite, out)
    compiling.join()
    for cell, error in report.failed.items():
        emit(f"failed: {cell}: {error}")
    if report.failed:
        raise typer.Exit(1)
    store = Store(out)
    rows = table_rows(read_results(store).rows)
    emit("Drawing the curves, the sandbox and the report ...")
    save(plot_curves(drawn_runs(store), gain=True), out / "curves.png")
    write_sandbox(run_sandbox(seed=0), out)
    write_report(from_folder(out, command=command_line()), out / "report.html")
    _show(rows, meaning(rows, "snippets"))
    first = store.predictions(report.kept[0] if report.kept else sorted(report.done)[0])
    emit(
        f"\nThe report page: {out / 'report.html'}\n"
        f"Predictions (cells/), curves.png and sandbox.png are in {out}. To print the table "
        "again, or to evaluate one method under another loss:\n"
        f"  rue bench table {out}\n"
        f"  rue evaluate {first} --loss absolute"
    )


def _quick(out: Path) -> None:
    """Evaluate three small models on made data."""
    from rue.plots.curves import plot_curves
    from rue.plots.style import save

    points, labels, test, answers = made_data()
    emit(
        f"Made {len(points):,} training points with one label each, and {len(test):,} test points "
        f"that {int(answers.n_annotators[0])} annotators answered."
    )
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, fit in MODELS.items():
        emit(f"Fitting {name} ...")
        files[name] = out / f"{name.replace(' ', '-')}.npz"
        save_predictions(files[name], fit(points, labels, test), annotations=answers, method=name)
    runs = [read_run(path, None, loss) for loss in ("log", "zero_one") for path in files.values()]
    rows = [evaluate_run(run).to_dict() for run in runs]
    save(plot_curves(runs, gain=True), out / "curves.png")
    losses = {"log": "log", "zero_one": "zero_one"}
    report = from_files(files, losses, title="rue demo --quick", command=command_line())
    write_report(report, out / "report.html")
    _show(rows, meaning(rows, "points"))
    emit(
        f"\nThe report page: {out / 'report.html'}\n"
        f"Predictions and curves.png are in {out}. To evaluate one model under another loss:\n"
        f"  rue evaluate {shlex.quote(str(files['forest']))} --loss brier"
    )


def _show(rows: list[JsonObject], sentences: list[str]) -> None:
    """Print the table, and what it means."""
    table = [{key: value for key, value in row.items() if key != "dataset"} for row in rows]
    emit("\n" + format_rows(table, width=terminal_width()) + "\n")
    for sentence in sentences:
        emit(sentence)


#: More points than those for which the Pareto-gap goes through all directions.
_COMPILED = 600


def compile_kernels() -> None:
    """Compile what an evaluation needs, once, so that the processes that train find it on disk."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), size=(_COMPILED, 2))
    truth = Annotations(rng.multinomial(5, probs[:, 0]))
    for belief in (Draws(probs), Dirichlet(probs[:, 0])):
        for loss in ("log", "squared"):
            evaluate(truth, belief, loss)


def drawn_runs(store: Store, *, seed: int = 0) -> list[Run]:
    """Return the runs of all methods and losses of a benchmark, for one seed."""
    suite = store.suite()
    runs: list[Run] = []
    for loss in suite.losses:
        for cell in cells(suite):
            if cell.seed == seed and store.state(cell) == "done":
                run = read_run(store.predictions(cell), None, loss)
                runs.append(replace(run, method=cell.method))
    return runs


def meaning(rows: Sequence[Mapping[str, Any]], points: str) -> list[str]:
    """Return three sentences that explain the table of the first loss; points are called so."""
    rivals = [row for row in rows if row["loss"] == rows[0]["loss"]]
    rivals.sort(key=lambda row: row["n_aurec"])
    best, worst = rivals[0], rivals[-1]
    gaps = sorted(rivals, key=lambda row: row["pareto_gap"])
    return [
        f"On {best['n_points']:,} {points}, the mean loss of {best['method']} is "
        f"{best['risk']:.3f} nats, of which {best['regret']:.3f} is regret: avoidable if the model "
        "knew the distribution of the answers.",
        f"{best['method']} has the lowest n-AuReC, {best['n_aurec']:.3f}, and {worst['method']} "
        f"the highest, {worst['n_aurec']:.3f}: 0 is a perfect ranking of that regret and 1 is a "
        "random one. rue compare tests the difference.",
        f"With both components, {gaps[0]['method']} comes closest to the optimal accept/reject "
        f"rules (Pareto-gap {gaps[0]['pareto_gap']:.4f}; {gaps[-1]['method']}: "
        f"{gaps[-1]['pareto_gap']:.4f}).",
    ]


N_TRAIN, N_TEST, N_ANNOTATORS, N_CLASSES = 1_500, 1_500, 20, 5


def made_data(seed: int = 0) -> tuple[FloatArray, IntArray, FloatArray, Annotations]:
    """Draw training points with one label each, and test points with 20 answers each."""
    world = random_rbf(n_features=5, n_classes=N_CLASSES, n_centroids=25, seed=seed)
    points, labels = world.sample(N_TRAIN, seed=seed + 1)
    test, _ = world.sample(N_TEST, seed=seed + 2)
    rng = np.random.default_rng(seed + 3)
    answers = Annotations(rng.multinomial(N_ANNOTATORS, world.probs(test)))
    return points, labels, test, answers


def forest(points: FloatArray, labels: IntArray, test: FloatArray) -> Belief:
    """Grow a random forest; each of its 100 trees is a draw."""
    from sklearn.ensemble import RandomForestClassifier

    grown = RandomForestClassifier(n_estimators=100, min_samples_leaf=5, random_state=0)
    grown.fit(points, labels)
    return Draws(np.stack([tree.predict_proba(test) for tree in grown.estimators_], axis=1))


def bagging(points: FloatArray, labels: IntArray, test: FloatArray) -> Belief:
    """Fit a logistic regression to each of 20 bootstrap samples; each is a draw."""
    from sklearn.ensemble import BaggingClassifier
    from sklearn.linear_model import LogisticRegression

    bag = BaggingClassifier(LogisticRegression(max_iter=300), n_estimators=20, random_state=0)
    bag.fit(points, labels)
    return Draws(np.stack([model.predict_proba(test) for model in bag.estimators_], axis=1))


def neighbours(points: FloatArray, labels: IntArray, test: FloatArray) -> Belief:
    """Count the labels of near training points; with a prior of 1/2 they make a Dirichlet.

    A neighbour counts exp(-d^2 / 2h^2), with d its distance and h the typical distance of training
    points from their tenth neighbour. Far from them little is counted, and the belief is wide.
    """
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=50).fit(points)
    h = np.median(nearest.kneighbors()[0][:, 9])
    distances, indices = nearest.kneighbors(test)
    weights = np.exp(-0.5 * (distances / h) ** 2)
    counts = np.zeros((len(test), N_CLASSES))
    np.add.at(counts, (np.arange(len(test))[:, None], labels[indices]), weights)
    return Dirichlet(counts + 0.5)


#: The models by the name in the table.
MODELS: dict[str, Callable[[FloatArray, IntArray, FloatArray], Belief]] = {
    "forest": forest,
    "bagged logistic": bagging,
    "neighbours": neighbours,
}

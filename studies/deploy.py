"""Write the outputs, tables and figures of docs/deploy.md, by fitting models and running commands.

    python -m studies.deploy                 run the commands and fill the page
    python -m studies.deploy --trials        run the calibration draws too (resumable)
    python -m studies.deploy --tables-only   write the tables from docs/rows/deploy.json

Predictions are written to out/deploy once and reused.
"""

import argparse
import contextlib
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import rue.data
from rue import Annotations, Components, Problem, decompose, realize
from rue.beliefs import ClassBelief
from rue.data.dataset import DataSet
from rue.deploy import try_promise
from rue.deploy.candidates import best_cut, directions, losses_of
from rue.deploy.rule import Weights, weighted_score
from rue.io.predictions import read_belief
from rue.losses import get_loss
from rue.selectors import solve
from studies import DOCS, OUT
from studies.blocks import with_output
from studies.pages import fill_file, percent, table
from studies.pictures import keep_file
from studies.rows import Row, as_json, read_rows, stamp, write_rows

PAGE = DOCS / "deploy.md"
PROMISES = DOCS / "promises.md"
PREDICTIONS = OUT / "deploy"
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")
DELTA = 0.1
N_DRAWS = {200: 500, 1_000: 200, 5_000: 100}
"""How many calibration sets are drawn, by their number of points."""
N_ANNOTATORS = 20
SCORES: dict[str, Weights | None] = {"learned": None, "total": (1.0, 1.0)}

# World, loss, what is asked for. random-rbf knows p*; there, annotators are drawn anew as well.
STUDIES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("random-rbf", "zero_one", {"risk_max": 0.05, "regret_max": 0.02}),
    ("random-rbf", "absolute", {"risk_max": 0.15, "regret_max": 0.05}),
    ("random-rbf, one label", "zero_one", {"risk_max": 0.05}),
    ("cifar10h", "zero_one", {"risk_max": 0.05, "regret_max": 0.02}),
    ("cifar10h", "absolute", {"risk_max": 0.2, "regret_max": 0.1}),
    ("cifar10h", "zero_one", {"risk_max": 0.05, "normalized": True}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", action="store_true")
    parser.add_argument("--tables-only", action="store_true")
    arguments = parser.parse_args()
    if not arguments.tables_only:
        checksums = predictions(PREDICTIONS)
        if arguments.trials:
            rows = studies(PREDICTIONS)
            write_rows("deploy", stamp(*PACKAGES, checksums=checksums) | {"rows": rows})
        with contextlib.chdir(PREDICTIONS):
            PAGE.write_text(with_output(PAGE.read_text()))
        for name in ("cifar", "movies"):
            keep_file(PREDICTIONS / f"{name}.png", f"deploy_{name}", read_rows("deploy")["rows"])
    fill_file(PROMISES, blocks(read_rows("deploy")["rows"]))


def blocks(rows: list[Row]) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "learned": trials_table(rows, "learned"),
        "total": trials_table(rows, "total"),
        "summary": summary(rows),
        "possible": possible_table(rows),
    }


def predictions(out: Path) -> dict[str, str]:
    """Train an ensemble for each data set, and DDU; return the checksums of the data.

    CIFAR-10H's 10,000 points are split at random into 2,000 to calibrate and 8,000 new ones;
    sentiment-movies has a validation and a test part.
    """
    movies = rue.data.featurize(rue.data.load("sentiment-movies"))
    cifar = rue.data.load("cifar10h-features")
    checksums = {**movies.checksums, **cifar.checksums}
    movies_names = [f"movies{m}-{part}" for m in ("", "-ddu") for part in ("cal", "new")]
    cifar_names = ["cifar", "cifar-few", "cifar-cal", "cifar-new"]
    if all((out / f"{name}.npz").exists() for name in (*movies_names, *cifar_names, "random-rbf")):
        return checksums
    from rue.methods import Fitted, ddu, ensemble

    def say(fitted: Fitted, part: DataSet, name: str) -> None:
        belief = fitted.predict(part.inputs)
        part.save_predictions(out / f"{name}.npz", belief, method=fitted.learner.name)

    fitted = ensemble.fit(rue.data.load("random-rbf"))[0]
    say(fitted, rue.data.load("random-rbf", n_points=100_000, seed=1), "random-rbf")
    for fit, name in ((ensemble.fit, "movies"), (ddu.fit, "movies-ddu")):
        model = fit(movies)[0]
        say(model, movies.part("validation"), f"{name}-cal")
        say(model, movies.part("test"), f"{name}-new")
    fitted = ensemble.fit(cifar)[0]
    say(fitted, cifar.part("test"), "cifar")
    arrays = dict(np.load(out / "cifar.npz"))
    n = len(arrays["ids"])
    order = np.random.default_rng(0).permutation(n)
    for name, rows in (("few", order[:100]), ("cal", order[:2_000]), ("new", order[2_000:])):
        part = {k: v[rows] if v.shape[:1] == (n,) else v for k, v in arrays.items()}
        np.savez(out / f"cifar-{name}.npz", **part)
    return checksums


def studies(out: Path) -> list[Row]:
    """Run all trials; rows that out/trials has already are not run again."""
    (out / "trials").mkdir(exist_ok=True)
    rows = []
    for number, (name, loss, asked) in enumerate(STUDIES):
        for size, n_draws in N_DRAWS.items():
            file = out / "trials" / f"{number}-{size}.json"
            if not file.exists():
                file.write_text(as_json(study(out, name, loss, asked, n_draws, size)))
            rows.append(json.loads(file.read_text()))
    return rows


def study(out: Path, name: str, loss: str, asked: dict[str, Any], n_draws: int, size: int) -> Row:
    """Draw calibration sets from a world, and measure what the fitted rules attain in it."""
    file = out / ("cifar.npz" if name == "cifar10h" else "random-rbf.npz")
    belief = read_belief(file)
    known = belief.truth
    assert isinstance(known, Annotations)
    assert isinstance(belief, ClassBelief)
    bound = get_loss(loss).bound(belief.n_classes)
    star, hat = realize(known, belief, loss), decompose(belief, loss)
    actions = get_loss(loss).action(belief.mean())
    n_annotators = None if name == "cifar10h" else 1 if "one label" in name else N_ANNOTATORS

    def answers(rows: Any, rng: np.random.Generator) -> Components:
        assert n_annotators is not None
        counts = rng.multinomial(n_annotators, known.probs[rows])
        return realize(Annotations(counts), None, loss, actions=actions[rows])

    problem = Problem(maximize="coverage", **asked)
    options: dict[str, Any] = {
        "n_points": size,
        "n_draws": n_draws,
        "answers": None if n_annotators is None else answers,
        "progress": True,
    }

    def trials(**more: Any) -> Row:
        (found,) = try_promise(star, hat, problem, **options, **more)
        return asdict(found)

    row: Row = {
        "world": name,
        "loss": loss,
        "asked": asked,
        "delta": DELTA,
        "n_annotators": n_annotators,
        "n_points": size,
        "n_draws": n_draws,
        "possible": solve(star, problem).coverage,
        "achievable": {
            by: achievable(star, hat, problem, weights) for by, weights in SCORES.items()
        },
        "no_promise": trials(weights=(1, 1)),
        "betting": {
            by: trials(delta=DELTA, bound=bound, weights=weights) for by, weights in SCORES.items()
        },
    }
    print(json.dumps(row), flush=True)
    return row


def achievable(
    star: Components, hat: Components, problem: Problem, weights: Weights | None
) -> float:
    """Return the most coverage of any threshold, by these weights or by any."""
    candidates = directions(hat) if weights is None else [weights]
    weights, tau = best_cut(losses_of(star), hat, problem, candidates)
    return float(np.mean(weighted_score(hat, weights) <= tau))


def trials_table(rows: list[Row], by: str) -> str:
    head = ["world", "loss", "budgets", "points", "broken", "coverage (9 in 10 draws)"]
    head += ["nothing accepted", "best coverage"]
    lines = []
    for r in rows:
        given = r["asked"]
        budgets = ", ".join(f"{k[:-4]} {given[k]:g}" for k in given if k != "normalized")
        new = r["betting"][by]
        lines.append(
            [
                r["world"],
                r["loss"],
                budgets + (" per accepted" if given.get("normalized") else ""),
                f"{r['n_points']:,}",
                percent(new["broken"]),
                f"{new['coverage']:.3f} ({new['coverage_low']:.2f}-{new['coverage_high']:.2f})",
                percent(new["nothing"]),
                f"{r['achievable'][by]:.3f}",
            ]
        )
    return table(head, lines, text=3)


def summary(rows: list[Row]) -> str:
    """Return what the two tables say together."""
    sentences = []
    for by, words in (("learned", "learned weights"), ("total", "the total alone")):
        lost = [row["achievable"][by] - row["betting"][by]["coverage"] for row in rows]
        broken, row = max((row["betting"][by]["broken"], i) for i, row in enumerate(rows))
        error = math.sqrt(DELTA * (1 - DELTA) / rows[row]["n_draws"])
        sentences.append(
            f"With {words}, the promise gives up {percent(float(np.median(lost)))} of coverage "
            f"(median over the rows). At most {percent(broken)} of the rules in a row are broken, "
            f"and the standard error of a share of {percent(DELTA)} is {percent(error)} in that "
            "row."
        )
    return " ".join(sentences)


def possible_table(rows: list[Row]) -> str:
    smallest = min(r["n_points"] for r in rows)
    lines = [
        [
            r["world"],
            r["loss"] + (" (per accepted)" if r["asked"].get("normalized") else ""),
            f"{r['possible']:.3f}",
            f"{r['achievable']['learned']:.3f}",
            f"{r['achievable']['total']:.3f}",
            percent(r["no_promise"]["broken"]),
        ]
        for r in rows
        if r["n_points"] == smallest
    ]
    head = ["world", "loss", "possible", "with learned weights", "with the total"]
    head += ["broken without a promise"]
    return table(head, lines, text=2)


if __name__ == "__main__":
    main()

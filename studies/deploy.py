"""Write the outputs, tables and figures of docs/deploy.md and docs/promises.md.

Models are fitted and commands run; the word `trials` runs the calibration draws, too (resumable).
Predictions are written to out/deploy once and reused.
"""

import contextlib
import json
import math
from collections.abc import Iterator
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
from studies.pages import Columns, percent, table_of
from studies.pictures import keep_file
from studies.rows import Row, as_json, where
from studies.study import Options, Pages, record_of

PAGE = DOCS / "deploy.md"
PROMISES = DOCS / "promises.md"
PREDICTIONS = OUT / "deploy"
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


def compute(_: Row, options: Options) -> Iterator[Row]:
    if "trials" in options.words:
        yield {"checksums": predictions(PREDICTIONS), "rows": studies(PREDICTIONS)}


def run(_: Options) -> Pages:
    """Run the commands of the page."""
    predictions(PREDICTIONS)
    with contextlib.chdir(PREDICTIONS):
        page = with_output(PAGE.read_text())
    for name, source in sources().items():
        keep_file(PREDICTIONS / f"{name.removeprefix('deploy_')}.png", name, source)
    return {PAGE: page}


def sources() -> dict[str, Any]:
    return dict.fromkeys(("deploy_cifar", "deploy_movies"), record_of("deploy")["rows"])


def pages(record: Row) -> Pages:
    """Return the tables of the trials."""
    rows = record["rows"]
    blocks = {
        "learned": trials_table(rows, "learned"),
        "total": trials_table(rows, "total"),
        "summary": summary(rows),
        "possible": possible_table(rows),
    }
    return {PROMISES: blocks}


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
    truth = belief.truth
    assert isinstance(truth, Annotations)
    assert isinstance(belief, ClassBelief)
    bound = get_loss(loss).bound(belief.n_classes)
    star, hat = realize(truth, belief, loss), decompose(belief, loss)
    actions = get_loss(loss).action(belief.mean())
    n_annotators = None if name == "cifar10h" else 1 if "one label" in name else N_ANNOTATORS

    def answers(rows: Any, rng: np.random.Generator) -> Components:
        assert n_annotators is not None
        counts = rng.multinomial(n_annotators, truth.probs[rows])
        return realize(Annotations(counts), None, loss, actions=actions[rows])

    problem = Problem(maximize="coverage", **asked)
    options: dict[str, Any] = {
        "n_points": size,
        "n_draws": n_draws,
        "answers": None if n_annotators is None else answers,
        "progress": True,
    }

    def trials(**more: Any) -> Row:
        (trial,) = try_promise(star, hat, problem, **options, **more)
        return asdict(trial)

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
    """Return what the promise gives with learned weights, or with the total alone."""

    def budgets(row: Row) -> str:
        asked = row["asked"]
        limits = ", ".join(f"{k[:-4]} {asked[k]:g}" for k in asked if k != "normalized")
        return limits + (" per accepted" if asked.get("normalized") else "")

    attained = f"{{betting[{by}][coverage]:.3f}} ({{betting[{by}][coverage_low]:.2f}}-"
    columns: Columns = {
        "world": "{world}",
        "loss": "{loss}",
        "budgets": budgets,
        "points": "{n_points:,}",
        "broken": lambda row: percent(row["betting"][by]["broken"]),
        "coverage (9 in 10 draws)": f"{attained}{{betting[{by}][coverage_high]:.2f}})",
        "nothing accepted": lambda row: percent(row["betting"][by]["nothing"]),
        "best coverage": f"{{achievable[{by}]:.3f}}",
    }
    return table_of(rows, columns, text=3)


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
    """Return what any rule could reach in each world."""
    columns: Columns = {
        "world": "{world}",
        "loss": lambda row: row["loss"] + " (per accepted)" * ("normalized" in row["asked"]),
        "possible": "{possible:.3f}",
        "with learned weights": "{achievable[learned]:.3f}",
        "with the total": "{achievable[total]:.3f}",
        "broken without a promise": lambda row: percent(row["no_promise"]["broken"]),
    }
    smallest = min(row["n_points"] for row in rows)
    return table_of(where(rows, n_points=smallest), columns, text=2)

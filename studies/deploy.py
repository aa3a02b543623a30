"""Make docs/deploy.md's outputs, tables and figures, by fitting models and running commands.

    python studies/deploy.py                 run the commands, fill deploy.md
    python studies/deploy.py --trials        the 500 calibration draws too (minutes)
    python studies/deploy.py --tables-only   write the table from deploy.json

Predictions are written to out/deploy once, and kept; rows of deploy.json carry configuration,
seeds, versions and checksums.
"""

import argparse
import contextlib
import io
import json
import os
import platform
import re
import shlex
import shutil
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np

import rue.data
from rue import Annotations, Components, decompose, optimal_selector, realize
from rue.cli import main as run_rue
from rue.data.dataset import DataSet
from rue.deploy import try_promise
from rue.deploy.candidates import best_cut, directions
from rue.io.predictions import Predictions, read_predictions
from rue.losses import get_loss
from studies import DOCS

PAGE = DOCS / "deploy.md"
ROWS = DOCS / "deploy.json"
OUT = DOCS.parent / "out" / "deploy"
DELTA = 0.1
SIZES = (200, 1_000, 5_000)
N_DRAWS = 500
N_ANNOTATORS = 20

# World, loss, what is asked for. random-rbf knows p*; there, people are drawn anew as well.
STUDIES = (
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
    page = PAGE.read_text()
    if not arguments.tables_only:
        checksums = predictions(OUT)
        if arguments.trials:
            found = {"versions": versions(), "checksums": checksums, "rows": studies(OUT)}
            ROWS.write_text(json.dumps(found, indent=1) + "\n")
        page = run_commands(page, OUT)
        for name in ("cifar", "movies"):
            shutil.copy(OUT / f"{name}.png", DOCS / "figures" / f"deploy_{name}.png")
    PAGE.write_text(fill(page, "trials", table(json.loads(ROWS.read_text())["rows"])))


def versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "torch")
    return {"rue": rue.__version__, "python": platform.python_version()} | {
        name: version(name) for name in packages
    }


def predictions(out: Path) -> dict[str, str]:
    """Train an ensemble for each data set, and DDU; write what they say; give data's checksums.

    CIFAR-10H's 10,000 points are dealt into 2,000 to calibrate and 8,000 new ones; of
    sentiment-movies the validation and the test part are taken.
    """
    movies = rue.data.featurize(rue.data.load("sentiment-movies"))
    cifar = rue.data.load("cifar10h-features")
    checksums = {**movies.checksums, **cifar.checksums}
    movies_names = [f"movies{m}-{part}" for m in ("", "-ddu") for part in ("cal", "new")]
    cifar_names = ["cifar", "cifar-few", "cifar-cal", "cifar-new"]
    if all((out / f"{name}.npz").exists() for name in (*movies_names, *cifar_names, "random-rbf")):
        return checksums
    from rue.methods import ddu, ensemble, save_predictions

    def say(fitted: ensemble.Fitted | ddu.Fitted, part: DataSet, name: str) -> None:
        method = type(fitted).__module__.rpartition(".")[2]
        save_predictions(out / f"{name}.npz", fitted.predict(part.inputs), part, method=method)

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


def studies(out: Path, n_draws: int = N_DRAWS, sizes: tuple[int, ...] = SIZES) -> list[dict]:
    rows = []
    for name, loss, asked in STUDIES:
        rows += study(out, name, loss, asked, n_draws, sizes)
    return rows


def study(
    out: Path, name: str, loss: str, asked: dict, n_draws: int, sizes: tuple[int, ...]
) -> list[dict]:
    """Draw calibration sets from a world and see what rules attain in it."""
    file = out / ("cifar.npz" if name == "cifar10h" else "random-rbf.npz")
    said = read_predictions(file)
    assert isinstance(said, Predictions)
    assert said.truth is not None
    people, belief = said.truth.annotations, said.belief
    bound = get_loss(loss).bound(belief.n_classes)
    star, hat = realize(people, belief, loss), decompose(belief, loss)
    actions = get_loss(loss).action(belief.mean())
    n_annotators = None if name == "cifar10h" else 1 if "one label" in name else N_ANNOTATORS

    def answers(rows: np.ndarray, rng: np.random.Generator) -> Components:
        counts = rng.multinomial(n_annotators, people.probs[rows])
        return realize(Annotations(counts), None, loss, actions=actions[rows])

    options = {
        "n_points": sizes,
        "n_draws": n_draws,
        "answers": None if n_annotators is None else answers,
        "maximize": "coverage",
        "progress": True,
        **asked,
    }
    promised = try_promise(star, hat, delta=DELTA, bound=bound, **options)
    plain = try_promise(star, hat, delta=DELTA, bound=bound, weights=(1, 1), **options)
    none = try_promise(star, hat, **{**options, "n_points": sizes[:1], "weights": (1, 1)})
    possible = optimal_selector(star, maximize="coverage", **asked).coverage
    common = {
        "world": name,
        "loss": loss,
        "asked": asked,
        "delta": DELTA,
        "possible": possible,
        "achievable": achievable(star, hat, asked),
        "broken_without_promise": none[0].broken,
        "n_annotators": n_annotators,
    }
    rows = [
        {**common, **asdict(p), "total": asdict(t)} for p, t in zip(promised, plain, strict=True)
    ]
    for row in rows:
        print(json.dumps(row), flush=True)
    return rows


def achievable(star: Components, hat: Components, asked: dict) -> float:
    """The most coverage of any weights and threshold on the estimated components."""
    from rue.deploy.candidates import Problem, score

    problem = Problem(**asked)
    weights, tau = best_cut(star, hat, problem, directions(hat))
    return float(np.mean(score(hat, weights) <= tau))


def table(rows: list[dict]) -> str:
    lines = [
        "| world | loss | budgets | points | broken | coverage (9 in 10 draws) | nothing accepted "
        "| total alone: broken, coverage | given up |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for r in rows:
        given = r["asked"]
        budgets = ", ".join(f"{k[:-4]} {given[k]:g}" for k in given if k != "normalized")
        per = " per accepted" if given.get("normalized") else ""
        lines.append(
            f"| {r['world']} | {r['loss']} | {budgets}{per} | {r['n_points']:,} "
            f"| {100 * r['broken']:.1f} % "
            f"| {r['coverage']:.3f} ({r['coverage_low']:.2f}-{r['coverage_high']:.2f}) "
            f"| {100 * r['nothing']:.1f} % "
            f"| {100 * r['total']['broken']:.1f} %, {r['total']['coverage']:.3f} "
            f"| {r['possible'] - r['coverage']:.3f} of {r['possible']:.3f} |"
        )
    lines += ["", "| world | loss | possible | with these scores | broken without a promise |"]
    lines += ["|---|---|--:|--:|--:|"]
    for r in rows:
        if r["n_points"] == min(row["n_points"] for row in rows):
            per = " (per accepted)" if r["asked"].get("normalized") else ""
            lines.append(
                f"| {r['world']} | {r['loss']}{per} | {r['possible']:.3f} | {r['achievable']:.3f} "
                f"| {100 * r['broken_without_promise']:.1f} % |"
            )
    return "\n".join(lines)


def run_commands(page: str, out: Path) -> str:
    """Run what stands in each block of the page and put what it prints below it."""

    def answer(found: re.Match[str]) -> str:
        printed = [run(line, out) for line in _commands(found[1])]
        return f"```sh\n{found[1]}```\n\n```text\n{''.join(printed)}```\n"

    return re.sub(r"```sh\n(.*?)```\n\n```text\n.*?```\n", answer, page, flags=re.DOTALL)


def _commands(block: str) -> list[str]:
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def run(command: str, out: Path) -> str:
    """Run a command of the page in the folder of predictions; give what it prints."""
    words = shlex.split(command)
    if words[0] == "cat":
        return (out / words[1]).read_text()
    assert words[0] == "rue", command
    text, here = io.StringIO(), Path.cwd()
    os.chdir(out)
    try:
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            run_rue(words[1:])
    except SystemExit:
        pass
    finally:
        os.chdir(here)
    return text.getvalue()


def fill(page: str, name: str, text: str) -> str:
    """Put text between the marks of that name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    filled, n = re.subn(
        f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL
    )
    assert n == 1, f"deploy.md needs one block {name}"
    return filled


if __name__ == "__main__":
    main()

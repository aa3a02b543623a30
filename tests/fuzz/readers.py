"""Prediction, truth, cost, component, item and rule files: what the commands read."""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import rue
from fuzz import odd, worlds
from fuzz.arrays import change_arrays, npy, write_npz
from fuzz.kinds import Case, kind
from fuzz.tables import change_table, write_csv, write_parquet
from fuzz.trees import change_tree, write_json, write_json_lines
from rue.components import Components, Run
from rue.io.answers import read_truth
from rue.io.cost import read_cost
from rue.io.names import Matching
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.metrics.evaluation import evaluate_run

LOSSES = ("log", "brier", "zero_one", "squared", "absolute", "rps", "pinball:0.8")
REAL_LOSSES = ("squared", "absolute", "crps", "pinball:0.8")


@kind("predictions.npz")
def predictions_npz(case: Case) -> Callable[[Path], Any]:
    arrays = worlds.predictions(case.rng, case.numbers)
    write_npz(
        case.rng,
        case.folder / "a.npz",
        case.changed(change_arrays, arrays),
        lies=case.odd_form,
    )
    return evaluating(case, "a.npz", real="ratings" in arrays)


@kind("truth.npz and .npy")
def truth_arrays(case: Case) -> Callable[[Path], Any]:
    known = {"counts": worlds.counts(case.numbers)}
    if case.rng.random() < 0.3:
        known = {"probs": case.numbers.dirichlet(np.ones(worlds.K), worlds.N)}
    elif case.rng.random() < 0.2:
        known = {"ratings": worlds.ratings(case.numbers)}
    arrays = case.changed(change_arrays, known | {"ids": np.array(worlds.IDS)})
    if case.rng.random() < 0.3 and "counts" in known:
        array = np.asarray(next(iter(arrays.values()), np.zeros(0)))
        content = npy(case.rng, array, lies=case.odd_form)
        (case.folder / "truth.npy").write_bytes(content)
        return joining(case, "truth.npy", real=False, ids=False)
    write_npz(case.rng, case.folder / "truth.npz", arrays, lies=case.odd_form)
    return joining(case, "truth.npz", real="ratings" in known)


@kind("predictions.csv and .parquet")
def prediction_tables(case: Case) -> Callable[[Path], Any]:
    probs = case.numbers.dirichlet(np.ones(worlds.K), (worlds.N, 2))
    table = worlds.long(probs) if case.rng.random() < 0.4 else worlds.wide(probs[:, 0])
    name = _table(case, table)
    write_truth(case)
    return evaluating(case, name, truth="truth.npz")


@kind("truth.csv and .parquet")
def truth_tables(case: Case) -> Callable[[Path], Any]:
    real = case.rng.random() < 0.2
    if real:
        made = worlds.ratings(case.numbers).tolist()
        table = [["id", "annotator", "rating"]]
        for point, row in zip(worlds.IDS, made, strict=True):
            table += [[point, f"w{w}", repr(answer)] for w, answer in enumerate(row)]
    elif case.rng.random() < 0.5:
        table = worlds.answers(case.numbers)
    else:
        groups = {"place": ["x", "y"] * (worlds.N // 2)} if case.rng.random() < 0.3 else None
        table = worlds.wide(worlds.counts(case.numbers), groups)
    return joining(case, _table(case, table), real=real)


@kind("JSON lines")
def json_lines(case: Case) -> Callable[[Path], Any]:
    rng, numbers = case.rng, case.numbers
    of_truth = rng.random() < 0.4
    records: list[dict[str, Any]] = []
    named = rng.random() < 0.5
    for point, row in zip(worlds.IDS, worlds.counts(numbers).tolist(), strict=True):
        probs = numbers.dirichlet(np.ones(worlds.K)).tolist()
        made = {"counts": row} if of_truth else {"probs": probs}
        if named:
            made = {k: dict(zip(worlds.CLASSES, v, strict=True)) for k, v in made.items()}
        records.append({"id": point, **made})
    records = case.changed(change_tree, records)
    write_json_lines(rng, case.folder / "a.jsonl", records, odd_form=case.odd_form)
    if of_truth:
        return joining(case, "a.jsonl", real=False, classes=named)
    write_truth(case, classes=named)
    return evaluating(case, "a.jsonl", truth="truth.npz")


@kind("components")
def components(case: Case) -> Callable[[Path], Any]:
    name = _table(case, worlds.components(case.numbers))
    return evaluating(case, name)


@kind("written and read again")
def round_trip(case: Case) -> Callable[[Path], Any]:
    """Components that are written read back to the same bits, whatever the names in them are."""
    n = worlds.N
    star = Components(*whole_components(case.numbers, n))
    words = [odd.word(case.rng) for _ in range(n)]
    ids = [f"{i} {word}" for i, word in enumerate(words)]
    run = Run(
        star, Components(*whole_components(case.numbers, n)), ids=np.array(ids), method=words[0]
    )
    suffix = case.rng.choice((".csv", ".parquet"))

    def use(folder: Path) -> None:
        rue.io.save_components(folder / f"a{suffix}", run)
        again = read_predictions(folder / f"a{suffix}")
        assert isinstance(again, Run)
        for part, same in ((run.star, again.star), (run.hat, again.hat)):
            for name in ("total", "aleatoric", "epistemic"):
                assert (getattr(part, name) == getattr(same, name)).all(), name

    return use


@kind("cost matrix")
def cost(case: Case) -> Callable[[Path], Any]:
    matrix = case.numbers.integers(0, 9, (worlds.K, worlds.K)).astype(float)
    matrix[0, 1] = 1.0
    if case.rng.random() < 0.4:
        array = case.changed(change_arrays, {"C": matrix})
        made = np.asarray(array.get("C", np.zeros(0)))
        (case.folder / "cost.npy").write_bytes(npy(case.rng, made, lies=case.odd_form))
        name = "cost.npy"
    else:
        table = case.changed(change_table, [list(map(repr, row)) for row in matrix.tolist()])
        write_csv(case.rng, case.folder / "cost.csv", table, odd_form=case.odd_form)
        name = "cost.csv"
    belief = rue.Draws(case.numbers.dirichlet(np.ones(worlds.K), (worlds.N, 2)))
    people = rue.Annotations(worlds.counts(case.numbers))

    def use(folder: Path) -> Any:
        run = Run.from_belief(people, belief, read_cost(folder / name))
        return _numbers(run, gap=case.rng.random() < 0.1)

    return use


@kind("items of a report")
def items(case: Case) -> Callable[[Path], Any]:
    from rue.report.items import items_of

    whole = Components(*whole_components(case.numbers, worlds.N))
    run = Run(whole, whole)
    texts = [f"a text about {i}" for i in range(worlds.N)]
    if case.rng.random() < 0.5:
        arrays: dict[str, Any] = {"ids": np.array(worlds.IDS), "text": np.array(texts)}
        if case.rng.random() < 0.4:
            arrays["images"] = case.numbers.integers(0, 255, (worlds.N, 4, 4, 3)).astype(np.uint8)
            del arrays["text"]
        path = case.folder / "items.npz"
        write_npz(case.rng, path, case.changed(change_arrays, arrays), lies=case.odd_form)
    else:
        rows = [[i, t] for i, t in zip(worlds.IDS, texts, strict=True)]
        path = case.folder / _table(case, [["id", "text"], *rows], stem="items")

    def use(folder: Path) -> Any:
        ids = np.array(worlds.IDS)
        entries: Any = [SimpleNamespace(run=run)]
        return items_of(ids, data=None, file=folder / path.name, texts=None, entries=entries)

    return use


@kind("rule.json")
def rule(case: Case) -> Callable[[Path], Any]:
    n = 40
    star, hat = (Components(*whole_components(case.numbers, n)) for _ in range(2))
    asked: dict[str, Any] = {"maximize": "coverage", "risk_max": 1.5}
    if case.rng.random() < 0.5:
        asked |= {"delta": 0.3, "bound": 2.0}
    made = rue.fit_selector(star, hat, **asked).to_dict()
    tree = case.changed(change_tree, made)
    write_json(case.rng, case.folder / "rule.json", tree, odd_form=case.odd_form)

    def use(folder: Path) -> Any:
        loaded = rue.Rule.load(folder / "rule.json")
        json.dumps(loaded.to_dict(), allow_nan=False)
        return str(loaded), loaded.accept(hat)

    return use


@kind("several files")
def several(case: Case) -> Callable[[Path], Any]:
    """Two methods on the same points: comparisons and plans."""
    from rue.inference.comparison import compare
    from rue.inference.power import plan
    from rue.io.runs import read_runs

    answers = {"counts": worlds.counts(case.numbers), "ids": np.array(worlds.IDS)}
    for name in "ab":
        arrays: dict[str, Any] = worlds.belief(case.rng, case.numbers) | answers
        if name == "b":
            arrays = case.changed(change_arrays, arrays)
        lies = name == "b" and case.odd_form
        write_npz(case.rng, case.folder / f"{name}.npz", arrays, lies=lies)
    loss, planned = case.rng.choice(LOSSES), case.rng.random() < 0.3
    common = not case.valid and case.rng.random() < 0.3

    def use(folder: Path) -> Any:
        files = {name: folder / f"{name}.npz" for name in "ab"}
        matching = Matching(common=common)
        runs = read_runs(files, None, loss, with_answers=planned, matching=matching)
        if planned:
            found: Any = plan(runs, annotators=[2, 10], n_subsamples=2).to_dict()
        else:
            criteria = ("aurec", "n_aurec", "aurc")
            found = compare(runs, criteria=criteria, n_replicates=20).to_dict()
        return json.dumps(found, allow_nan=False)

    return use


@kind("commands")
def commands(case: Case) -> Callable[[Path], Any]:
    """What the commands print of a file: no control characters, and JSON that is JSON."""
    arrays = {"ids": np.array(worlds.IDS), "counts": worlds.counts(case.numbers)}
    arrays |= worlds.belief(case.rng, case.numbers)
    write_npz(
        case.rng, case.folder / "a.npz", case.changed(change_arrays, arrays), lies=case.odd_form
    )
    how = case.rng.choice(("table", "json", "csv", "latex", "markdown"))
    lines = (
        ["evaluate", "a.npz", "--no-gap", "--format", how],
        ["evaluate", "a.npz", "--no-gap", "--by", "class", "--loss", "zero_one"],
        ["select", "a.npz", "--maximize", "coverage", "--regret-max", "0.5"],
        ["rule", "fit", "a.npz", "--maximize", "coverage", "--risk-max", "1.6", "--save", "r.json"],
    )
    line = list(case.rng.choice(lines))

    def use(folder: Path) -> Any:
        placed = [str(folder / w) if w.endswith((".npz", ".json")) else w for w in line]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            _command()(placed, standalone_mode=False)
        printed = out.getvalue()
        assert not {"\x1b", "\x00"} & set(printed), repr(printed)
        if line[-1] == "json":
            json.loads(printed)

    return use


def _command() -> Any:
    """Return the command line, which takes long to make."""
    import typer.main

    from rue.cli import make_app

    if not hasattr(_command, "made"):
        _command.made = typer.main.get_command(make_app())  # type: ignore[attr-defined]
    return _command.made  # type: ignore[attr-defined]


def evaluating(
    case: Case, name: str, *, truth: str | None = None, real: bool = False
) -> Callable[[Path], Any]:
    """Return what evaluates a prediction file under a loss, with its own truth or a file's."""
    loss = case.rng.choice(REAL_LOSSES if real else LOSSES)
    chance = case.rng.random()
    id_name = None if case.valid or chance > 0.02 else case.rng.choice(odd.NAMES)

    def use(folder: Path) -> Any:
        matching = Matching(id_name=id_name)
        answers = None if truth is None else read_truth(folder / truth, matching=matching)
        run = make_run(
            read_predictions(folder / name, matching=matching), answers, loss, matching=matching
        )
        return _numbers(run, gap=chance < 0.05, intervals=chance > 0.9, select=0.5 < chance < 0.6)

    return use


def joining(
    case: Case,
    name: str,
    *,
    real: bool,
    ids: bool = True,
    classes: bool = True,
    named: bool = False,
) -> Callable[[Path], Any]:
    """Return what joins a truth file to valid predictions, where ``named`` with class names."""
    known = worlds.real_belief if real else worlds.belief
    arrays = known(case.rng, case.numbers)
    if ids:
        arrays["ids"] = np.array(worlds.IDS)
    if named or (name.endswith((".csv", ".parquet", ".jsonl")) and not real and classes):
        arrays["classes"] = np.array(worlds.CLASSES)
        if "sampled_labels" in arrays:
            arrays["sampled_labels"] = np.array(worlds.CLASSES)[arrays["sampled_labels"]]
    write_npz(case.rng, case.folder / "valid.npz", arrays, lies=False)
    return evaluating(case, "valid.npz", truth=name, real=real)


def _numbers(
    run: Run, *, gap: bool = False, intervals: bool = False, select: bool = False
) -> dict[str, Any]:
    """Return every number of an evaluation; none may be NaN without being told."""
    from rue.inference.intervals import intervals as bootstrap

    row = evaluate_run(run, gap=gap).to_dict()
    json.dumps(row, allow_nan=False)
    if intervals:
        bootstrap(run, n_replicates=20, gap=False)
    if select:
        with contextlib.suppress(rue.errors.InfeasibleError):
            rue.optimal_selector(run.star, maximize="coverage", regret_max=0.1)
    return row


def _table(case: Case, table: list[list[str]], stem: str = "a") -> str:
    """Write a table, changed unless the case is valid, as .csv or .parquet; return its name."""
    table = case.changed(change_table, table)
    if case.rng.random() < 0.35 and table[0]:
        write_parquet(case.rng, case.folder / f"{stem}.parquet", table, odd_form=case.odd_form)
        return f"{stem}.parquet"
    write_csv(case.rng, case.folder / f"{stem}.csv", table, odd_form=case.odd_form)
    return f"{stem}.csv"


def write_truth(case: Case, *, classes: bool = True) -> None:
    arrays = {"counts": worlds.counts(case.numbers), "ids": np.array(worlds.IDS)}
    if classes:
        arrays["classes"] = np.array(worlds.CLASSES)
    write_npz(case.rng, case.folder / "truth.npz", arrays, lies=False)


def whole_components(numbers: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    aleatoric, epistemic = numbers.random(n).round(3), numbers.random(n).round(3)
    return aleatoric + epistemic, aleatoric, epistemic

"""Compare plans from ten annotators per point with what all annotators show.

    python -m studies.plans [--root ROOT]    measure, write docs/rows/plans.json, fill the page
    python -m studies.plans --tables-only    fill docs/uncertainty.md from docs/rows/plans.json

The pilot has ten random answers about each point. ChaosNLI has published models; on the other data
sets, the methods are bagged logistic regressions and a random forest, trained on other points.
"""

import argparse
import math
import warnings
from typing import Any

import numpy as np

import rue.data
from rue import Annotations, Draws, plan
from rue._arrays import FloatArray, IntArray
from rue.components import Run
from rue.inference.plan_curves import LEAST_MISS
from rue.inference.power import Plan
from rue.truth.answer_losses import Answers
from studies import DOCS
from studies.chaosnli import MODELS, draws, load
from studies.pages import fill_file, table
from studies.rows import Row, read_rows, stamp, write_rows

PAGE = DOCS / "uncertainty.md"
LOSSES = ("log", "brier", "zero_one")
PILOT = 10
MOST_POINTS = 3000
NEAR = 0.2
"""How far a planned number may be from the measured one, relative to it."""
SETS = {
    "chaosnli-snli": "ChaosNLI, SNLI",
    "chaosnli-mnli": "ChaosNLI, MNLI",
    "cifar10h-features": "CIFAR-10H",
    "fashion-mnist-h": "Fashion-MNIST-H",
    "sentiment-movies": "movies",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root")
    parser.add_argument("--tables-only", action="store_true")
    arguments = parser.parse_args()
    if not arguments.tables_only:
        rows: list[Row] = []
        for name in SETS:
            rows += compared(name, arguments.root)
            packages = ("numpy", "scipy", "scikit-learn")
            write_rows("plans", {"plans": rows} | stamp(*packages))
    rows = read_rows("plans")["plans"]
    fill_file(PAGE, blocks(rows))


def blocks(rows: list[Row]) -> dict[str, str]:
    """Return the table of the page, and what it and the choice of the least error show."""
    return {"plans": plans_table(rows), "plans summary": summary(rows), "floor": floor_text(rows)}


def compared(name: str, root: str | None = None, n_draws: int = 10) -> list[Row]:
    """Return one row per loss: the plan from ten annotators, and that from all of them."""
    people, beliefs = methods(name, root)
    assert people.counts is not None
    most = int(people.counts.sum(axis=1).min())
    ms = [m for m in (2, 3, 5, 10, 20, 50, 100) if m < most] + [most]
    rows = []
    for loss in LOSSES:
        whole = [
            Run.from_belief(people, belief, loss, method=method, with_answers=True)
            for method, belief in beliefs.items()
        ]
        said = whole[0].answers
        assert isinstance(said, Answers)
        few = Annotations(said.subsampled(PILOT, np.random.default_rng(1)).counts)
        pilot = [
            Run.from_belief(few, belief, loss, method=method, with_answers=True)
            for method, belief in beliefs.items()
        ]
        alone = [plan([run], annotators=[most], n_subsamples=n_draws).rows[0] for run in whole]
        width = 1.05 * max(row.bracket_width for row in alone)
        known = plan(whole, annotators=ms, n_subsamples=n_draws, width=width)
        planned = plan(pilot, annotators=ms, n_subsamples=n_draws, width=width)
        rows.append(
            {"data": name, "loss": loss, "n_points": len(people), "n_annotators": most}
            | {"pilot": PILOT, "width": width, "n_draws": n_draws}
            | {"all": known.to_dict(), "planned": planned.to_dict()}
        )
        print(name, loss, _needed(planned), known.annotators_needed, flush=True)
    return rows


def _needed(found: Plan) -> str:
    return f"{found.annotators_needed} ± {found.annotators_needed_se}"


def methods(name: str, root: str | None) -> tuple[Annotations, dict[str, Draws]]:
    """Return the answers about some points, and what two methods say about them."""
    if name.startswith("chaosnli"):
        first, *others = [model for model in MODELS if model.data == name]
        _, truth, items, _ = load(first, root)
        whole = draws(items)
        if others:
            return truth, {"RoBERTa": whole, "BERT": draws(load(others[0], root)[2])}
        return truth, {"three seeds": whole, "two seeds": Draws(np.asarray(whole.probs)[:, :2])}
    data = rue.data.load(name, root)
    if name.startswith("sentiment"):
        data = rue.data.featurize(data, encoder="tfidf", root=root)
    assert data.annotations is not None
    rows = np.random.default_rng(0).permutation(np.asarray(data.annotated))
    if data.labels is None:
        train, test = rows[:MOST_POINTS], rows[MOST_POINTS : 2 * MOST_POINTS]
        labels = np.zeros(len(rows), np.int64)
        labels[np.asarray(data.annotated)] = data.annotations.probs.argmax(axis=1)
    else:
        train, test = np.asarray(data.train)[:5000], rows[:MOST_POINTS]
        labels = np.asarray(data.labels)
    place = np.searchsorted(np.asarray(data.annotated), test)
    inputs = _features(np.asarray(data.inputs, float).reshape(len(labels), -1), train)
    said = {
        "logistic": bagged(inputs[train], labels[train], inputs[test], data.n_classes),
        "forest": forest(inputs[train], labels[train], inputs[test], data.n_classes),
    }
    return data.annotations[place], said


def _features(inputs: FloatArray, train: IntArray) -> FloatArray:
    from sklearn.decomposition import PCA

    if inputs.shape[1] > 200:
        inputs = PCA(60, random_state=0).fit(inputs[train]).transform(inputs)
    return np.asarray(inputs / inputs[train].std(axis=0))


def bagged(inputs: FloatArray, labels: IntArray, new: FloatArray, n_classes: int) -> Draws:
    """Return eight logistic regressions, each fitted to a bootstrap sample."""
    from sklearn.linear_model import LogisticRegression

    found = []
    for seed in range(8):
        rows = np.random.default_rng(seed).integers(0, len(labels), len(labels))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sixty steps are enough here
            model = LogisticRegression(max_iter=60).fit(inputs[rows], labels[rows])
        found.append(_all_classes(model.predict_proba(new), model.classes_, n_classes))
    return Draws(np.stack(found, axis=1))


def forest(inputs: FloatArray, labels: IntArray, new: FloatArray, n_classes: int) -> Draws:
    """Return twenty trees of a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(inputs, labels)
    each = [tree.predict_proba(new) for tree in model.estimators_]
    return Draws(np.stack([_all_classes(p, model.classes_, n_classes) for p in each], axis=1))


def _all_classes(probs: FloatArray, classes: IntArray, n_classes: int) -> FloatArray:
    whole = np.full((len(probs), n_classes), 1e-6)
    whole[:, classes] += probs
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))


def plans_table(rows: list[Row]) -> str:
    """Return the table of docs/uncertainty.md."""
    lines = []
    for row in rows:
        planned, known = row["planned"], row["all"]
        last, true = planned["rows"][-1], known["rows"][-1]
        lines.append(
            [
                SETS[row["data"]],
                row["loss"],
                str(true["n_annotators"]),
                _with_error(last, "bracket_width", ".4f"),
                _with_error(true, "bracket_width", ".4f"),
                _with_error(planned, "annotators_needed", ".0f"),
                _with_error(known, "annotators_needed", ".0f"),
                _points(last),
                _points(true),
            ]
        )
    head = ["data", "loss", "annotators", "width: planned", "measured"]
    head += ["annotators for that width: planned", "measured", "points: planned", "measured"]
    return table(head, lines)


def summary(rows: list[Row]) -> str:
    """Return how many planned numbers are near the measured ones, and within their errors."""
    widths, asked, points, errors, far = [], [], [], [], []
    near = f"within {100 * NEAR:.0f} %"
    for row in rows:
        planned, known = row["planned"], row["all"]
        last, true = planned["rows"][-1], known["rows"][-1]
        off = last["bracket_width"] / true["bracket_width"] - 1
        widths.append(abs(off) <= NEAR)
        if abs(off) > NEAR:
            far.append(f"{SETS[row['data']]} under {row['loss']} loss ({100 * off:+.0f} %)")
        error = math.hypot(last["bracket_width_se"], true["bracket_width_se"] or 0.0)
        errors.append(abs(last["bracket_width"] - true["bracket_width"]) / error)
        asked.append(abs(planned["annotators_needed"] / known["annotators_needed"] - 1) <= NEAR)
        if last["reliable"] and true["reliable"]:
            points.append(abs(last["n_points"] / true["n_points"] - 1) <= NEAR)
    return (
        f"Of the {len(rows)} widths, {sum(widths)} are {near} of what all annotators show; the "
        f"others are {' and '.join(far)}. Of the numbers of annotators, {sum(asked)} of "
        f"{len(asked)} are {near}, and of the numbers of points that both plans call reliable "
        f"{sum(points)} of {len(points)}. The planned and the measured width differ by "
        f"less than one standard error in {sum(e < 1 for e in errors)} rows, and by at most "
        f"{max(errors):.1f} standard errors."
    )


def floor_text(rows: list[Row]) -> str:
    """Return what the least error of a width would be, chosen without each data set in turn."""
    misses = {source: _misses(rows, source) for source in dict.fromkeys(map(_source, rows))}
    parts, over, chosen = [], [], []
    for source, own in misses.items():
        others = max(miss for name, miss in misses.items() if name != source)
        over.append(own / others)
        chosen.append(100 * abs(others - LEAST_MISS))
        name = SETS.get(source, "ChaosNLI")
        parts.append(f"{100 * others:.1f} % without {name}, which missed by {100 * own:.1f} %")
    return (
        "Chosen as the largest miss per doubling under log loss of the other data sets, the least "
        f"error is {'; '.join(parts)}. These differ from the {100 * LEAST_MISS:.0f} % in use by at "
        f"most {max(chosen):.1f} percentage points, and a data set that was left out missed by at "
        f"most {max(over):.2f} "
        "times the error chosen without it."
    )


def _source(row: Row) -> str:
    return "chaosnli" if row["data"].startswith("chaosnli") else str(row["data"])


def _misses(rows: list[Row], source: str) -> float:
    """Return the largest error of a source's widths under log loss, per doubling of annotators."""
    found = []
    for row in rows:
        if _source(row) == source and row["loss"] == "log":
            last, true = row["planned"]["rows"][-1], row["all"]["rows"][-1]
            doublings = math.log2(true["n_annotators"] / row["pilot"])
            found.append(abs(math.log(last["bracket_width"] / true["bracket_width"])) / doublings)
    return max(found)


def _with_error(row: dict[str, Any], key: str, form: str) -> str:
    value, error = row[key], row[f"{key}_se"]
    if value is None:
        return "-"
    return f"{value:{form}} ± {error:{form}}" if error is not None else f"{value:{form}} ± ?"


def _points(row: dict[str, Any]) -> str:
    return _with_error(row, "n_points", ",.0f") if row["reliable"] else "not certain"


if __name__ == "__main__":
    main()

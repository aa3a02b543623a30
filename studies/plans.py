"""Compare plans from ten annotators per point with what many annotators show.

    python -m studies.plans [--root ROOT]    measure, write docs/rows/plans.json, fill the page
    python -m studies.plans --tables-only    fill docs/plans.md from docs/rows/plans.json

A pilot has ten random answers about each point; there are ten pilots, so that the result is about
the planner and not about one draw. ChaosNLI has published models; on the other data sets, the
methods are bagged logistic regressions and a random forest, trained on other points.

What all annotators show has an error, too: under 0/1 loss few points are nearly tied. Subsamples of
half of the annotators have a smaller one. Plans are compared with all annotators if the measured
width has an error of at most a tenth, otherwise with half of them.
"""

import argparse
import warnings
from dataclasses import asdict

import numpy as np

import rue.data
from rue import Annotations, Draws, plan
from rue._arrays import FloatArray, IntArray
from rue.components import Run
from rue.truth.answer_losses import Answers
from studies import DOCS
from studies.chaosnli import MODELS, draws, load
from studies.pages import fill_file
from studies.plans_page import SETS, blocks, compared_place, plans_cells
from studies.rows import Row, read_rows, stamp, write_rows

PAGE = DOCS / "plans.md"
LOSSES = ("log", "brier", "zero_one")
PILOT = 10
N_PILOTS = 10
N_MEASURED = 50
"""Draws of the annotators for what is measured; plans have the default number."""
MOST_POINTS = 3000


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


def compared(name: str, root: str | None = None) -> list[Row]:
    """Return one row per loss: plans from ten annotators, and what all of them show."""
    people, beliefs = methods(name, root)
    assert people.counts is not None
    most = int(people.counts.sum(axis=1).min())
    ms = [m for m in (most // 2, most) if m > PILOT]
    rows = []
    for loss in LOSSES:

        def runs(people: Annotations, loss: str = loss) -> list[Run]:
            return [
                Run.from_belief(people, belief, loss, method=method, with_answers=True)
                for method, belief in beliefs.items()
            ]

        whole = runs(people)
        said = whole[0].answers
        assert isinstance(said, Answers)
        first = plan(whole, annotators=ms, n_subsamples=N_MEASURED)
        place = compared_place([asdict(row) for row in first.rows])
        width = 1.05 * first.rows[place].bracket_width
        known = plan(whole, annotators=ms, n_subsamples=N_MEASURED, width=width)
        planned = []
        for seed in range(N_PILOTS):
            few = said.subsampled(PILOT, np.random.default_rng([1, seed])).counts
            planned.append(plan(runs(Annotations(few)), annotators=ms, width=width, seed=seed))
        rows.append(
            {"data": name, "loss": loss, "n_points": len(people), "n_annotators": most}
            | {"pilot": PILOT, "width": width, "n_measured": N_MEASURED}
            | {"all": known.to_dict(), "planned": [each.to_dict() for each in planned]}
        )
        print(name, loss, *plans_cells(rows[-1]), flush=True)
    return rows


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


if __name__ == "__main__":
    main()

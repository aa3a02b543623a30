"""A second look at what surprises in the atlas: forests, made sharper or flatter.

    python -m studies atlas_checks out/atlas   compute docs/rows/atlas-checks.json
    python -m studies --fill atlas             write the page

Under log loss, forests rank their regret well although their regret is high. If that is because
their mean distributions are too flat, it must go when a temperature makes them as sharp as the
answers: it is fitted on half of the test points and measured on the other half, against the same
forest without it.
"""

from collections.abc import Iterator

import numpy as np

from rue import Annotations, Draws, Scored, decompose, evaluate
from rue.bench.store import Store
from rue.bench.tables import read_results
from rue.io.predictions import read_belief
from rue.methods.post_hoc import fit_temperature, temper
from studies import OUT
from studies.pages import listed, spread, table
from studies.rows import Row
from studies.study import Options

METHOD = "forest"


def compute(record: Row, options: Options) -> Iterator[Row]:
    rows = record.get("rows", [])
    for folder in options.folders(OUT / "atlas"):
        new = {(row["dataset"], row["seed"]): row for row in tempered(Store(folder))}
        there = {(row["dataset"], row["seed"]) for row in rows}
        rows = [new.get((row["dataset"], row["seed"]), row) for row in rows]
        rows += [row for key, row in new.items() if key not in there]
        yield {"rows": rows}


def tempered(store: Store) -> list[Row]:
    """Return n-AuReC and AuReC of each forest, as it is and tempered, on half of its points."""
    rows = []
    for cell in read_results(store).raw:
        if cell.method != METHOD:
            continue
        file = read_belief(store.predictions(cell))
        assert isinstance(file.truth, Annotations)
        assert isinstance(file, Draws)
        halves = np.array_split(np.random.default_rng(cell.seed).permutation(len(file)), 2)
        first, second = (np.sort(half) for half in halves)
        belief = Scored(file.mean(), decompose(file, "log").epistemic)
        temperature = fit_temperature(belief[first], file.truth.probs[first])
        answers = file.truth[second].unnamed()
        plain = evaluate(answers, belief[second], "log", gap=False)
        made = evaluate(answers, temper(belief[second], temperature), "log", gap=False)
        rows.append(
            {
                "dataset": cell.dataset,
                "seed": cell.seed,
                "temperature": temperature,
                **{f"{key}_plain": getattr(plain, key) for key in ("n_aurec", "aurec", "regret")},
                **{f"{key}_tempered": getattr(made, key) for key in ("n_aurec", "aurec", "regret")},
            }
        )
    return rows


def text(rows: list[Row]) -> str:
    """Return the table and one sentence."""
    if not rows:
        return "Not run yet."
    lines = []
    groups: dict[str, list[str]] = {"worse": [], "better": [], "no different": []}
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row for row in rows if row["dataset"] == dataset]
        columns = [f"{key}_{how}" for key in ("n_aurec", "regret") for how in ("plain", "tempered")]
        numbers = [spread(row[key] for row in mine) for key in ("temperature", *columns)]
        lines.append([dataset, *numbers])
        change = np.array([row["n_aurec_tempered"] - row["n_aurec_plain"] for row in mine])
        error = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else np.inf
        clear = abs(change.mean()) > 2 * error
        how = "no different" if not clear else "worse" if change.mean() > 0 else "better"
        groups[how].append(dataset)
    head = ["data set", "temperature", "n-AuReC", "tempered", "regret", "tempered"]
    found = [f"{how} on {listed(names)}" for how, names in groups.items() if names]
    return (
        "Forests rank their regret well under log loss, although their regret is high. One reason "
        "could be that their distributions are too flat: then they have regret wherever they are "
        "unsure, which is easy to find, and the good ranking is a symptom of poor predictions. As "
        "a check we fit a temperature of the mean prediction (below 1 is sharper) on half of the "
        "test points, and evaluate the other half with and without it, with the same epistemic "
        f"uncertainty. With the temperature n-AuReC is {listed(found)} (by more than two standard "
        "errors over seeds).\n\n" + table(head, lines)
    )

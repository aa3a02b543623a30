"""Measure AuReC with 2, 3, 5 and 10 of 100 answers on ChaosNLI, for docs/two_answers.md."""

from collections.abc import Callable, Iterator

import numpy as np

from rue import Annotations, Evaluation, evaluate
from rue.truth.answer_losses import answers
from studies import DOCS, chaosnli
from studies.pages import Columns, table_of
from studies.rows import Row
from studies.study import Options, Pages

PAGE = DOCS / "two_answers.md"
NUMBERS = (2, 3, 5, 10)
N_DRAWS = 200
LOSS = "brier"


def compute(_: Row, options: Options) -> Iterator[Row]:
    checksums = chaosnli.load(chaosnli.MODELS[0], options.root)[2].checksums
    settings = {"numbers": NUMBERS, "draws": N_DRAWS, "loss": LOSS}
    yield {"checksums": checksums, "settings": settings, "rows": measure(options.root)}


def measure(root: str | None, n_draws: int = N_DRAWS) -> list[Row]:
    """Return the numbers of each model with all answers, and with few of them."""
    rows = []
    for model in chaosnli.MODELS:
        _, truth, items, _ = chaosnli.load(model, root)
        belief = chaosnli.draws(items)
        whole = evaluate(truth, belief, LOSS, gap=False, references=False)
        rows.append(_row(model.title, int(truth.n_annotators.min()), [whole]))
        all_answers = answers(truth, belief, LOSS)
        for m in NUMBERS:
            rng = np.random.default_rng(m)
            draws = [all_answers.subsampled(m, rng).counts for _ in range(n_draws)]
            few = [
                evaluate(Annotations(counts), belief, LOSS, gap=False, references=False)
                for counts in draws
            ]
            rows.append(_row(model.title, m, few))
    return rows


def _row(model: str, n_answers: int, evaluations: list[Evaluation]) -> Row:
    """Return means and standard deviations over draws of answers."""
    columns = {
        "r_aurec": [row.r_aurec for row in evaluations],
        "plugin": [2 * row.aurec / row.regret for row in evaluations],
        "regret_unbiased": [row.regret_unbiased for row in evaluations],
        "regret": [row.regret for row in evaluations],
    }
    numbers: Row = {"model": model, "n_answers": n_answers, "n_draws": len(evaluations)}
    for name, values in columns.items():
        numbers[name] = float(np.mean(values))
        numbers[f"{name}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return numbers


def pages(record: Row) -> Pages:
    return {PAGE: {"two answers": answers_table(record["rows"])}}


def answers_table(rows: list[Row]) -> str:
    """Return the table of the page."""

    def cell(name: str) -> Callable[[Row], str]:
        return lambda row: (
            f"{row[name]:.3f}" + (f" ± {row[f'{name}_sd']:.3f}" if row["n_draws"] > 1 else "")
        )

    columns: Columns = {
        "model": "{model}",
        "answers": "{n_answers}",
        "r-AuReC": cell("r_aurec"),
        "plug-in ratio": cell("plugin"),
        "unbiased regret": cell("regret_unbiased"),
        "plug-in regret": cell("regret"),
    }
    return table_of(rows, columns) + (
        f"\n\nMeans and standard deviations over {rows[1]['n_draws']} draws of the answers, "
        "without replacement; Brier loss."
    )

"""Measure AuReC with 2, 3, 5 and 10 of 100 answers on ChaosNLI, for docs/two_answers.md.

python -m studies.two_answers [--root ROOT]    measure, write docs/rows/two_answers.json
python -m studies.two_answers --tables-only    write the page from docs/rows/two_answers.json
"""

import argparse

import numpy as np

from rue import Annotations, Evaluation, evaluate
from rue.truth.answer_losses import answers
from studies import DOCS, chaosnli
from studies.pages import fill_file, table
from studies.rows import Row, read_rows, stamp, write_rows

PAGE = DOCS / "two_answers.md"
NUMBERS = (2, 3, 5, 10)
N_DRAWS = 200
LOSS = "brier"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root")
    parser.add_argument("--tables-only", action="store_true")
    options = parser.parse_args()
    if not options.tables_only:
        settings = {"numbers": NUMBERS, "draws": N_DRAWS, "loss": LOSS}
        checksums = chaosnli.load(chaosnli.MODELS[0], options.root)[2].checksums
        made = stamp("numpy", "scipy", checksums=checksums, settings=settings)
        write_rows("two_answers", made | {"rows": measure(options.root)})
    fill_file(PAGE, {"two answers": answers_table(read_rows("two_answers")["rows"])})


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


def answers_table(rows: list[Row]) -> str:
    """Return the table of the page."""
    lines = []
    for row in rows:
        cells = [
            f"{row[name]:.3f}" + (f" ± {row[f'{name}_sd']:.3f}" if row["n_draws"] > 1 else "")
            for name in ("r_aurec", "plugin", "regret_unbiased", "regret")
        ]
        lines.append([row["model"], str(row["n_answers"]), *cells])
    head = ["model", "answers", "r-AuReC", "plug-in ratio", "unbiased regret", "plug-in regret"]
    return table(head, lines) + (
        f"\n\nMeans and standard deviations over {rows[1]['n_draws']} draws of the answers, "
        "without replacement; Brier loss."
    )


if __name__ == "__main__":
    main()

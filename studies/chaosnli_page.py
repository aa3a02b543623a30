"""The tables of docs/chaosnli.md, from the rows of :mod:`studies.chaosnli`."""

from studies.pages import table
from studies.rows import Row


def blocks(rows: Row) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "verdict": verdict_table(rows),
        "temperature": temperature_table(rows),
        "why": why_table(rows),
        "mechanism": mechanism_table(rows),
        "confidence": confidence_table(rows),
    }


def verdict_table(rows: Row) -> str:
    chosen = [row for row in rows["verdict"] if row["belief"] == "published"]
    lines = [
        [
            row["model"],
            row["loss"],
            f"{row['n_points']:,}",
            bracketed(row, "epistemic"),
            bracketed(row, "total"),
            f"{row['regret']:.3f}",
        ]
        for row in chosen
    ]
    head = ["model", "loss", "items", "n-AuReC", "n-AuReC by total", "mean regret"]
    return table(head, lines, text=2)


def temperature_table(rows: Row) -> str:
    lines = []
    losses = list(dict.fromkeys(row["loss"] for row in rows["verdict"]))
    for model in titles(rows):
        for loss in losses:
            row = {
                row["belief"]: row
                for row in rows["verdict"]
                if (row["model"], row["loss"]) == (model, loss)
            }
            cells = [bracketed(row[belief], "epistemic") for belief in row]
            lines.append([model, loss, *cells])
    head = ["model", "loss", "as published"]
    return table([*head, "fitted on labels", "fitted on answers"], lines, text=2)


def why_table(rows: Row) -> str:
    lines = []
    names = {
        ("all", "label"): "all items, one label each",
        ("chosen", "label"): "ChaosNLI's items, one label each",
        ("chosen", "answers"): "ChaosNLI's items, 100 answers each",
        ("least disagreement", "answers"): "the third with least disagreement",
        ("middle disagreement", "answers"): "the middle third",
        ("most disagreement", "answers"): "the third with most disagreement",
    }
    for (items, truth), name in names.items():
        found = {
            row["model"]: row
            for row in rows["why"]
            if (row["items"], row["truth"], row["loss"]) == (items, truth, "log")
        }
        lines.append([name, *(bracketed(found[model], "epistemic") for model in titles(rows))])
    return table(["evaluated on", *titles(rows)], lines)


def mechanism_table(rows: Row) -> str:
    lines = [
        [
            row["model"],
            "the middle third" if name == "middle" else f"the {name} confident third",
            *(f"{row[name][key]:.3f}" for key in ("confidence", "epistemic", "human_entropy")),
            f"{row[name]['regret']:.3f}",
        ]
        for row in rows["mechanism"]
        for name in ("least", "middle", "most")
    ]
    head = ["model", "items", "confidence", "estimated epistemic", "entropy of the answers"]
    return table([*head, "mean regret"], lines, text=2).replace(
        "the middle confident", "the middle"
    )


def confidence_table(rows: Row) -> str:
    names = {"published": "as published", "labels": "labels", "answers": "answers"}
    lines = []
    for row in rows["confidence"]:
        fitted = next(r for r in rows["temperature"] if r["model"] == row["model"])
        halves = list(fitted["answers"])
        values = fitted.get(row["belief"], dict.fromkeys(halves, 1.0))
        shown = ", ".join(f"{values[part]:.2f}" for part in halves)
        lines.append(
            [
                row["model"],
                names[row["belief"]],
                shown,
                f"{row['confidence']:.3f}",
                f"{row['share']:.3f}",
                f"{row['entropy']:.3f}",
                f"{row['human_entropy']:.3f}",
            ]
        )
    head = ["model", "temperature fitted on", "temperatures", "confidence"]
    return table([*head, "share of annotators", "entropy", "entropy of the answers"], lines, text=2)


def titles(rows: Row) -> list[str]:
    """Return the models, in their order."""
    return [row["model"] for row in rows["temperature"]]


def bracketed(row: Row, name: str) -> str:
    """Return a number and its interval."""
    return f"{row[name]:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"

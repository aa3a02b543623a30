"""rue report: one self-contained HTML page."""

import json
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rue.cli import (
    chosen_losses,
    emit,
    matching_of,
    methods_of,
    parse_values,
    reads_files,
    shortest_names,
    truth_of,
)
from rue.cli.options import (
    ByPosition,
    Classes,
    ClusterName,
    Common,
    Corrected,
    Costs,
    IdName,
    Losses,
    Scale,
    TruthFile,
)
from rue.errors import InputError

EXAMPLE = "rue report ensemble.npz ddu.npz --truth counts.npy --loss log --out report.html"


@reads_files
def report(
    files: Annotated[
        list[str],
        typer.Argument(help="Prediction files as for rue evaluate, or one folder of rue bench."),
    ],
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("report.html"),
    truth: TruthFile = None,
    loss: Losses = None,
    values: Scale = None,
    cost: Costs = None,
    id_name: IdName = None,
    classes: Classes = None,
    common: Common = False,
    by_position: ByPosition = False,
    data: Annotated[
        str | None,
        typer.Option(help="Name of the data set (rue data list): adds its card, texts, images."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="Texts or images of the points by id: .csv, .parquet or .npz."),
    ] = None,
    ci: Annotated[
        float | None, typer.Option(help="Add bootstrap intervals of this level, e.g. 0.95.")
    ] = None,
    cluster: ClusterName = None,
    corrected: Corrected = False,
    title: Annotated[str, typer.Option(help="Title of the page.")] = "",
    seed: Annotated[
        int, typer.Option(help="Seed of --ci, and of cost under Dirichlet beliefs.", min=0)
    ] = 0,
    format: Annotated[Literal["table", "json"], typer.Option(help="Output format.")] = "table",
) -> None:
    """Write one self-contained HTML page about your results.

    It has a table, curves, surfaces, a deployment explorer, and facts about data and methods. The
    page needs no network and no server.
    """
    from tqdm import tqdm

    from rue.data.dataset import count
    from rue.report import from_files, from_folder, write_report
    from rue.report.page import require_page

    options: dict[str, object] = {
        "truth": truth,
        "values": values,
        "cost": cost,
        "data": data,
        "items": items,
        "ci": ci,
        "cluster": cluster,
        "corrected": corrected,
        "id": id_name,
        "classes": classes,
        "common": common,
        "by-position": by_position,
    }
    losses = list(dict.fromkeys(loss or []))
    require_page(out)  # fail before the computation, not after it
    command = _command(files, losses, options | {"title": title, "seed": seed, "out": out})
    with tqdm(delay=2, disable=None, leave=False) as bar:

        def step(word: str) -> None:
            bar.set_description(word)
            bar.update()

        if len(files) == 1 and Path(files[0]).is_dir():
            given = [
                name for name, value in {**options, "seed": seed, "loss": losses}.items() if value
            ]
            if given:
                raise InputError(f"--{given[0]} cannot be used with a folder, got {files[0]}")
            made = from_folder(Path(files[0]), title=title, command=command, step=step)
        else:
            matching = matching_of(id_name, classes, common, by_position)
            given_files = methods_of(files)
            stems = shortest_names([paths[0] for _, paths in given_files])
            made = from_files(
                {name or stems[paths[0]]: paths for name, paths in given_files},
                chosen_losses(losses, cost),
                truth=truth_of(truth, matching, by=(cluster,)),
                values=parse_values(values),
                data=data,
                items=items,
                level=ci,
                cluster=cluster,
                corrected=corrected,
                title=title,
                command=command,
                seed=seed,
                matching=matching,
                step=step,
            )
        n_bytes = write_report(made, out, step=step)
    summary: dict[str, Any] = {
        "out": str(out),
        "bytes": n_bytes,
        "data": [card.name for card in made.data],
        "methods": [card.name for card in made.methods],
        "losses": list(dict.fromkeys(entry.loss for entry in made.entries)),
        "n_points": [len(card.items.ids) for card in made.data],
    }
    if format == "json":
        emit(json.dumps(summary, indent=2))
    else:
        counted = [
            count(len(made.data), "data set"),
            count(len(made.methods), "method"),
            count(len(summary["losses"]), "loss", "losses"),
            count(sum(summary["n_points"]), "point"),
            f"{n_bytes / 1e6:.1f} MB",
        ]
        emit(f"{out}: {', '.join(counted)}")


def _command(files: list[str], losses: list[str], options: dict[str, object]) -> str:
    """Return the command that creates this page."""
    words = ["rue", "report", *map(str, files)]
    for name in losses:
        words += ["--loss", name]
    for name, value in options.items():
        if value:  # defaults are empty or 0
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join(words)

"""rue report: one self-contained HTML page."""

from pathlib import Path

from rue._text import JsonObject
from rue.cli import command_line, emit_either, given_options, progress
from rue.cli.inputs import CommandLosses, Matched, files_by_name, require_level
from rue.cli.options import (
    ALSO_CORRECTED,
    CLUSTER,
    FILE,
    FORMAT,
    NAME,
    TableOrJson,
    argument,
    option,
)
from rue.data.dataset import count
from rue.errors import InputError
from rue.report import from_files, from_folder, write_report
from rue.report.page import require_page

EXAMPLE = "rue report ensemble.npz ddu.npz --truth counts.npy --loss log --out report.html"
_OF_FOLDERS = {"--out", "--title", "--format", "--max-memory"}
"""The options beside a folder of a benchmark, which holds all others."""


def report(
    matched: Matched,
    losses: CommandLosses,
    files: list[str] = argument(
        ..., "Prediction files as for rue evaluate, or one folder of rue bench.", metavar=FILE
    ),
    out: Path = option(Path("report.html"), "File to write."),
    data: str | None = option(
        None, "Name of the data set (rue data list): adds its card, texts, images.", metavar=NAME
    ),
    items: Path | None = option(
        None, "Texts or images of the points by id: .csv, .parquet or .npz."
    ),
    ci: float | None = option(None, "Add bootstrap intervals of this level, e.g. 0.95."),
    cluster: str | None = CLUSTER,
    corrected: bool = ALSO_CORRECTED,
    title: str = option("", "Title of the page."),
    seed: int = option(0, "Seed of --ci, and of cost under Dirichlet beliefs.", min=0),
    format: TableOrJson = FORMAT,
) -> None:
    """Write one self-contained HTML page about your results.

    It has a table, curves, surfaces, a deployment explorer, and facts about data and methods. The
    page needs no network and no server.
    """
    require_level("--ci", ci)
    require_page(out)  # fail before the computation, not after it
    command = command_line()
    with progress() as step:
        if len(files) == 1 and Path(files[0]).is_dir():
            wrong = [name for name in given_options() if name not in _OF_FOLDERS]
            if wrong:
                raise InputError(f"{wrong[0]} cannot be used with a folder, got {files[0]}")
            page = from_folder(Path(files[0]), title=title, command=command, step=step)
        else:
            page = from_files(
                files_by_name(files),
                losses.chosen,
                truth=matched.answers(cluster),
                values=losses.scale,
                data=data,
                items=items,
                level=ci,
                cluster=cluster,
                corrected=corrected,
                title=title,
                command=command,
                seed=seed,
                matching=matched.matching_for(cluster),
                step=step,
            )
        n_bytes = write_report(page, out, step=step)
    summary: JsonObject = {
        "out": str(out),
        "bytes": n_bytes,
        "data": [card.name for card in page.data],
        "methods": [card.name for card in page.methods],
        "losses": list(dict.fromkeys(entry.loss for entry in page.entries)),
        "n_points": [len(card.items.ids) for card in page.data],
    }
    counts = [
        count(len(page.data), "data set"),
        count(len(page.methods), "method"),
        count(len(summary["losses"]), "loss"),
        count(sum(summary["n_points"]), "point"),
        f"{n_bytes / 1e6:.1f} MB",
    ]
    emit_either(format, summary, f"{out}: {', '.join(counts)}")

"""The options and arguments that commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

Files = Annotated[
    list[str],
    typer.Argument(
        help="Prediction files (.npz, .jsonl, .csv, .parquet), one per method; or "
        "NAME=FILE,FILE,... for one method in several files.",
        show_default=False,
    ),
]
OneMethod = Annotated[
    str,
    typer.Argument(
        help="A prediction file, as rue evaluate reads it; or NAME=FILE,FILE,... for one method in "
        "several files.",
        show_default=False,
    ),
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth",
        help="The annotators' answers: a file (.npy, .npz, .jsonl, .csv, .parquet), or the name of "
        "a data set (rue data list).",
    ),
]
IdName = Annotated[
    str | None,
    typer.Option(
        "--id", help="The column that names the points, if not id, ids, uid, item or item_id."
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(help="The classes in the order of the columns, for files that do not name them."),
]
Common = Annotated[
    bool, typer.Option("--common", help="Keep only the points whose ids are in both files.")
]
ByPosition = Annotated[
    bool, typer.Option("--by-position", help="Match rows by position, whatever their ids are.")
]
ClusterName = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="COLUMN",
        help="Column of clusters, such as documents: resample whole clusters.",
    ),
]
Corrected = Annotated[
    bool,
    typer.Option(
        "--corrected",
        help="Also print excess AuReC, n-AuReC, r_s star and the Pareto-gap, corrected for the "
        "number of annotators.",
    ),
]
LOSS_NAMES = "log, brier, zero_one, squared, absolute, rps, crps, pinball:Q or cost"
Losses = Annotated[
    list[str] | None,
    typer.Option(help=f"{LOSS_NAMES}; repeat for several."),
]
Scale = Annotated[
    str | None,
    typer.Option(help="Numbers that classes stand for: -1,0,1 (squared, absolute, rps, pinball)."),
]
Costs = Annotated[
    Path | None, typer.Option(help="Cost matrix C[action, class] for --loss cost: .npy or .csv.")
]
LossName = Annotated[
    str,
    typer.Option("--loss", help=f"{LOSS_NAMES}."),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        help="Memory limit for reading a file, e.g. 2GiB; "
        "default 1 GiB or 100 times its size, whichever is more."
    ),
]
Floor = Annotated[
    float | None,
    typer.Option(help="Floor on predicted probabilities, which bounds the log loss."),
]

# A problem of Theorem 1.
Maximize = Annotated[
    Literal["coverage"] | None, typer.Option(help="Accept as much as the budgets allow.")
]
Minimize = Annotated[
    Literal["risk", "regret"] | None, typer.Option(help="Minimise this at --coverage-min.")
]
CoverageMin = Annotated[float | None, typer.Option(help="Accept at least this share.")]
RiskMax = Annotated[float | None, typer.Option(help="The risk budget.")]
RegretMax = Annotated[float | None, typer.Option(help="The regret budget.")]
Normalized = Annotated[
    bool, typer.Option("--normalized", help="Divide risk and regret by the coverage.")
]
TableOrJson = Annotated[Literal["table", "json"], typer.Option("--format", help="Output format.")]


class Format(StrEnum):
    """The formats of :data:`rue.metrics.Format`, as typer reads them."""

    table = "table"
    json = "json"
    csv = "csv"
    latex = "latex"
    markdown = "markdown"

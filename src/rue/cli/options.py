"""Options and arguments that several commands have, each declared once."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

FILE, FOLDER, COLUMN, NAME = "FILE", "FOLDER", "COLUMN", "NAME"
INPUT, INTERVALS, OUTPUT = "Input", "Intervals", "Output"  # groups of options in the help
LOSSES = "log (the default), brier, zero_one, squared, absolute, rps, crps, pinball:Q or cost"


def option(default: Any, text: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    """Declare an option by its default value (... if it is required) and its help."""
    return typer.Option(default, *names, help=text, rich_help_panel=panel, **settings)


def shared(text: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    """Declare an option that several commands have, each with its own default value."""
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


def argument(default: Any, text: str, **settings: Any) -> Any:
    """Declare an argument by its default value (... if it is required) and its help."""
    return typer.Argument(default, help=text, **settings)


Files = Annotated[
    list[str],
    typer.Argument(
        metavar=FILE,
        help="Prediction files (.npz, .jsonl, .csv, .parquet), one per method; or "
        "NAME=FILE,FILE,... for one method in several files.",
    ),
]
OneMethod = Annotated[
    str,
    typer.Argument(
        metavar=FILE,
        help="A prediction file, as rue evaluate reads it; or NAME=FILE,FILE,... for one method in "
        "several files.",
    ),
]
TruthFile = Annotated[
    str | None,
    shared(
        "The annotators' answers: a file (.npy, .npz, .jsonl, .csv, .parquet), or the name of "
        "a data set (rue data list). By default the counts in the prediction file.",
        "--truth",
        metavar=FILE,
    ),
]
LossNames = Annotated[list[str] | None, shared(f"{LOSSES}; repeat for several.", metavar=NAME)]
Values = Annotated[
    str | None,
    shared(
        "Numbers that classes stand for: -1,0,1 (squared, absolute, rps, pinball). "
        "By default 0,1,2,...",
        metavar="NUMBERS",
    ),
]
ClusterOption = Annotated[
    str | None,
    shared(
        "Column of clusters, such as documents: resample whole clusters.",
        panel=INTERVALS,
        metavar=COLUMN,
    ),
]
CorrectedOption = Annotated[
    bool,
    shared(
        "Also print excess AuReC, n-AuReC, r_s star and the Pareto-gap, corrected for the "
        "number of annotators.",
        "--corrected",
        panel=OUTPUT,
    ),
]
DeferFee = Annotated[
    float | None,
    shared(
        "What asking a person about a deferred point costs beyond their risk, in the unit of "
        "the loss.",
        panel=OUTPUT,
        min=0.0,
    ),
]
At = Annotated[float | None, shared("Add risk and regret at this coverage.", panel=OUTPUT)]
CoverageAt = Annotated[
    list[str] | None,
    shared(
        "Add the largest coverage within this risk or regret, e.g. risk=0.05; repeatable.",
        panel=OUTPUT,
        metavar="NAME=NUMBER",
    ),
]
ConventionOption = Annotated[
    Literal["definition", "published"],
    shared("Definition 1, or what the authors' own code computes.", panel=OUTPUT),
]
Root = Annotated[
    Path | None,
    shared("A data folder that is searched before RUE_DATA and the cache.", metavar=FOLDER),
]
MaxMemory = Annotated[
    str | None,
    shared(
        "Memory limit for reading a file, e.g. 2GiB. By default 1 GiB or 100 times its size, "
        "whichever is more.",
        metavar="SIZE",
    ),
]
AnyFormat = Annotated[
    Literal["table", "json", "csv", "latex", "markdown"],
    shared("Output format.", "--format", panel=OUTPUT),
]
TableOrJson = Annotated[
    Literal["table", "json"], shared("Output format.", "--format", panel=OUTPUT)
]
Wide = Annotated[
    bool, shared("Do not fit tables into the width of the terminal.", "--wide", panel=OUTPUT)
]

"""Options and arguments that several commands have, each declared once."""

from typing import Any, Literal

import typer

FILE, FOLDER, COLUMN, NAME = "FILE", "FOLDER", "COLUMN", "NAME"
INPUT, INTERVALS, OUTPUT = "Input", "Intervals", "Output"  # groups of options in the help
LOSSES = "log (the default), brier, zero_one, squared, absolute, rps, crps, pinball:Q or cost"


def option(default: Any, text: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    """Declare an option by its default value (... if it is required) and its help."""
    return typer.Option(default, *names, help=text, rich_help_panel=panel, **settings)


def argument(default: Any, text: str, **settings: Any) -> Any:
    """Declare an argument by its default value (... if it is required) and its help."""
    return typer.Argument(default, help=text, **settings)


FILES = argument(
    ...,
    "Prediction files (.npz, .jsonl, .csv, .parquet), one per method; or NAME=FILE,FILE,... for "
    "one method in several files.",
    metavar=FILE,
)
ONE_METHOD = argument(
    ...,
    "A prediction file, as rue evaluate reads it; or NAME=FILE,FILE,... for one method in several "
    "files.",
    metavar=FILE,
)
TRUTH = option(
    None,
    "The annotators' answers: a file (.npy, .npz, .jsonl, .csv, .parquet), or the name of a data "
    "set (rue data list). By default the counts in the prediction file.",
    "--truth",
    metavar=FILE,
)
LOSS_NAMES = option(None, f"{LOSSES}; repeat for several.", metavar=NAME)
VALUES = option(
    None,
    "Numbers that classes stand for: -1,0,1 (squared, absolute, rps, pinball). By default "
    "0,1,2,...",
    metavar="NUMBERS",
)
CLUSTER = option(
    None,
    "Column of clusters, such as documents: resample whole clusters.",
    panel=INTERVALS,
    metavar=COLUMN,
)
ALSO_CORRECTED = option(
    False,
    "Also print excess AuReC, n-AuReC, r_s star and the Pareto-gap, corrected for the number of "
    "annotators.",
    "--corrected",
    panel=OUTPUT,
)
DEFER_FEE = option(
    None,
    "What asking a person about a deferred point costs beyond their risk, in the unit of the loss.",
    panel=OUTPUT,
    min=0.0,
)
AT = option(None, "Add risk and regret at this coverage.", panel=OUTPUT)
COVERAGE_AT = option(
    None,
    "Add the largest coverage within this risk or regret, e.g. risk=0.05; repeatable.",
    panel=OUTPUT,
    metavar="NAME=NUMBER",
)
CONVENTION = option(
    "definition", "Definition 1, or what the authors' own code computes.", panel=OUTPUT
)
ROOT = option(None, "A data folder that is searched before RUE_DATA and the cache.", metavar=FOLDER)
MAX_MEMORY = option(
    None,
    "Memory limit for reading a file, e.g. 2GiB. By default 1 GiB or 100 times its size, whichever "
    "is more.",
    metavar="SIZE",
)
FORMAT = option("table", "Output format.", "--format", panel=OUTPUT)
WIDE = option(False, "Do not fit tables into the width of the terminal.", "--wide", panel=OUTPUT)
TableOrJson = Literal["table", "json"]

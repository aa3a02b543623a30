"""rue leaderboard: one static page of verified results, and the check of a submission."""

import json
import shlex
from pathlib import Path

import typer

from rue._text import JsonObject, one_line
from rue.cli import App, Group, emit, emit_either, progress
from rue.cli.inputs import parse_values
from rue.cli.options import FOLDER, FORMAT, LOSS_NAMES, TRUTH, VALUES, TableOrJson, argument, option
from rue.errors import InputError, RueError
from rue.io.memory import opened, reading
from rue.leaderboard import (
    References,
    Refused,
    build_leaderboard,
    find_submissions,
    verify,
    write_leaderboard,
    write_submission,
)

EXAMPLE = "rue leaderboard out/bench submissions --out site"


class _BuildByDefault(Group):
    """A group whose command ``build`` need not be named."""

    default_name = "build"


app = App(cls=_BuildByDefault, help="Leaderboards: build a page, check or make a submission.")


@app.command(epilog=f"Example:  {EXAMPLE}")
def build(
    folders: list[Path] = argument(
        ...,
        "Folders of rue bench run, of one submission, or of several submissions. Of two "
        "with the same method, regime and data set, the first keeps the name.",
        metavar=FOLDER,
    ),
    out: Path = option(Path("site"), "Folder to write index.html into.", metavar=FOLDER),
    truth: list[str] | None = option(
        None,
        "NAME=FILE or NAME: the answers that submissions to the data set NAME must have; "
        "by default those of its first verified submission.",
        metavar="NAME=FILE",
    ),
    title: str = option("Leaderboard", "Title of the page."),
    format: TableOrJson = FORMAT,
) -> None:
    """Build one static page from folders.

    You may leave out the word build: rue leaderboard FOLDERS. Every row is computed again from its
    predictions, and marked verified if the submission claimed the same numbers. The page needs no
    network and no server.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out must be a folder, got {out}")
    with progress() as step:
        board = build_leaderboard(folders, truth=_truths(truth or []), step=step)
    path = write_leaderboard(board, out, title=title, command=_command(folders, out, truth, title))
    lines = [f"{path}: {board.n_rows} rows, {board.n_verified} verified"]
    rows = []
    for part in board.boards:
        for row in part.rows:
            own: JsonObject = {"data": part.data, "loss": part.loss, "method": row.method}
            own |= {"regime": row.regime, "verified": row.verified, "problem": row.problem}
            rows.append(own | {"n_aurec": row.numbers.get("n_aurec")})
            if row.problem:
                lines.append(
                    f"not verified: {row.method} on {part.data}, {part.loss}: {row.problem}"
                )
    refused = [{"folder": str(e.folder), "reason": e.reason} for e in board.refused]
    lines += [f"not accepted: {e.folder}: {e.reason}" for e in board.refused]
    facts = {"out": str(path), "rows": rows, "refused": refused}
    emit_either(format, facts, "\n".join(lines))


@app.command(epilog="Example:  rue leaderboard check mine")
def check(
    folder: Path = argument(..., "The folder of a submission.", metavar=FOLDER),
    truth: str | None = option(
        None, "The answers it must have: a truth file or the name of a data set."
    ),
    format: TableOrJson = FORMAT,
) -> None:
    """Accept or refuse a submission, in one line.

    Exit code 0: accepted; 2: refused.
    """
    reason, submissions = "", []
    try:
        for submission in find_submissions(folder):
            if isinstance(submission, Refused):
                raise InputError(submission.reason)
            submissions.append(submission)
        references = References({} if truth is None else {s.data: truth for s in submissions})
        problems = (verify(submission, references).problem for submission in submissions)
        reason = next(filter(None, problems), "")
    except RueError as error:
        reason = str(error)
    facts: JsonObject = {"folder": str(folder), "accepted": not reason, "reason": reason}
    text = one_line(f"refused: {folder}: {reason.removeprefix(f'{folder}: ')}")
    if submissions:
        first = submissions[0]
        facts |= {"method": first.method, "data": first.data, "regime": first.regime}
        facts |= {"losses": list(first.claims), "seeds": [s.seed for s in submissions]}
        if not reason:
            names = ", ".join(dict.fromkeys(map(str, submissions)))
            text = f"accepted: {folder}: {names}, under {', '.join(first.claims)}"
    emit_either(format, facts, text)
    if reason:
        raise typer.Exit(2)


@app.command(
    epilog="Example:  rue leaderboard pack mine.npz --data cifar10h --truth cifar10h --out mine"
)
def pack(
    file: Path = argument(..., "A prediction file, as for rue evaluate."),
    data: str = option(..., "Name of the data set."),
    out: Path = option(..., "Folder to write; it must be new or empty.", metavar=FOLDER),
    truth: str | None = TRUTH,
    loss: list[str] | None = LOSS_NAMES,
    values: str | None = VALUES,
    method: str = option("", "Name of the method, if not the file's own."),
    regime: str = option("own", "Training regime: paper, tuned or any other."),
    seed: int = option(0, "Seed, by which some data sets choose their test points.", min=0),
    settings: Path | None = option(None, "A JSON file that says how the method was trained."),
    link: str = option("", "A web page about the method."),
) -> None:
    """Make the folder of a submission from predictions.

    It holds the predictions, and row.json with their numbers.
    """
    row = write_submission(
        file,
        out,
        data=data,
        losses=loss or ["log"],
        truth=truth,
        method=method,
        regime=regime,
        seed=seed,
        values=parse_values(values),
        settings=None if settings is None else _settings(settings),
        link=link,
    )
    emit(f"{out}: {row}, under {', '.join(row.claims)}; check it with rue leaderboard check {out}")


def _settings(path: Path) -> JsonObject:

    with opened(path) as file, reading(path, "JSON"):
        settings = json.load(file)
    if not isinstance(settings, dict):
        raise InputError(f"--settings must hold a JSON object, got {type(settings).__name__}")
    return settings


def _truths(pairs: list[str]) -> dict[str, str]:
    sources = {}
    for text in pairs:
        name, sign, source = text.partition("=")
        if not name or (sign and not source):
            raise InputError(f"--truth must look like NAME=FILE or NAME, got {text!r}")
        sources[name] = source or name
    return sources


def _command(folders: list[Path], out: Path, truth: list[str] | None, title: str) -> str:
    """Return the command that creates the page."""
    words = ["rue", "leaderboard", *map(str, folders), "--out", str(out)]
    for source in truth or []:
        words += ["--truth", source]
    return shlex.join(words if title == "Leaderboard" else [*words, "--title", title])

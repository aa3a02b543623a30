"""Render a leaderboard as one self-contained HTML page, in the style of the report."""

from collections.abc import Mapping
from pathlib import Path

from rue import __version__
from rue._text import JsonObject
from rue.errors import FileError
from rue.io.atomic import replacing
from rue.leaderboard.board import RANKED_BY, Board, BoardRow, Leaderboard
from rue.metrics.columns import EVALUATED
from rue.metrics.columns import title as column_title
from rue.report.page import assemble, asset
from rue.report.page_content import leaderboard_columns

_PACKAGE = "rue.leaderboard"
_SHARED = ("text", "arrays", "dom", "theme", "table")
_OWN = ("ranks", "board")


def write_leaderboard(
    board: Leaderboard, folder: str | Path, *, title: str = "Leaderboard", command: str = ""
) -> Path:
    """Write the page of a leaderboard, completely or not at all.

    Parameters
    ----------
    board : Leaderboard
        The content.
    folder : path
        The folder to write ``index.html`` into; it is created if it does not exist.
    title, command : str
        The title of the page, and the command that creates it.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileError
        If the page cannot be written.

    Examples
    --------
    >>> from rue.leaderboard import Leaderboard, write_leaderboard
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_leaderboard(Leaderboard((), ()), folder).name
    'index.html'
    """
    path = Path(folder) / "index.html"
    if Path(folder).exists() and not Path(folder).is_dir():
        raise FileError(f"{folder}: must be a folder")
    with replacing(path, parents=True) as file:
        file.write(render_leaderboard(board, title=title, command=command).encode())
    return path


def render_leaderboard(board: Leaderboard, *, title: str = "Leaderboard", command: str = "") -> str:
    """Return the page of a leaderboard as text."""
    settings: list[JsonObject] = []
    content = {
        "title": title,
        "version": __version__,
        "command": command,
        "columns": [column for column in leaderboard_columns() if column["key"] in EVALUATED],
        "criteria": [{"key": key, "title": column_title(key)} for key in RANKED_BY],
        "boards": [_board(each, settings) for each in board.boards],
        "settings": settings,
        "refused": [{"folder": str(each.folder), "reason": each.reason} for each in board.refused],
    }
    return assemble(
        asset("page.html", _PACKAGE),
        kind="leaderboard",
        title=title,
        style=asset("style.css") + asset("board.css", _PACKAGE),
        scripts=[
            *(asset(f"{name}.js") for name in _SHARED),
            *(asset(f"{name}.js", _PACKAGE) for name in _OWN),
        ],
        content=content,
    )


def _board(board: Board, settings: list[JsonObject]) -> JsonObject:
    return {
        "data": board.data,
        "loss": board.loss,
        "facts": dict(board.facts),
        "rows": [_row(row, settings) for row in board.rows],
        "rankings": {
            regime: {
                criterion: {
                    "places": [int(place) for place in ranking.methods],
                    "probability": ranking.rank_probability.tolist(),
                    "expected": list(ranking.expected_rank.values()),
                    "best": [int(place) for place in ranking.best],
                    "sentence": board.sentence(regime, criterion),
                }
                for criterion, ranking in regime_ranking.items()
            }
            for regime, regime_ranking in board.rankings.items()
        },
    }


def _row(row: BoardRow, settings: list[JsonObject]) -> JsonObject:
    card = {
        "method": row.method,
        "regime": row.regime,
        "source": str(row.source),
        "link": row.link,
        "facts": _flat(row.settings),
    }
    if card not in settings:
        settings.append(card)
    return {
        "method": row.method,
        "regime": row.regime,
        "seeds": list(row.seeds),
        "row": dict(row.numbers),
        "problem": row.problem,
        "note": row.note,
        "settings": settings.index(card),
    }


def _flat(settings: Mapping[str, object], before: str = "") -> dict[str, str]:
    """Return settings as names and texts; those within others have both names."""
    facts: dict[str, str] = {}
    for key, value in settings.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            facts |= _flat(value, f"{name}: ")
        elif value is not None:
            facts[name] = f"{value:g}" if isinstance(value, float) else str(value)
    return facts

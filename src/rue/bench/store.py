"""A folder of finished cells, each written completely or not at all.

::

    DIR/suite.toml                                  the suite that was run
    DIR/cells/<dataset>/<method>/<seed>/predictions.npz   what rue evaluate reads
                                       /row.json          all else; written last
                                       /error.txt         why it failed, if it did
    DIR/checkpoints/                                networks for images in training

``row.json`` contains the checksums of the predictions and of itself, so that an incomplete or
damaged cell is detected and run again. One run at a time may write to a folder.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from rue._schema import build, plain, read_content
from rue._text import JsonObject
from rue.beliefs import Convention, require_convention
from rue.bench.cells import Cell, CellRow, json_checksum
from rue.bench.suite import Suite, read_suite
from rue.bench.tasks import Result
from rue.errors import FileError, InputError
from rue.io.atomic import Held, locked, replacing, write_json
from rue.io.predictions import read_predictions
from rue.io.runs import make_run
from rue.metrics.evaluation import evaluate_run

State = Literal["done", "missing", "stale", "corrupt"]
"""Whether a cell is finished, and if not, why not."""


class Store:
    """The folder of a run.

    Parameters
    ----------
    folder
        Made when the first thing is written to it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._held: tuple[int, int] | None = None

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints of image networks."""
        return self.folder / "checkpoints"

    def path(self, cell: Cell) -> Path:
        """Return the folder of a cell."""
        return self.folder / "cells" / cell.dataset / cell.method / str(cell.seed)

    def make_checkpoints(self, cell: Cell) -> None:
        """Create the folder in which the checkpoints of a cell are kept."""
        self._make((self.checkpoints / str(cell)).parent)

    def predictions(self, cell: Cell) -> Path:
        """Return the path of a cell's prediction file."""
        return self.path(cell) / "predictions.npz"

    def suite(self) -> Suite:
        """Return the suite whose results the folder contains."""
        path = self.folder / "suite.toml"
        if not path.is_file():
            raise FileError(f"{self.folder} holds no benchmark: it has no suite.toml")
        return read_suite(str(path))

    def keep_suite(self, suite: Suite) -> None:
        """Write the suite to the folder; raise if it contains results of another suite."""
        path = self.folder / "suite.toml"
        held = self.suite() if path.exists() else None
        if held is not None and held.name != suite.name:
            raise InputError(
                f"{self.folder} holds results of the suite {held.name}, not {suite.name}"
            )
        if held is None or held.text != suite.text:
            _write(path, suite.text.encode())

    def state(self, cell: Cell, config_hash: str | None = None) -> State:
        """Return the state of a cell; one with another configuration is stale."""
        if not (self.path(cell) / "row.json").exists():
            return "missing"
        try:
            row = self.row(cell)
        except FileError:
            return "corrupt"
        if config_hash is not None and row.config_hash != config_hash:
            return "stale"
        try:
            content = self.predictions(cell).read_bytes()
        except OSError:
            return "corrupt"
        whole = hashlib.sha256(content).hexdigest() == row.predictions_sha256
        return "done" if whole else "corrupt"

    def row(self, cell: Cell) -> CellRow:
        """Read a cell's row; raise FileError if it is missing or damaged."""
        return read_content(
            self.path(cell) / "row.json", "a row of a cell", lambda content: _checked(content, cell)
        )

    def write(self, result: Result) -> None:
        """Store a finished cell: the predictions, then the row with their checksum."""
        folder = self.path(result.cell)
        checksum = hashlib.sha256(result.predictions).hexdigest()
        row = plain(replace(result.row, predictions_sha256=checksum))
        row["checksum"] = json_checksum(row)
        self.require_in_place()
        try:
            self._make(folder)
            (folder / "row.json").unlink(missing_ok=True)
            _write(folder / "predictions.npz", result.predictions)
            write_json(folder / "row.json", row, indent=1)
        except (OSError, FileError) as error:
            raise FileError(
                f"cannot store {result.cell}: {error}; finished cells are kept, run again to resume"
            ) from None
        (folder / "error.txt").unlink(missing_ok=True)
        shutil.rmtree(self.checkpoints / str(result.cell), ignore_errors=True)

    def write_error(self, cell: Cell, text: str) -> None:
        """Write why a cell failed into its folder."""
        self.require_in_place()
        with suppress(OSError, FileError):
            self._make(self.path(cell))
            _write(self.path(cell) / "error.txt", text.encode())

    def error(self, cell: Cell) -> str | None:
        """Return the last line of the error of a cell, or None."""
        path = self.path(cell) / "error.txt"
        lines = path.read_text(encoding="utf-8").strip().splitlines() if path.is_file() else []
        return lines[-1] if lines else None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder for one run; the lock is released when the process ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with locked(self.folder / ".lock", wait=False):
                self._held = self._identity()
                yield
        except Held as other:
            raise InputError(
                f"{self.folder} is in use by another run (process {other.process or 'unknown'}): "
                "wait for it",
                advice={"--out": "starts another run in another folder"},
            ) from None
        finally:
            self._held = None

    def require_in_place(self) -> None:
        """Raise if the folder of a run was moved or removed since :meth:`lock` took it."""
        if self._held is not None and self._identity() != self._held:
            raise FileError(
                f"{self.folder} was moved or removed during the run: nothing more is written; "
                "finished cells are where it was moved to",
                advice={"--out": "with that folder resumes the run"},
            )

    def _make(self, inner: Path) -> None:
        """Create a folder within the folder of the run, which itself is never created again."""
        path = self.folder
        for name in inner.relative_to(self.folder).parts:
            path = path / name
            path.mkdir(exist_ok=True)

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self.folder.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def _checked(content: Mapping[str, object], cell: Cell) -> CellRow:
    """Return the row that a file holds; raise InputError unless it is whole and of this cell."""
    stored = {key: value for key, value in content.items() if key != "checksum"}
    row = build(CellRow, stored, unknown="ignore")
    if content.get("checksum") != json_checksum(stored):
        raise InputError("its checksum does not match")
    if row.cell != cell:
        raise InputError(f"it is of another cell, {row.cell}")
    return row


def convention_of(row: Mapping[str, Any]) -> str:
    """Return the convention of a row: Definition 1 if the row was written before there were two."""
    return str(row.get("convention") or "definition")


def with_convention(
    store: Store,
    rows: Iterable[Mapping[str, Any]],
    convention: Convention,
    *,
    progress: bool = False,
) -> list[JsonObject]:
    """Return rows of single seeds under a convention; nothing is trained again."""
    from tqdm import tqdm

    require_convention(convention)
    name = store.suite().name
    new_rows = []
    whole = list(rows)
    for row in tqdm(whole, desc=convention, delay=2, disable=None if progress else True):
        if not row["loss"] or convention_of(row) == convention:
            new_rows.append(dict(row))
            continue
        cell = Cell(name, row["dataset"], row["method"], row["seed"])
        if store.state(cell) == "corrupt":
            raise FileError(f"the predictions of {cell} are damaged: run the suite again")
        predictions = read_predictions(store.predictions(cell))
        run = make_run(predictions, None, row["loss"], convention=convention)
        numbers = evaluate_run(replace(run, method=row["method"])).to_dict()
        new_rows.append({"dataset": row["dataset"], "seed": row["seed"], **numbers})
    return new_rows

"""The content of a submission's row.json, checked before it is used."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from rue._schema import Constraint, Count
from rue.bench.store import convention_of
from rue.errors import InputError
from rue.losses import get_loss
from rue.metrics.columns import COLUMNS

OWN_REGIME = "own"
"""The regime of a submission that names none: its settings are its own."""

_LONGEST = 200
_DEEPEST = 8
_NOT_CLAIMS = (
    *("loss", "method", "group", "notes", "convention", "n_points", "n_floored"),
    *("person_kind", "defer_fee"),
)


def _is_name(text: str) -> bool:
    return len(text.strip()) > 0 and len(text) <= _LONGEST


def _is_file_name(text: str) -> bool:
    return _is_name(text) and Path(text).name == text


def _is_flat(value: object, levels: int) -> bool:
    """Return whether objects and lists are nested at most so deeply."""
    inner = value.values() if isinstance(value, Mapping) else value
    if not isinstance(inner, Collection) or isinstance(inner, str):
        return True
    return levels > 0 and all(_is_flat(part, levels - 1) for part in inner)


Name = Annotated[str, Constraint(f"a name of at most {_LONGEST} characters", _is_name)]
FileName = Annotated[str, Constraint("the name of a file in the same folder", _is_file_name)]
Checksum = Annotated[
    str,
    Constraint("64 digits, hexadecimal", lambda v: bool(re.fullmatch(r"[0-9a-f]{64}", v))),
]
Decimals = Annotated[
    int, Constraint("a number of decimals from 3 to 12", lambda v: bool(3 <= v <= 12))
]
Settings = Annotated[
    Mapping[str, object],
    Constraint(f"an object with at most {_DEEPEST} levels", lambda v: _is_flat(v, _DEEPEST)),
]
Claim = Mapping[str, int | float | str | tuple[str, ...] | None]


@dataclass(frozen=True, kw_only=True)
class SubmittedRow:
    """What a row.json states; the fields are those of :class:`rue.leaderboard.Submission`."""

    method: Name
    data: Name
    rows: Annotated[
        tuple[Claim, ...], Constraint("a list of one object for each loss", lambda v: len(v) > 0)
    ]
    regime: Name = OWN_REGIME
    seed: Count = 0
    truth: FileName | None = None
    predictions: FileName | None = None
    values: tuple[float, ...] | None = None
    predictions_sha256: Checksum | None = None
    data_sha256: Checksum | None = None
    digits: Decimals | None = None
    settings: Settings = field(default_factory=dict)
    link: Annotated[
        str,
        Constraint(
            "an address that starts with https:// or http://",
            lambda v: not v or bool(re.fullmatch(r"https?://[^\s]+", v)),
        ),
    ] = ""

    def claims(self) -> dict[str, dict[str, float | None]]:
        """Return the claimed numbers by loss and column; raise InputError at an invalid one."""
        by_loss: dict[str, dict[str, float | None]] = {}
        for i, row in enumerate(self.rows):
            where, loss = f"rows[{i}]", row.get("loss")
            if not isinstance(loss, str):
                raise InputError(f"{where}.loss must be the name of a loss, got {loss!r:.60}")
            get_loss(loss)
            if loss in by_loss:
                raise InputError(f"{where}.loss must be another than before, got {loss} twice")
            if row.get("method", self.method) != self.method:
                raise InputError(f"{where}.method must be {self.method}, got {row['method']!r:.60}")
            require_definition(row)
            if "n_aurec" not in row:
                raise InputError(f"the field {where}.n_aurec is missing")
            by_loss[loss] = {}
            for key, value in row.items():
                if key in _NOT_CLAIMS:
                    continue
                if key not in COLUMNS:
                    raise InputError(f"{where}.{key:.60} is no column of rue evaluate")
                if value is not None and not isinstance(value, int | float):
                    raise InputError(f"{where}.{key} must be a number or null, got {value!r:.60}")
                by_loss[loss][key] = value
        return by_loss


def require_definition(row: Mapping[str, object]) -> None:
    """Raise InputError if a row follows another convention than Definition 1."""
    if (convention := convention_of(row)) != "definition":
        raise InputError(
            f"its rows follow the convention {convention}, and a leaderboard has rows of "
            "Definition 1"
        )

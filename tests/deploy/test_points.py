"""Points of a rule are read from their file once, in every format."""

import gzip
import json

import numpy as np
import pytest

from rue.deploy.kind import Kind
from rue.deploy.points import read_calibration, read_of_kind
from rue.errors import FileError
from rue.io import predictions

COLUMNS = {"id": list("abc"), "aleatoric": [0.1, 0.2, 0.3], "epistemic": [0.3, 0.0, 0.1]}
REALISED = COLUMNS | {"risk": [0.5, 0.2, 0.4], "regret": [0.1, 0.0, 0.2]}
KIND = Kind(belief="components", loss="brier")


def write(path, columns):
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
        return path
    lines = [",".join(columns), *(",".join(map(str, row.values())) for row in rows)]
    text = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["new.csv", "new.csv.gz", "new.jsonl"])
def test_components_are_read_once_from_every_table(tmp_path, name, monkeypatch):
    paths, read = [], predictions.read_frame

    def counted(path, **options):
        paths.append(path)
        return read(path, **options)

    monkeypatch.setattr(predictions, "read_frame", counted)
    points = read_of_kind(write(tmp_path / name, COLUMNS), KIND)
    assert points.star is None
    np.testing.assert_array_equal(points.hat.epistemic, COLUMNS["epistemic"])
    points = read_calibration(write(tmp_path / name, REALISED), None, "brier")
    assert points.star is not None
    np.testing.assert_array_equal(points.star.epistemic, REALISED["regret"])
    assert len(paths) == 2


def test_calibration_needs_risk_and_regret(tmp_path):
    with pytest.raises(FileError, match="estimated components without risk and regret"):
        read_calibration(write(tmp_path / "new.csv", COLUMNS), None, "brier")

"""No number of `rue evaluate` has moved since it was recorded."""

import json

from recorded import STORE, differences, outputs, write_files


def test_the_outputs_are_those_recorded(tmp_path):
    write_files(tmp_path)
    recorded = json.loads(STORE.read_text())
    now = outputs(tmp_path)
    assert sum(len(rows) for rows in recorded.values()) > 250
    assert list(differences(recorded, now)) == []


def test_a_difference_is_seen():
    before = {"rows": [{"aurec": 0.25, "loss": "log"}]}
    assert list(differences(before, {"rows": [{"aurec": 0.25, "loss": "log", "new": 1}]})) == []
    assert list(differences(before, {"rows": [{"aurec": 0.2501, "loss": "log"}]})) == [
        ".rows[0].aurec: 0.25 became 0.2501"
    ]
    assert list(differences(before, {"rows": [{"loss": "log"}]})) == [".rows[0].aurec is missing"]
    assert list(differences(before, {"rows": []})) == [".rows has another length"]

"""The answers and the predicted distributions that a page holds."""

from dataclasses import replace

import numpy as np
import pytest

from reported import K, arrays, content, write_world
from rue.errors import AlignmentError
from rue.io.components import save_components
from rue.report import from_files, items
from rue.report.page import render

NAMES = ("cat", "dog", "horse", "hare")


@pytest.fixture
def files(tmp_path):
    return write_world(tmp_path, 40, 3)


def test_a_page_holds_what_was_said_and_what_was_predicted(files):
    report = from_files(files, {"log": "log", "brier": "brier"})
    page = render(report)
    found, read = content(page), arrays(page)
    (card,) = found["data"]
    with np.load(files["method0"]) as file:
        counts, probs = file["counts"], file["probs"]
    assert card["votes"]["rows"] == list(range(40))
    np.testing.assert_array_equal(read(card["votes"]["counts"]).reshape(-1, K), counts)
    means = {(run["method"], run["loss"]): run["mean"] for run in found["runs"]}
    mean = read(means["method0", "log"]).reshape(-1, K)
    np.testing.assert_allclose(mean, probs.mean(axis=1), rtol=1e-6)
    assert means["method0", "log"] == means["method0", "brier"]
    assert "classes" not in card


def test_classes_are_named_wherever_names_are_there(files):
    """A file with its columns in another order is brought into the order of the first."""
    for name, order in (("method0", [0, 1, 2, 3]), ("method2", [3, 1, 0, 2])):
        with np.load(files[name]) as file:
            kept = dict(file)
        turned = {k: kept[k][..., order] for k in ("probs", "counts")}
        np.savez(files[name], **(kept | turned), classes=np.array(NAMES)[order])
    del files["method1"]
    report = from_files(files, {"log": "log"})
    (card,) = report.data
    assert card.answers.outcomes.names == NAMES
    assert card.facts["classes"] == "cat, dog, horse, hare"
    assert content(render(report))["data"][0]["classes"] == list(NAMES)
    first, second = report.entries
    np.testing.assert_array_equal(first.run.annotations.counts, second.run.annotations.counts)
    accuracy = first.mean.argmax(1) == second.mean.argmax(1)
    assert accuracy.mean() > 0.5  # both are about the same truth


def test_a_page_with_little_room_keeps_the_points_listed_first(files, monkeypatch):
    report = from_files(files, {"log": "log"})
    monkeypatch.setattr(items, "_MOST", 5)
    rows = content(render(report))["data"][0]["votes"]["rows"]
    assert len(rows) == 5
    for entry in report.entries:
        assert int(entry.run.star.epistemic.argmax()) in rows


def test_components_alone_have_no_votes(files, tmp_path):
    report = from_files(files, {"log": "log"})
    save_components(tmp_path / "c.csv", report.entries[0].run)
    page = content(render(from_files({"c": tmp_path / "c.csv"}, {"log": "log"})))
    assert "votes" not in page["data"][0]
    assert "mean" not in page["runs"][0]


def test_tables_of_which_one_has_ids_are_refused(files, tmp_path):
    run = from_files(files, {"log": "log"}).entries[0].run
    save_components(tmp_path / "a.csv", run)
    save_components(tmp_path / "b.csv", replace(run, ids=None))
    for names in ("ab", "ba"):
        with pytest.raises(AlignmentError, match=r"b.csv has no ids but .*a.csv has"):
            from_files({name: tmp_path / f"{name}.csv" for name in names}, {"log": "log"})

"""A report of prediction files: rows matched, items found, the same numbers as rue evaluate."""

from dataclasses import replace

import numpy as np
import pytest

from rue import Annotations, realize
from rue.errors import AlignmentError, FileError, InputError
from rue.inference.comparison import compare
from rue.inference.intervals import intervals
from rue.io.answers import read_truth
from rue.io.names import Matching
from rue.io.runs import read_run
from rue.metrics.evaluation import evaluate_run
from rue.pareto import gap, surfaces
from rue.pareto.gap import achievable_fronts
from rue.report import from_files, write_report

ONE = {"log": "log"}


def test_rows_are_those_of_evaluate(files, report):
    for entry in report.entries:
        run = read_run(files[entry.method], None, entry.loss)
        assert entry.row == evaluate_run(replace(run, method=entry.method)).to_dict()


def test_entropies_are_the_aleatoric_part_of_log_loss(rng):
    annotations = Annotations(rng.multinomial(7, [0.5, 0.3, 0.2], 20))
    realised = realize(annotations, None, "log", actions=annotations.probs)
    assert (annotations.entropies() == realised.aleatoric).all()


def test_intervals_are_those_of_the_library(files):
    report = from_files({"m": files["method0"]}, {"zero_one": "zero_one"}, level=0.9, seed=3)
    run = read_run(files["method0"], None, "zero_one")
    wanted = intervals(run, level=0.9, seed=3).to_dict()
    assert wanted["ci"] == 0.9
    assert {key: report.entries[0].row[key] for key in wanted} == wanted


def test_surfaces_are_computed_once_for_the_row_and_the_page(files, tmp_path, monkeypatch):
    calls = []

    def counted(star, hat, directions, **options):
        calls.append(star)
        return achievable_fronts(star, hat, directions, **options)

    for module in (gap, surfaces):
        monkeypatch.setattr(module, "achievable_fronts", counted)
    losses = {"log": "log", "zero_one": "zero_one"}
    write_report(from_files({"m": files["method0"]}, losses, level=0.9), tmp_path / "page.html")
    assert len(calls) == 2  # one for each loss


def test_rows_in_another_order_are_put_in_order(files, report, tmp_path, rng):
    mixed = {}
    for name, path in files.items():
        arrays = dict(np.load(path))
        order = rng.permutation(len(arrays["ids"])) if name == "method1" else slice(None)
        mixed[name] = tmp_path / path.name
        np.savez(mixed[name], **{key: array[order] for key, array in arrays.items()})
    again = from_files(mixed, {"log": "log", "zero_one": "zero_one"})
    for one, other in zip(report.entries, again.entries, strict=True):
        np.testing.assert_array_equal(one.run.star.total, other.run.star.total)
        np.testing.assert_array_equal(one.run.hat.epistemic, other.run.hat.epistemic)
        np.testing.assert_array_equal(one.correct, other.correct)


def test_truth_from_a_table_brings_ids_and_texts(files, tmp_path):
    arrays = dict(np.load(files["method0"]))
    order = np.arange(len(arrays["ids"]))[::-1]
    lines = ["id,text,a,b,c,d"]
    for i in order:
        row = ",".join(str(int(n)) for n in arrays["counts"][i])
        lines.append(f"{arrays['ids'][i]},text of {arrays['ids'][i]},{row}")
    (tmp_path / "truth.csv").write_text("\n".join(lines))
    np.savez(tmp_path / "m.npz", probs=arrays["probs"], ids=arrays["ids"])
    truth = read_truth(tmp_path / "truth.csv")
    report = from_files({"m": tmp_path / "m.npz"}, ONE, truth=truth)
    items = report.data[0].items
    assert list(items.texts) == [f"text of {name}" for name in items.ids]
    assert report.data[0].facts["annotators per point"] == "20"
    assert set(report.provenance.checksums) == {"m.npz", "truth.csv"}


def test_items_are_matched_by_id(files, tmp_path, rng):
    ids = np.load(files["method0"])["ids"]
    order = rng.permutation(len(ids))
    images = rng.integers(0, 256, (len(ids), 5, 5), dtype=np.uint8)
    np.savez(tmp_path / "items.npz", ids=ids[order], images=images[order])
    one = {"m": files["method0"]}
    items = from_files(one, ONE, items=tmp_path / "items.npz").data[0].items
    assert len(items.images) == len(ids)
    for row, image in zip(items.pictured, items.images, strict=True):
        np.testing.assert_array_equal(image[:, :, 0], images[row])
    texts = "\n".join(["id,text", *(f"{i},about {i}" for i in ids[order])])
    (tmp_path / "items.csv").write_text(texts)
    items = from_files(one, ONE, items=tmp_path / "items.csv").data[0].items
    assert items.texts == tuple(f"about {i}" for i in ids)


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"ids": ["p0"], "text": ["a"]}, AlignmentError, "lacks 119 of the points, first 'p1'"),
        ({"ids": ["p0"]}, FileError, "must contain ids and text or images, got ids"),
        ({"ids": ["p0"], "images": np.zeros((1, 2, 2))}, FileError, "images must be uint8"),
        ({"ids": ["p0"], "text": ["a", "b"]}, FileError, r"ids of shape \(1,\) but 2 items"),
        (
            {"ids": ["p0"], "text": np.zeros((1_000_000, 7, 0), "U1")},
            FileError,
            r"text must be one text per item, got <U1 of \(1000000, 7, 0\)",
        ),
        (
            {"ids": np.zeros(2, [("a", "f8")]), "text": ["a", "b"]},
            FileError,
            "ids must be text or whole numbers",
        ),
        ({"ids": ["p0"], "text": np.zeros(1, "V8")}, FileError, "text must be one text per item"),
    ],
)
def test_bad_items_are_refused(files, tmp_path, arrays, error, words):
    np.savez(tmp_path / "items.npz", **arrays)
    with pytest.raises(error, match=words):
        from_files({"m": files["method0"]}, ONE, items=tmp_path / "items.npz")


def test_methods_must_be_about_the_same_points(files, tmp_path):
    arrays = dict(np.load(files["method0"]))
    np.savez(tmp_path / "few.npz", **{key: array[:50] for key, array in arrays.items()})
    arrays["ids"] = np.char.add("q", arrays["ids"])
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(AlignmentError, match=r"few\.npz lacks 70 of the ids in .*, first 'p50'"):
        from_files({"a": files["method0"], "b": tmp_path / "few.npz"}, ONE)
    both = {"a": files["method0"], "b": tmp_path / "few.npz"}
    report = from_files(both, ONE, matching=Matching(common=True))
    assert [entry.row["n_points"] for entry in report.entries] == [50, 50]
    assert len(report.data[0].items.ids) == 50
    with pytest.raises(AlignmentError, match=r"have no id in common, first 'p0' and 'qp0'"):
        from_files({"a": files["method0"], "b": tmp_path / "other.npz"}, ONE)


def test_what_people_said_must_be_the_same(files, tmp_path):
    arrays = dict(np.load(files["method1"]))
    arrays["counts"][7] = arrays["counts"][7, ::-1] + 1
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(AlignmentError, match=r"other\.npz: the annotators. .* at row 7"):
        from_files({"a": files["method0"], "b": tmp_path / "other.npz"}, ONE)
    wide = {key: np.pad(arrays[key], [(0, 0), (0, 1)]) for key in ("counts", "alpha")}
    np.savez(
        tmp_path / "wide.npz", ids=arrays["ids"], counts=wide["counts"], alpha=wide["alpha"] + 1
    )
    with pytest.raises(AlignmentError, match=r"wide\.npz: has 5 classes but .* has 4"):
        from_files({"a": files["method0"], "b": tmp_path / "wide.npz"}, ONE)


def test_every_file_has_its_checksum(files, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.npz").write_bytes(files[f"method{'ab'.index(name)}"].read_bytes())
    (tmp_path / "items.csv").write_text("id,text\n" + "".join(f"p{i},x\n" for i in range(120)))
    two = {name: tmp_path / name / "p.npz" for name in ("a", "b")}
    sums = from_files(two, ONE, items=tmp_path / "items.csv").provenance.checksums
    assert list(sums) == [*map(str, two.values()), "items.csv"]
    assert len(set(sums.values())) == 3


def test_components_computed_elsewhere(tmp_path):
    text = "id,aleatoric,epistemic,risk,regret\nx,0.1,0.2,0.5,0.1\ny,0.3,0.1,0.4,0.2\n"
    (tmp_path / "c.csv").write_text(text)
    report = from_files({"c": tmp_path / "c.csv"}, ONE)
    assert list(report.data[0].items.ids) == ["x", "y"]
    assert report.entries[0].correct is None
    with pytest.raises(InputError, match="components of one loss"):
        from_files({"c": tmp_path / "c.csv"}, {"log": "log", "brier": "brier"})


def test_the_best_are_those_that_compare_does_not_separate(files, report):
    assert {entry.best for entry in report.entries} == {()}  # without a level nothing is tested
    tested = from_files(files, {"log": "log", "zero_one": "zero_one"}, level=0.9, seed=3)
    for loss in ("log", "zero_one"):
        runs = [
            replace(read_run(path, None, loss), method=method) for method, path in files.items()
        ]
        ranking = compare(runs, criteria=["n_aurec"], level=0.9, seed=3).rankings["n_aurec"]
        assert {entry.best for entry in tested.entries if entry.loss == loss} == {ranking.best}
        assert ranking.best
    one = from_files({"m": files["method0"]}, ONE, level=0.9)
    assert one.entries[0].best == ()


def test_the_texts_of_a_long_table_are_shown(tmp_path):
    lines = [f"p{i},a{j},{(i + j) % 3},review {i}" for i in range(4) for j in range(5)]
    table = tmp_path / "answers.csv"
    table.write_text("\n".join(["id,annotator,answer,text", *lines]) + "\n")
    ids = np.array([f"p{i}" for i in range(4)])
    np.savez(tmp_path / "m.npz", probs=np.full((4, 2, 3), 1 / 3), ids=ids)
    report = from_files({"m": tmp_path / "m.npz"}, ONE, truth=read_truth(table))
    assert report.data[0].items.texts == tuple(f"review {i}" for i in range(4))
    assert report.data[0].facts["annotators per point"] == "5"

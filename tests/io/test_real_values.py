"""Real-valued outcomes in files: every format gives the same belief and the same answers."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rue import (
    Annotations,
    Draws,
    Gaussians,
    NormalInverseGamma,
    Ratings,
    Samples,
    evaluate,
    save_predictions,
)
from rue.errors import FileError, InputError, ShapeError
from rue.io.answers import read_truth
from rue.io.predictions import read_predictions
from rue.io.runs import read_run, read_runs

IDS = ["b", "a", "c"]
MEAN, SD = np.array([[1.0, 2.0], [0.5, 0.0], [3.0, 3.5]]), np.full((3, 2), 0.5)
VALUES = np.arange(18.0).reshape(3, 2, 3)
NIG = {"mu": [1.0, 2, 3], "nu": [1.0, 2, 3], "alpha": [2.0, 3, 4], "beta": [1.0, 1, 2]}
ANSWERS = [[1.0, 2.5], [0.0, 1.0, 4.0], [3.0]]
PEOPLE = Ratings(ANSWERS)

BELIEFS = {
    "gaussians": Gaussians(MEAN, SD),
    "samples": Samples(VALUES),
    "evidential": NormalInverseGamma(**NIG),
}


def same(one, other):
    assert type(one) is type(other)
    for name, array in one.arrays().items():
        assert np.array_equal(array, other.arrays()[name])


def lists(ratings):
    return [own.tolist() for own in np.split(ratings.answers.values, ratings.answers.starts[1:-1])]


@pytest.mark.parametrize("kind", BELIEFS)
def test_what_is_saved_is_read(kind, tmp_path):
    people = Ratings(ANSWERS, range=(0, 5))
    save_predictions(tmp_path / "m.npz", BELIEFS[kind], ids=IDS, annotations=people, method="mine")
    found = read_predictions(tmp_path / "m.npz")
    same(found, BELIEFS[kind])
    assert found.ids.tolist() == IDS
    assert found.method == "mine"
    assert lists(found.truth) == ANSWERS
    assert found.truth.range == (0, 5)
    run = read_run(tmp_path / "m.npz", None, "crps")
    row = evaluate(people, BELIEFS[kind], "crps", gap=False)
    assert run.star.total.mean() == row.risk


@pytest.mark.parametrize("kind", BELIEFS)
def test_json_lines_hold_a_point_or_a_draw(kind, tmp_path):
    belief = BELIEFS[kind]
    points = [
        {"id": name, **{key: array[i].tolist() for key, array in belief.arrays().items()}}
        | {"ratings": own, "split": "test"}
        for i, (name, own) in enumerate(zip(IDS, ANSWERS, strict=True))
    ]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, points)))
    found = read_predictions(tmp_path / "m.jsonl")
    same(found, belief)
    assert lists(found.truth) == ANSWERS
    assert found.groups["split"].tolist() == ["test"] * 3
    if kind == "evidential":
        return
    draws = [
        {"id": name, **{key: array[i, s].tolist() for key, array in belief.arrays().items()}}
        for s in range(2)
        for i, name in enumerate(IDS)
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, draws)))
    same(read_predictions(tmp_path / "d.jsonl"), belief)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", BELIEFS)
def test_tables_hold_a_row_per_draw_or_value(kind, suffix, tmp_path):
    if kind == "gaussians":
        rows = [(n, s, MEAN[i, s], SD[i, s]) for i, n in enumerate(IDS) for s in range(2)]
        names = ("id", "draw", "mean", "sd")
    elif kind == "samples":
        rows = [
            (n, s, VALUES[i, s, v]) for v in range(3) for i, n in enumerate(IDS) for s in range(2)
        ]
        names = ("id", "draw", "sample")
    else:
        rows = [(n, *(NIG[key][i] for key in NIG)) for i, n in enumerate(IDS)]
        names = ("id", *NIG)
    path = tmp_path / f"m{suffix}"
    write(path, names, rows)
    found = read_predictions(path)
    same(found, BELIEFS[kind])
    assert found.ids.tolist() == IDS


def write(path, names, rows):
    if path.suffix == ".csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]))
    else:
        pq.write_table(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))), path)


def test_one_draw_needs_no_second_axis(tmp_path):
    np.savez(tmp_path / "m.npz", mean=MEAN[:, 0], sd=SD[:, 0])
    same(read_predictions(tmp_path / "m.npz"), Gaussians(MEAN[:, :1], SD[:, :1]))
    np.savez(tmp_path / "s.npz", samples=VALUES[:, 0])
    same(read_predictions(tmp_path / "s.npz"), Samples(VALUES[:, :1]))


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "lists", "npz"])
def test_every_form_of_answers(form, tmp_path):
    rows = [
        (name, f"w{j}", y, "x")
        for j in range(3)
        for name, own in zip(IDS, ANSWERS, strict=True)
        for y in own[j : j + 1]
    ]
    names = ("item_id", "annotator", "rating", "part")
    path = tmp_path / f"t.{form}"
    if form in ("csv", "parquet"):
        write(path, names, rows)
    elif form == "npz":
        np.savez(path, ratings=[[1, 2.5, np.nan], [0, 4, 1], [np.nan, 3, np.nan]], ids=IDS)
    else:
        path = tmp_path / "t.jsonl"
        lines = [dict(zip(names, row, strict=True)) for row in rows]
        if form == "lists":
            lines = [{"id": n, "ratings": own} for n, own in zip(IDS, ANSWERS, strict=True)]
        path.write_text("\n".join(map(json.dumps, lines)))
    truth = read_truth(path)
    assert truth.ids.tolist() == IDS
    assert lists(truth) == ANSWERS
    if form in ("csv", "parquet"):
        assert truth.groups["part"].tolist() == ["x"] * 3


def test_rows_are_matched_by_id_and_members_are_draws(tmp_path):
    np.savez(tmp_path / "one.npz", mean=MEAN[:, 0], sd=SD[:, 0], ids=IDS)
    order = [2, 0, 1]
    np.savez(tmp_path / "two.npz", mean=MEAN[order, 1], sd=SD[order, 1], ids=np.array(IDS)[order])
    np.savez(tmp_path / "t.npz", ratings=[[1.0, 2], [3, 4], [5, 6]], ids=["a", "b", "c"])
    files = [tmp_path / "one.npz", tmp_path / "two.npz"]
    (run,) = read_runs({"both": files}, read_truth(tmp_path / "t.npz"), "squared")
    row = evaluate(Ratings([[3.0, 4], [1, 2], [5, 6]]), Gaussians(MEAN, SD), "squared", gap=False)
    assert run.star.total.mean() == pytest.approx(row.risk)
    assert run.ids.tolist() == IDS


def test_counts_on_a_scale_are_answers(tmp_path):
    np.savez(tmp_path / "m.npz", mean=MEAN, sd=SD)
    counts = np.array([[1, 2, 0], [0, 0, 4], [1, 1, 1]])
    np.savez(tmp_path / "scaled.npz", counts=counts, values=[-1.0, 0.5, 3.0])
    np.savez(tmp_path / "bare.npz", counts=counts)
    np.savez(tmp_path / "probs.npz", probs=np.full((3, 2), 0.5))
    expected = evaluate(
        Ratings.from_counts(counts, [-1.0, 0.5, 3.0]), Gaussians(MEAN, SD), "crps", gap=False
    )
    run = read_run(tmp_path / "m.npz", read_truth(tmp_path / "scaled.npz"), "crps")
    assert run.star.total.mean() == pytest.approx(expected.risk)
    bare = read_truth(tmp_path / "bare.npz")
    run = read_run(tmp_path / "m.npz", bare, "crps", values=[-1.0, 0.5, 3.0])
    assert run.star.total.mean() == pytest.approx(expected.risk)
    with pytest.raises(FileError, match="values= says which number each class stands for"):
        read_run(tmp_path / "m.npz", bare, "crps")
    with pytest.raises(FileError, match="holds probabilities of classes"):
        read_run(tmp_path / "m.npz", read_truth(tmp_path / "probs.npz"), "crps")


def test_a_column_called_mean_is_a_column_where_there_are_probs(tmp_path):
    lines = [{"id": "a", "probs": [0.5, 0.5], "mean": 1.0}, {"id": "b", "probs": [0.5, 0.5]}]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert isinstance(read_predictions(tmp_path / "m.jsonl"), Draws)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"mean": MEAN, "sd": 0 * SD}, "sd must be above 0, got 0 at row 0"),
        ({"mean": MEAN, "sd": SD[:2]}, "same shape"),
        ({"mean": MEAN}, r"mean and sd, samples, or mu, nu, alpha and beta\), got mean"),
        ({"samples": VALUES[0, 0]}, "samples must have shape"),
        ({"mean": MEAN, "sd": SD, "epistemic": [1.0] * 3}, "epistemic score from another source"),
        ({"mean": MEAN, "sd": SD, "ratings": [[1.0], [2.0]]}, "of 3 points but answers about 2"),
        ({"mean": MEAN, "sd": SD, "ratings": [["x"]] * 3}, "ratings must be numbers"),
        ({"mean": MEAN, "sd": SD, "ratings": [[np.nan]] * 3}, "3 of 3 have none"),
        (
            {"mean": MEAN, "sd": SD, "ratings": [[1.0]] * 3, "range": [2.0, 3.0]},
            "within the range 2 to 3, got 1 at point 0",
        ),
        ({"mean": MEAN, "sd": SD, "ratings": [[1.0]] * 3, "range": [2.0]}, "range must be two"),
    ],
)
def test_broken_files_are_named(arrays, words, tmp_path):
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(FileError, match=words):
        read_predictions(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rating\n1.5\n2.5", "which point it is about"),
        ("id,rating\na,high\nb,low", "rating must hold numbers"),
        (
            "id,annotator,rating\na,x,1.5\na,x,2.5",
            "once per point, but x answered more than once about a",
        ),
    ],
)
def test_broken_tables_of_ratings_are_named(text, words, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(FileError, match=words):
        read_truth(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"id": "a", "rating": 1.0}, {"id": "b"}], "1 of 2 have none, first 'b'"),
        (
            [{"id": "a", "ratings": [1.0]}, {"id": "a", "ratings": [2.0]}],
            "has ratings in several rows",
        ),
        (
            [{"id": "a", "ratings": [1.0]}, {"id": "b", "ratings": []}],
            "1 of 2 have none, first 'b'",
        ),
    ],
)
def test_broken_lines_of_ratings_are_named(lines, words, tmp_path):
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(FileError, match=words):
        read_truth(tmp_path / "t.jsonl")


def test_what_does_not_belong_together_is_not_saved(tmp_path):
    draws, people = Draws([[[0.5, 0.5]]] * 3), Annotations([[1, 1]] * 3)
    with pytest.raises(InputError, match=r"Ratings need a belief about real numbers .*got Draws"):
        save_predictions(tmp_path / "m.npz", draws, annotations=PEOPLE)
    with pytest.raises(InputError, match=r"need a belief about classes .*got Gaussians"):
        save_predictions(tmp_path / "m.npz", BELIEFS["gaussians"], annotations=people)
    with pytest.raises(ShapeError, match="must have 3 points and 0 classes, got 2"):
        save_predictions(tmp_path / "m.npz", BELIEFS["samples"], annotations=PEOPLE[:2])
    np.savez(tmp_path / "d.npz", probs=draws.probs)
    np.savez(tmp_path / "t.npz", ratings=[[1.0]] * 3)
    with pytest.raises(FileError, match="need a belief about real numbers"):
        read_run(tmp_path / "d.npz", read_truth(tmp_path / "t.npz"), "squared")


def test_draws_of_sampled_values_go_by_their_names(tmp_path):
    (tmp_path / "m.csv").write_text(
        "id,draw,sample\nb,1,5\nb,0,3\nb,0,4\na,0,1\nb,1,6\na,0,2\na,1,7\na,1,8\n"
    )
    belief = read_predictions(tmp_path / "m.csv")
    assert belief.ids.tolist() == ["b", "a"]
    assert belief.values.tolist() == [[[5, 6], [3, 4]], [[7, 8], [1, 2]]]  # draw 1, draw 0
    (tmp_path / "m.csv").write_text("id,sample\nb,5\na,1\nb,6\na,2\n")
    assert read_predictions(tmp_path / "m.csv").values.tolist() == [[[5, 6]], [[1, 2]]]

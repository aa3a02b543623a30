"""JSON lines to named arrays: shapes, names, draws, and one-line errors."""

import json

import numpy as np
import pytest

from rue import read_truth
from rue.errors import FileError
from rue.io.answers import answers_of
from rue.io.belief_tables import belief_arrays
from rue.io.files import read_frame
from rue.io.names import Matching

KEYS = ("probs", "logits", "alpha", "counts", "sampled_labels")


def arrays(tmp_path, *records, **options):
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    return belief_arrays(read_frame(path), Matching(**options))[0]


def test_a_line_is_a_point(tmp_path):
    found = arrays(
        tmp_path,
        {"uid": "b", "probs": [0.2, 0.8], "source": "web", "length": 3},
        {"uid": 7, "probs": [1.0, 0.0], "source": "book", "length": 4},
    )
    assert found["ids"].tolist() == ["b", "7"]
    assert found["probs"].tolist() == [[0.2, 0.8], [1.0, 0.0]]
    assert found["source"].tolist() == ["web", "book"]
    assert found["length"].tolist() == [3, 4]


def test_lines_of_one_id_are_its_draws_in_their_order(tmp_path):
    found = arrays(
        tmp_path,
        {"id": "x", "draw": 1, "probs": [0.1, 0.9]},
        {"id": "y", "draw": 0, "probs": [0.2, 0.8]},
        {"id": "y", "draw": 1, "probs": [0.3, 0.7]},
        {"id": "x", "draw": 0, "probs": [0.4, 0.6]},
    )
    assert found["ids"].tolist() == ["x", "y"]
    assert found["probs"][:, :, 0].tolist() == [[0.1, 0.4], [0.3, 0.2]]  # draw 1, then draw 0


def test_objects_name_their_classes_in_any_order(tmp_path):
    found = arrays(
        tmp_path, {"id": 1, "counts": {"a": 3, "b": 1}}, {"id": 2, "counts": {"b": 4, "a": 0}}
    )
    assert found["classes"].tolist() == ["a", "b"]
    assert found["counts"].tolist() == [[3, 1], [0, 4]]


def test_a_list_of_objects_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "whatever.txt"
    path.write_text(json.dumps([{"id": 1, "probs": [0.5, 0.5]}]), encoding="utf-8-sig")
    assert len(read_frame(path)) == 1


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (['{"id": 1'], "line 1 as JSON"),
        (['{"id": 1, "probs": [NaN]}'], "NaN is no number"),
        (["[1, 2]"], "entry 1 is a int"),
        (["{}", "3"], "line 2 is a int"),
        ([""], "no JSON objects"),
        (['{"id": 1, "probs": [1, 0]}', '{"id": 2}'], "in every line, missing in line 2"),
        (['{"id": 1, "probs": [1, 0]}', '{"id": 2, "probs": [1]}'], r"\(2,\) in line 1 and \(1,\)"),
        (['{"id": 1, "probs": [[1], [1, 0]]}'], "without gaps, line 1"),
        (['{"id": 1, "probs": [null, 1]}'], "must hold numbers, line 1"),
        (['{"id": 1, "probs": {"a": 1}}', '{"id": 2, "probs": {"b": 1}}'], "name the classes a"),
        (['{"id": 1, "probs": [1]}'] * 2 + ['{"id": 2, "probs": [1]}'], "number of draws"),
        (['{"id": null, "probs": [1, 0]}'], "got nothing at row 0"),
        (['{"id": 1.5, "probs": [1, 0]}'], "text or a whole number"),
        (['{"id": 1, "uid": 2, "probs": [1, 0]}'], "could both name the rows"),
        (['{"draw": 1, "probs": [1, 0]}'], "need an id"),
        (["[" * 100_000], "as JSON"),
    ],
)
def test_broken_lines_are_one_line_errors(tmp_path, lines, words):
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(FileError, match=words) as error:
        belief_arrays(read_frame(path), Matching())
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_the_column_of_ids_can_be_named(tmp_path):
    found = arrays(tmp_path, {"key": "k", "id": 3, "probs": [1, 0]}, id_name="key")
    assert found["ids"].tolist() == ["k"]
    with pytest.raises(FileError, match="no column 'name'"):
        arrays(tmp_path, {"key": "k", "probs": [1, 0]}, id_name="name")


def test_what_draws_disagree_on_is_no_column(tmp_path):
    records = [{"id": 1, "probs": [1, 0], "seed": s, "epistemic": s} for s in (0, 1)]
    same = [{**record, "epistemic": 1} for record in records]
    assert "seed" not in arrays(tmp_path, *same)
    with pytest.raises(FileError, match="epistemic must be the same for all draws"):
        arrays(tmp_path, *records)


def test_words_are_kept_as_sampled_labels(tmp_path):
    found = arrays(tmp_path, {"id": 1, "sampled_labels": ["yes", "no", "yes"]})
    assert found["sampled_labels"].dtype.kind == "U"
    assert np.shape(found["sampled_labels"]) == (1, 3)


def test_annotators_in_lists_and_objects_are_counted(tmp_path):
    path = tmp_path / "t.jsonl"
    for first, second in (
        ({"labels": ["x", "y"], "annotator": ["A", "B"]}, {"labels": ["x"], "annotator": ["C"]}),
        ({"labels": {"A": "x", "B": "y"}}, {"labels": {"C": "x"}}),
    ):
        path.write_text(json.dumps({"id": 1, **first}) + "\n" + json.dumps({"id": 2, **second}))
        answers = answers_of(read_frame(path))
        assert answers.counts.tolist() == [[1, 1], [1, 0]]
        assert answers.n_annotators == 3
    path.write_text('{"id": 1, "labels": ["x", "y"], "annotator": ["A"]}')
    assert answers_of(read_frame(path)).n_annotators is None


def test_what_belongs_to_a_point_is_the_same_in_its_draws(tmp_path):
    lines = [{"id": "x", "draw": d, "probs": [0.1, 0.9], "counts": [d % 2, 3]} for d in range(3)]
    with pytest.raises(FileError, match="counts must be the same for all draws of a point"):
        arrays(tmp_path, *lines)
    same = arrays(tmp_path, *(line | {"counts": [1, 3]} for line in lines))
    assert same["counts"].tolist() == [[1, 3]]


@pytest.mark.parametrize("classes", [None, ("no", "yes")])
def test_lists_of_counts_may_name_their_classes(tmp_path, classes):
    more = {} if classes is None else {"classes": classes}
    lines = [json.dumps({"id": i, "counts": c, **more}) for i, c in (("a", [3, 1]), ("b", [0, 4]))]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines))
    truth = read_truth(path)
    assert truth.counts.tolist() == [[3, 1], [0, 4]]
    assert truth.outcomes.names == classes


def test_the_first_list_of_another_length_is_named(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a", "counts": []}\n{"id": "b", "counts": [0, 4]}')
    with pytest.raises(FileError, match="a list of the same length in every row, not at line 2"):
        read_truth(path)


def test_a_message_shows_all_columns(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"image": "a.png", "no": {"x": 1}}')
    assert read_frame(path).shown == "image, no (lists or objects)"

"""Answers of your own: the three layouts say the same, and what is wrong is said in one line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rue.data.own.reading import read_answers
from rue.errors import FileError, InputError

LONG = "item,worker,label\na,u,yes\na,v,no\nb,u,yes\na,w,yes\n"


def write(folder, name, content):
    path = folder / name
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    else:
        path.write_bytes(content)
    return path


def read(path, classes=None, **given):
    return read_answers(path, given, classes)


def layouts(folder):
    """Give the same answers in every layout."""
    rows = [
        dict(zip(("item", "worker", "label"), line.split(","), strict=True))
        for line in LONG.split()[1:]
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    np.savez(folder / "a.npz", counts=[[1, 2], [0, 1]], ids=["a", "b"], classes=["no", "yes"])
    return [
        write(folder, "long.csv", LONG),
        write(folder, "mark.csv", b"\xef\xbb\xbf" + LONG.replace("\n", "\r\n").encode()),
        write(folder, "long.tsv", LONG.replace(",", "\t")),
        write(folder, "long.jsonl", "\n".join(json.dumps(row) for row in rows)),
        write(
            folder,
            "lists.jsonl",
            '{"id": "a", "label": ["yes", "no", "yes"]}\n{"id": "b", "label": ["yes"]}',
        ),
        folder / "a.parquet",
        write(folder, "wide.csv", "id,no,yes\na,1,2\nb,0,1\n"),
        write(folder, "blank.csv", "id,no,yes\na,1,2\nb,,1\n"),
        write(
            folder,
            "counts.jsonl",
            '{"uid": "a", "counts": {"no": 1, "yes": 2}}\n{"uid": "b", "counts": {"yes": 1}}',
        ),
        folder / "a.npz",
    ]


def test_layouts_say_the_same(tmp_path):
    for path in layouts(tmp_path):
        answers = read(path)
        assert answers.ids == ["a", "b"], path
        assert answers.class_names == ("no", "yes"), path
        assert answers.counts.tolist() == [[1, 2], [0, 1]], path
        assert answers.values is None


def test_people(tmp_path):
    path = write(tmp_path, "a.csv", LONG + "a,u,no\n")
    answers = read(path)
    assert (answers.n_annotators, answers.n_repeated, answers.repeated) == (3, 1, "u about a")
    assert read(write(tmp_path, "b.csv", "id,label\na,x\na,y\n")).n_annotators is None


def test_columns_of_any_name(tmp_path):
    path = write(tmp_path, "a.csv", "Face,Who,Emotion\n1,u,sad\n1,v,glad\n")
    with pytest.raises(
        FileError, match=r"needs a column of ids .*, it has Face, Who, Emotion: give --id"
    ):
        read(path)
    with pytest.raises(
        InputError, match=r"has no column 'face' \(--id\), it has Face, Who, Emotion"
    ):
        read(path, id="face", label="Emotion")
    answers = read(path, id="Face", label="Emotion", annotator="Who")
    assert (answers.ids, answers.n_annotators) == (["1"], 2)
    path = write(tmp_path, "b.csv", "id,item,label\n1,2,a\n1,2,b\n")
    with pytest.raises(InputError, match="both 'id' and 'item' could be the id: give --id"):
        read(path)
    assert read(path, id="item").ids == ["2"]


def test_numbers_as_classes_have_values(tmp_path):
    path = write(tmp_path, "a.csv", "id,label\na,10\na,-1\na,2\nb,2.0\n")
    answers = read(path)
    assert (answers.class_names, answers.values) == (("-1", "2", "10"), (-1.0, 2.0, 10.0))
    assert answers.counts.tolist() == [[1, 1, 1], [0, 1, 0]]
    answers = read(path, classes=["-1", "2", "5", "10"])
    assert answers.counts.tolist() == [[1, 1, 0, 1], [0, 1, 0, 0]]
    wide = read(write(tmp_path, "b.csv", "id,-1,0,1\na,3,0,1\n"))
    assert wide.values == (-1, 0, 1)


def test_ratings(tmp_path):
    answers = read(write(tmp_path, "a.csv", "id,rating\na,0.5\na,-3\nb,7\n"))
    assert [row.tolist() for row in answers.ratings] == [[0.5, -3.0], [7.0]]
    assert (answers.counts, answers.class_names) == (None, ())


def test_blanks_are_left_out_and_counted(tmp_path):
    answers = read(write(tmp_path, "a.csv", "id,label\na,x\na,\na,y\nb, \n"))
    assert (answers.ids, answers.n_blank, answers.n_silent) == (["a"], 2, 1)
    answers = read(write(tmp_path, "b.csv", "id,x,y\na,1,2\nb,0,0\n"))
    assert (answers.ids, answers.n_silent) == (["a"], 1)


def test_attributes(tmp_path):
    path = write(
        tmp_path,
        "a.csv",
        'id,label,text,split,group\na,x,"Hi, you.",train,d\n'
        'a,y,"Hi, you.",train,d\nb,x,Ho,test,d\n',
    )
    answers = read(path)
    assert answers.attributes["text"] == ["Hi, you.", "Ho"]
    assert answers.attributes["split"] == ["train", "test"]
    path = write(tmp_path, "b.csv", "id,label,text\na,x,One\na,y,Two\n")
    with pytest.raises(FileError, match="line 3: a has a second text, 'Two' after 'One'"):
        read(path)
    wide = read(write(tmp_path, "c.csv", "id,no,yes,text,split\na,1,2,Hi,train\n"))
    assert (wide.class_names, wide.attributes["text"]) == (("no", "yes"), ["Hi"])


BAD = {
    "empty.csv": ("", "is empty: its first line must name the columns"),
    "no-rows.csv": ("id,label\n", "holds no rows"),
    "no-header.csv": ("1,2,3\n4,5,6\n", "the first line must name the columns, got 1,2,3"),
    "twice.csv": ("id,label,Label\na,b,c\n", "column names must differ, 'label' occurs twice"),
    "short.csv": ("id,label\na\n", "line 2 is too short for the columns id, label"),
    "comma.csv": ("id,label\na,b,c\n", "line 2 has 3 cells for 2 columns"),
    "latin.csv": ("id,label\na,é\n".encode("latin-1"), "must be UTF-8"),
    "no-id.csv": ("id,label\n ,x\n", "line 2 has no id"),
    "one-class.csv": ("id,label\na,x\nb,x\n", "all answers are 'x', but at least two classes are"),
    "no-label.csv": ("id,label\na,\n", "the column 'label' is empty"),
    "two.csv": ("id,label,rating\na,x,1\n", "has a column of classes, 'label', and one of numbers"),
    "word.csv": ("id,rating\na,good\n", "line 2: a rating must be a number, got 'good'"),
    "nan.csv": ("id,rating\na,nan\n", "line 2: a rating must be a number, got 'nan'"),
    "nothing.csv": ("id,colour\na,red\n", r"needs a column of answers \(label, rating\), or"),
    "wide-twice.csv": ("id,x,y\na,1,2\na,2,1\n", "id 'a' occurs twice, but there is no column"),
    "wide-no-id.csv": ("id,x,y\n,1,2\n", "line 2 has no id"),
    "fraction.csv": ("id,x,y\na,0.5,2\n", r"line 2: x must count answers, got '0.5' \(a column"),
    "negative.csv": ("id,x,y\na,-1,2\n", "line 2: x must count answers, got '-1'"),
    "zeros.csv": ("id,x,y\na,0,0\n", "all counts are 0"),
    "json.jsonl": ("{", "cannot read line 1 as JSON"),
    "object.jsonl": ('{"id": "a", "label": {"x": 1}}', "line 1: label must be text, got {'x': 1}"),
    "words.jsonl": ('{"id": "a", "counts": {"x": "b"}}', "line 1: counts must count answers by"),
    "list.jsonl": ('{"id": ["a"], "label": "x"}', "line 1: id must be text or a number, got"),
    "p.parquet": (b"PAR1", "cannot be read as .parquet"),
    "x.npz": (b"no", "cannot be read as .npz"),
    "x.xlsx": (b"", "must be .csv, .tsv, .jsonl, .parquet, got '.xlsx'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(tmp_path, name):
    content, message = BAD[name]
    with pytest.raises(InputError, match=message) as caught:
        read(write(tmp_path, name, content))
    assert "\n" not in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


ARRAYS = {
    "no counts": ({"probs": np.eye(2)}, "needs an array counts .*, it has probs"),
    "one axis": ({"counts": np.ones(3)}, r"counts must be numbers \(n_points, n_classes\)"),
    "words": ({"counts": np.array([["a", "b"]])}, "counts must be numbers"),
    "halves": ({"counts": [[1, 2], [0.5, 1]]}, "counts must be whole numbers from 0, row 1 is"),
    "ids": ({"counts": [[1, 2]], "ids": ["a", "b"]}, "ids must have 1 entries"),
    "twins": ({"counts": [[1, 2], [1, 2]], "ids": ["a", "a"]}, "ids must differ, 'a' occurs"),
    "classes": ({"counts": [[1, 2]], "classes": ["x"]}, "classes must have 2 entries"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_bad_arrays(tmp_path, case):
    arrays, message = ARRAYS[case]
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FileError, match=message):
        read(tmp_path / "a.npz")


def test_classes_that_are_given(tmp_path):
    path = write(tmp_path, "a.csv", LONG)
    assert read(path, classes=["yes", "no", "maybe"]).counts.tolist() == [[2, 1, 0], [1, 0, 0]]
    with pytest.raises(
        InputError, match="every label must be one of the classes no, may, got 'yes'"
    ):
        read(path, classes=["no", "may"])
    with pytest.raises(InputError, match="classes must differ, got a, a"):
        read(path, classes=["a", "a"])
    wide = write(tmp_path, "b.csv", "id,x,y,age\na,1,2,30\n")
    assert read(wide).class_names == ("x", "y", "age")
    assert read(wide, classes=["y", "x"]).counts.tolist() == [[2, 1]]
    with pytest.raises(InputError, match="has no column of the class 'z'"):
        read(wide, classes=["x", "z"])


def test_too_many_labels_to_be_classes(tmp_path):
    rows = "".join(f"a,{n}.5\n" for n in range(1001))
    with pytest.raises(FileError, match=r"1,001 different labels: .* call the column rating"):
        read(write(tmp_path, "a.csv", "id,label\n" + rows))

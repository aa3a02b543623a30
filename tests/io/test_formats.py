"""Tables: what the first line is, and that what is written is read back with the same bits."""

import csv
import io
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rue.errors import FileError, InputError
from rue.io import arrow
from rue.io.cost import read_cost
from rue.io.files import read_frame
from rue.io.saving import save_table


def load_table(path, **options):
    """The columns of a table as arrays: numbers where all cells are, otherwise words."""
    columns = read_frame(path, **options).columns
    return {name: column.group for name, column in columns.items() if not column.is_nested}


def read(tmp_path, text, **options):
    (tmp_path / "t.csv").write_text(text)
    return load_table(tmp_path / "t.csv", **options)


@pytest.mark.parametrize("first", ["3,2,1,0", "0.0,1.0,2.0,3.0", "1,1,1,1"])
def test_a_line_of_numbers_is_a_row(tmp_path, first):
    table = read(tmp_path, f"{first}\n4,5,6,7\n")
    assert list(table) == ["0", "1", "2", "3"]
    assert [len(column) for column in table.values()] == [2] * 4
    np.testing.assert_array_equal(
        [table[str(j)][0] for j in range(4)], np.array(first.split(","), float)
    )


def test_a_cost_matrix_keeps_its_first_row(tmp_path):
    costs = np.array([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]])
    for order in ((0, 1, 2, 3), (3, 0, 1, 2)):
        np.savetxt(tmp_path / "c.csv", costs[list(order)], fmt="%d", delimiter=",")
        np.testing.assert_array_equal(read_cost(tmp_path / "c.csv").costs, costs[list(order)])


def test_a_first_line_of_0_1_2_is_a_header_where_it_can_be_no_row(tmp_path):
    """It was read as a point, also where pandas had written it above the columns."""
    assert len(read(tmp_path, "0,1\n0.3,0.7\n0.5,0.5\n")["0"]) == 2
    assert len(read(tmp_path, "0,1,2\n5,0,0\n4,1,0\n")["0"]) == 2
    with pytest.raises(FileError, match="line 1 is 0, 1, 2, so it may name the columns or be a r"):
        read(tmp_path, "0,1,2\n3,0,0\n")
    with pytest.raises(FileError, match="line 1 is 0, 1, so it may name the columns or be a row"):
        read(tmp_path, "0,1\n1,0\n0,1\n")


@pytest.mark.parametrize(
    ("first", "names"),
    [
        ("cat,dog", ["cat", "dog"]),
        ("id,0,1,2", ["id", "0", "1", "2"]),
        ("ID,-4,4", ["ID", "-4", "4"]),
        (",0,1,2", ["Unnamed: 0", "0", "1", "2"]),  # as pandas writes it, with ids
        ("0,1,split", ["0", "1", "split"]),
        ("1_0,1_1", ["1_0", "1_1"]),  # which Python reads as numbers, and nobody else
        ("'=1+1,cat", ["=1+1", "cat"]),
    ],
)
def test_a_line_that_names_columns_is_a_header(tmp_path, first, names):
    table = read(tmp_path, first + "\n" + ",".join("1" for _ in first.split(",")) + "\n")
    assert list(table) == names
    assert all(len(column) == 1 for column in table.values())


def test_a_line_of_words_and_numbers_that_could_be_either_is_refused(tmp_path):
    text = "img1,3,4,5\nimg2,1,1,1\n"
    with pytest.raises(FileError, match=r"line 1 holds words and numbers \(img1, 3, 4, 5\), so it"):
        read(tmp_path, text)
    assert list(read(tmp_path, text, names=["img1"])) == ["img1", "3", "4", "5"]
    assert list(read(tmp_path, "photo,0,1\na,2,3\n", names=["Photo"])) == ["photo", "0", "1"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@given(
    numbers=hnp.arrays(np.float64, 3, elements=st.floats(allow_nan=False, allow_infinity=False)),
    whole=hnp.arrays(np.int64, 3, elements=st.integers(-(2**53), 2**53)),
    words=st.lists(
        st.text("ab=+-@'\t\r\n\",é\x1b", min_size=1).map(str.strip), min_size=3, max_size=3
    ),
)
@example(np.array([5e-324, 1.7976931348623157e308, -0.0]), np.arange(3), ["=a", "'=a", "-"])
def test_a_table_read_back_has_the_same_bits(tmp_path_factory, kind, numbers, whole, words):
    path = tmp_path_factory.mktemp("tables") / f"t.{kind}"
    words = ["x" if not word or (kind == "csv" and "\r" in word) else word for word in words]
    columns = {"id": np.array(words), "x": numbers, "=n": whole, "b": numbers > 0}
    save_table(path, columns)
    table = load_table(path)
    assert list(table) == list(columns)
    assert table["id"].tolist() == words
    assert table["x"].tobytes() == numbers.tobytes()
    np.testing.assert_array_equal(table["=n"], whole)
    np.testing.assert_array_equal(table["b"], columns["b"])


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match=r"a table must be \.csv or \.parquet, got '\.txt'"):
        save_table(tmp_path / "t.txt", {"a": np.zeros(2)})
    with pytest.raises(InputError, match=r"must all have the same length, got \{'a': 2, 'b': 3\}"):
        save_table(tmp_path / "t.csv", {"a": np.zeros(2), "b": np.zeros(3)})
    assert list(tmp_path.iterdir()) == []


def test_a_spreadsheet_finds_no_formula(tmp_path):
    save_table(
        tmp_path / "t.csv", {"=cmd": np.array(["=1+1", "-2", "@x"]), "n": np.array([-1.0, 2, 3])}
    )
    with (tmp_path / "t.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    # The name of a column with such cells has one apostrophe more.
    assert cells == ["''=cmd", "n", "'=1+1", "-1.0", "-2", "2.0", "'@x", "3.0"]
    assert load_table(tmp_path / "t.csv")["=cmd"].tolist() == ["=1+1", "-2", "@x"]


def test_an_apostrophe_of_another_program_survives(tmp_path):
    table = read(tmp_path, "id,'tis,b\n'=x,1,2\n'-5a,3,4\n'abc,5,6\n")
    assert list(table) == ["id", "'tis", "b"]
    assert table["id"].tolist() == ["'=x", "'-5a", "'abc"]
    words = np.array(["'=x", "=x", "''+", "a"])
    save_table(tmp_path / "t.csv", {"id": words, "n": np.arange(4)})
    assert load_table(tmp_path / "t.csv")["id"].tolist() == words.tolist()


def test_parquet_columns_of_other_kinds(tmp_path):
    table = pa.table(
        {
            "id": pa.array(["a", "b"]).dictionary_encode(),
            "n": pa.array([1, 2], pa.int8()),
            "price": pa.array([1, 2], pa.decimal128(4, 2)),
            "day": pa.array([0, 1], pa.date32()),
            "large": pa.array(["x", "y"], pa.large_string()),
            "list": pa.array([[1], [2]]),
            "raw": pa.array([b"1", b"2"]),
            "none": pa.nulls(2),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    read = load_table(tmp_path / "t.parquet")
    # in the file's order, without what holds no single values
    assert list(read) == ["id", "n", "price", "day", "large", "raw", "none"]
    assert read["id"].tolist() == ["a", "b"]
    assert read["price"].tolist() == [1.0, 2.0]
    assert read["day"].tolist() == ["1970-01-01", "1970-01-02"]
    pq.write_table(pa.table({"a": pa.array([1.0, None])}), tmp_path / "t.parquet")
    with pytest.raises(FileError, match="column a has no number at line 2"):
        read_frame(tmp_path / "t.parquet").numbers("a")
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    with pytest.raises(FileError, match="holds no rows"):
        load_table(tmp_path / "t.parquet")


def test_arrow_calls_no_python_from_its_own_threads(tmp_path, monkeypatch):
    """A thread that enters Python while it exits aborts the process, with exit code 134."""
    path, callers = tmp_path / "a.parquet", set()
    save_table(path, {"x": np.arange(100.0), "word": np.array(["a", "b"] * 50)})

    class Watched(io.FileIO):
        def read(self, *size):
            callers.add(threading.get_ident())
            return super().read(*size)

    monkeypatch.setattr(arrow, "opened", Watched)
    assert list(load_table(path)) == ["x", "word"]
    assert callers <= {threading.get_ident()}


@pytest.mark.parametrize("first", [0, 1])
def test_a_first_line_that_may_name_the_classes_is_refused(tmp_path, first):
    path = tmp_path / "c.csv"
    path.write_text(f"{first},{first + 1}\n0,1\n2,0\n")
    with pytest.raises(FileError, match="may name the classes or be an action"):
        read_cost(path)

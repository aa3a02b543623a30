"""What the fuzzer found, as small files: each was a traceback, a warning, or gigabytes."""

import json
import random
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rue.data
from rue.bench.tables import summarize
from rue.data.datasets.fashion_mnist import COUNTS as COUNTS_OF_FASHION
from rue.errors import FileError
from rue.io.answers import read_truth
from rue.io.cost import read_cost
from rue.io.predictions import read_predictions

N = 4
COUNTS = np.full((N, 2), 3)
PROBS = np.full((N, 2), 0.5)


def refused(read, path, words):
    with pytest.raises(FileError, match=words) as error:
        read(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "ids",
    [
        np.array([1, 2, 3, 1e4], np.float16),  # 2^53 is no float16
        np.array([1, 2, 3, np.longdouble("1e4000")]),
    ],
)
def test_ids_of_other_precisions(tmp_path, ids):
    np.savez(tmp_path / "a.npz", counts=COUNTS, ids=ids)
    if ids.dtype == np.float16:
        assert read_truth(tmp_path / "a.npz").ids.tolist() == ["1", "2", "3", "10000"]
    else:
        refused(read_truth, tmp_path / "a.npz", "ids must be text or a whole number in every row")


@pytest.mark.parametrize("most", ["1e4000", "1e200"])
def test_costs_in_extended_precision(tmp_path, most):
    np.save(tmp_path / "cost.npy", np.array([[0, np.longdouble(most)], [1, 0]]))
    refused(read_cost, tmp_path / "cost.npy", "finite, got inf|largest cost in C must be from")


def test_costs_in_half_precision(tmp_path):
    np.save(tmp_path / "cost.npy", np.array([[0, 4], [1, 0]], np.float16))
    assert read_cost(tmp_path / "cost.npy").costs.max() == 4


def test_extended_numbers_that_are_none(tmp_path):
    strange = np.frombuffer(b"\xff" * 9 + b"\x3f" + b"\xff" * 6, np.longdouble)  # no valid pattern
    np.savez(tmp_path / "a.npz", counts=np.tile(strange, (N, 2)))
    refused(read_truth, tmp_path / "a.npz", "a.npz: ")


def test_probabilities_whose_sum_overflows(tmp_path):
    np.savez(tmp_path / "a.npz", probs=np.full((N, 2), 1.7e308))
    refused(read_predictions, tmp_path / "a.npz", "probs must sum to 1 .*sums to inf")


@pytest.mark.parametrize("label", ["inf", "1e300", "0.5"])
def test_classes_that_are_no_whole_numbers(tmp_path, label):
    text = "id,annotator,label\n" + "".join(f"p{i},w,{x}\n" for i, x in enumerate((0, 1, label)))
    (tmp_path / "a.csv").write_text(text)
    refused(read_truth, tmp_path / "a.csv", "label must be a class, got .* at row 2")


def test_classes_beyond_int64_keep_their_names(tmp_path):
    labels = pa.array([2**63, 2**63 + 1, 5], pa.uint64())
    columns = {"id": pa.array(["a", "b", "c"]), "label": labels}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = read_truth(tmp_path / "a.parquet").outcomes.names
    assert found == ("5", str(2**63), str(2**63 + 1))


def test_ratings_of_no_point(tmp_path):
    np.savez(tmp_path / "a.npz", ratings=np.zeros((0, 4)))
    refused(read_truth, tmp_path / "a.npz", r"a.npz: .*at least one")


def test_a_range_of_words(tmp_path):
    np.savez(tmp_path / "a.npz", ratings=np.ones((N, 2)), range=np.array(["low", "high"]))
    refused(read_truth, tmp_path / "a.npz", "range must be two numbers")


def test_a_list_of_images_with_a_name_too_long_for_the_disk(tmp_path):
    folder = tmp_path / "openood" / "benchmark_imglist" / "cifar10"
    folder.mkdir(parents=True)
    (folder / "test_mnist.txt").write_text("mnist/" + "x" * 3000 + ".png 1\n")
    with pytest.raises(FileError, match="openood-mnist needs openood/images_classic/mnist/xxx"):
        rue.data.load("openood-mnist", tmp_path, verify=False)


def test_text_that_is_no_unicode(tmp_path):
    np.savez(tmp_path / "a.npz", counts=COUNTS, ids=np.array(["a", "b", "c", "d"]))
    content = (tmp_path / "a.npz").read_bytes()
    place = content.index(b"a\0\0\0b\0\0\0")
    letters = np.frombuffer(content[place : place + 16], np.uint32).copy()
    letters[0] = 0x7FFFFFFF
    np.savez(tmp_path / "b.npz", counts=COUNTS, ids=letters.view("U1"))
    refused(read_truth, tmp_path / "b.npz", "ids holds characters that are no Unicode")
    assert read_truth(tmp_path / "a.npz").ids.tolist() == ["a", "b", "c", "d"]


def test_counts_of_fashion_mnist_that_are_empty(tmp_path):
    from fuzz.datasets import fashion
    from fuzz.kinds import Case

    made = Case(random.Random(0), np.random.default_rng(0), tmp_path, valid=True)
    load = fashion(made)
    load(tmp_path)
    for content in (b"", b"\n", b"\xef\xbb\xbf", b"#", b",,,\n"):
        (tmp_path / COUNTS_OF_FASHION).write_bytes(content)
        with pytest.raises(FileError, match="must hold numbers"):
            load(tmp_path)


def test_rows_without_a_column_of_the_summary():
    # A row.json whose evaluation lacks a column that all others have.
    rows = [{"dataset": "d", "loss": "log", "method": "m", "n_aurec": 0.5}]
    assert summarize(rows)[0]["pareto_gap"] is None
    assert summarize([{"dataset": "d", "loss": "log", "method": "m"}])[0]["best"] == 0


@pytest.mark.parametrize("fact", ["n_points = inf", "n_points = 1e400"])
def test_facts_of_own_data_that_are_infinite(tmp_path, fact):
    (tmp_path / "answers.csv").write_text("id,annotator,label\na,w,x\na,v,y\nb,w,x\nb,v,y\n")
    from rue.data.own.description import save_description

    save_description(rue.data.check(tmp_path, name="mine").description, tmp_path / "mine.toml")
    text = (tmp_path / "mine.toml").read_text().replace("n_points = 2", fact)
    assert fact in text
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(FileError, match=r"facts\.n_points must be a whole number"):
        rue.data.load(str(tmp_path / "mine.toml"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "id,cat,emu,n_annotators\na,0.5,inf,5\nb,0.2,0.8,5\n", "finite, got inf"),
        ("t.csv", "id,cat,emu,n_annotators\na,0.6,1e308,5\nb,0.2,0.8,5\n", "must sum to 1"),
        (
            "t.jsonl",
            '{"uid": "a", "label_counter": {"x": 1' + "0" * 400 + ', "y": 1}}\n',
            "cannot be read as a table with numbers in label_counter",
        ),
    ],
)
def test_odd_numbers_in_answers(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=message):
        read_truth(tmp_path / name)


def test_records_of_a_log_that_are_not_like_the_first(tmp_path):
    whole = {"doc_id": 0, "arguments": [["c", "x"], ["c", "y"]], "filter": "none"}
    whole["filtered_resps"] = [["-1", "False"], ["-2", "False"]]
    lines = [whole, {key: value for key, value in whole.items() if key != "doc_id"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(FileError, match="record 2 of this log has no doc_id"):
        read_predictions(tmp_path / "a.jsonl")
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("samples/0.json", json.dumps({"id": ["a"], "epoch": 1}))
    with pytest.raises(FileError, match="an id and a number as epoch"):
        read_predictions(tmp_path / "a.eval")


def test_one_id_without_an_axis(tmp_path):
    np.savez(tmp_path / "a.npz", probs=np.full((N, 2, 2), 0.5), counts=COUNTS, ids=np.array("a"))
    refused(read_predictions, tmp_path / "a.npz", "ids")


@pytest.mark.parametrize("number", [np.inf, 1.7e308, np.nan])
def test_counts_that_are_no_numbers_of_answers(number, tmp_path):
    counts = np.array([[number, 1.7e308], [3, 3]])
    np.savez(tmp_path / "a.npz", probs=np.full((2, 2), 0.5), counts=counts)
    refused(read_predictions, tmp_path / "a.npz", "counts")

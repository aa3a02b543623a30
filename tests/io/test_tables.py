"""Tables of predictions and answers, wide and long."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rue import Annotations, Draws
from rue.errors import AlignmentError, FileError
from rue.io import read_run, read_truth
from rue.io.answers import answers_of, truth_of_answers
from rue.io.belief_tables import belief_arrays
from rue.io.files import read_frame
from rue.io.names import Matching
from rue.io.predictions import read_predictions
from rue.io.runs import align_files


def table(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return read_frame(path)


def predictions(tmp_path, text, **options):
    return belief_arrays(table(tmp_path, text), Matching(**options))[0]


def answers(tmp_path, text, **options):
    return answers_of(table(tmp_path, text), matching=Matching(**options))


def test_wide(tmp_path):
    found = predictions(tmp_path, "uid,yes,no,part\nb,0.2,0.8,x\na,0.6,0.4,y\n")
    assert found["ids"].tolist() == ["b", "a"]
    assert found["classes"].tolist() == ["yes", "no"]
    assert found["probs"].tolist() == [[0.2, 0.8], [0.6, 0.4]]
    assert found["part"].tolist() == ["x", "y"]


def test_wide_with_draws_and_a_score(tmp_path):
    text = "id,draw,a,b,epistemic\n1,0,0.2,0.8,5\n2,0,0.6,0.4,6\n2,1,0.5,0.5,6\n1,1,1,0,5\n"
    found = predictions(tmp_path, text)
    assert found["probs"].tolist() == [[[0.2, 0.8], [1, 0]], [[0.6, 0.4], [0.5, 0.5]]]
    assert found["epistemic"].tolist() == [5, 6]


def test_wide_columns_chosen_and_ordered(tmp_path):
    text = "id,length,no,yes\n1,40,0.2,0.8\n"
    found = predictions(tmp_path, text, classes=("yes", "no"))
    assert found["probs"].tolist() == [[0.8, 0.2]]
    assert found["classes"].tolist() == ["yes", "no"]
    with pytest.raises(FileError, match="no column for the class 'maybe'"):
        predictions(tmp_path, text, classes=("yes", "maybe"))


def test_long_in_any_order(tmp_path):
    text = "item,draw,class,prob\n1,0,b,0.8\n2,0,a,0.6\n1,0,a,0.2\n2,0,b,0.4\n2,1,a,1\n2,1,b,0\n"
    found = predictions(tmp_path, text + "1,1,b,0.5\n1,1,a,0.5\n")
    assert found["ids"].tolist() == ["1", "2"]
    order = found["classes"].tolist()
    a = order.index("a")
    assert found["probs"][..., a].tolist() == [[0.2, 0.5], [0.6, 1.0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,class,prob\n1,a,0.5\n1,a,0.5\n", "must be in one row only"),
        ("id,class,prob\n1,a,0.5\n2,b,0.5\n", "row for each class"),
        ("class,prob\na,0.5\n", "names the points"),
        ("id,class,prob\n1,a,x\n", "prob must hold numbers"),
        ("id,part\n1,x\n", "must have a column of probabilities"),
        ("id,draw,a,b\n1,0,1,0\n1,1,1,0\n2,0,1,0\n", "same number of draws"),
        ("id,draw,a,b\n1,0,1,0\n1,1,1,0\n2,0,1,0\n2,2,1,0\n", "same draws"),
        ("id,draw,a,b\n1,0,1,0\n1,0,1,0\n2,0,1,0\n2,1,1,0\n", "draw twice|same draws"),
    ],
)
def test_broken_predictions(tmp_path, text, words):
    with pytest.raises(FileError, match=words):
        predictions(tmp_path, text)


def test_one_row_per_answer(tmp_path):
    text = "item_id,annotator,label\nq,u1,yes\np,u1,no\nq,u2,no\nq,u3,yes\np,u2,no\n"
    found = answers(tmp_path, text)
    assert found.ids.tolist() == ["q", "p"]
    assert found.classes == ("no", "yes")
    assert found.counts.tolist() == [[1, 2], [2, 0]]
    wider = answers(tmp_path, text, classes=("yes", "no", "maybe"))
    assert wider.counts.tolist() == [[2, 1, 0], [0, 2, 0]]


def test_numbers_sort_as_numbers(tmp_path):
    found = answers(tmp_path, "id,label\n1,10\n1,9\n2,-1\n")
    assert found.classes == ("-1", "9", "10")


def test_one_row_per_class(tmp_path):
    found = answers(tmp_path, "id,class,count\n1,a,3\n2,b,2\n1,b,1\n")
    assert found.counts.tolist() == [[3, 1], [0, 2]]


def test_a_wide_table_is_not_long(tmp_path):
    assert answers(tmp_path, "id,a,b\n1,3,4\n").layout == "wide"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("label\nyes\n", "which point it is about"),
        ("id,worker_id,label\n1,u,yes\n1,u,no\n", "once per point, but u answered more than once"),
        ("id,annotator,label\n1,u,yes\n1,u,no\n", "once per point, but u answered more than once"),
        ("id,label\n1,0.5\n", "a column rating"),
        ("id,class,count\n1,a,3\n1,a,1\n", "must be in one row only"),
    ],
)
def test_broken_answers(tmp_path, text, words):
    with pytest.raises(FileError, match=words):
        truth_of_answers(answers(tmp_path, text))


def test_an_unknown_label_is_refused(tmp_path):
    with pytest.raises(FileError, match="label 'no' is none of the classes"):
        answers(tmp_path, "id,label\n1,no\n", classes=("yes", "maybe"))
    assert np.shape(answers(tmp_path, "id,label\n1,no\n1,yes\n").counts) == (1, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,a,b\n1,1,0\n2,1,0\n", False),
        ("id,a,b\n1,1,0\n2,1,0\n2,0,1\n1,1,0\n", True),
        ("id,draw,a,b\n1,0,1,0\n2,0,1,0\n2,1,0,1\n1,1,1,0\n", False),
        ("id,class,prob\n1,a,1\n1,b,0\n2,a,1\n2,b,0\n", False),
        ("id,mean,sd\n1,1,2\n2,1,2\n2,0,1\n1,1,2\n", True),
    ],
)
def test_a_note_says_that_rows_with_the_same_id_are_draws(tmp_path, text, said):
    path = tmp_path / "table.csv"
    path.write_text(text)
    note = f"{path} has 2 rows for each id, which were read as 2 draws per point"
    found = read_predictions(path)
    assert found.notes == ((note,) if said else ())
    assert found[np.array([0])].notes == found.notes


def test_the_note_of_repeated_rows_reaches_the_row(tmp_path):
    (tmp_path / "table.csv").write_text("id,a,b\n1,1,0\n2,1,0\n2,0,1\n1,1,0\n")
    (tmp_path / "truth.csv").write_text("id,a,b\n1,3,1\n2,1,3\n")
    run = read_run(tmp_path / "table.csv", read_truth(tmp_path / "truth.csv"), "brier")
    assert "table.csv has 2 rows for each id" in " ".join(run.notes)


def test_a_row_too_many_is_refused(tmp_path):
    text = "id,a,b\n1,1,0\n2,1,0\n1,0,1\n"
    with pytest.raises(FileError, match=r"draws \(rows with its id\), '2' has 1 and '1' 2"):
        predictions(tmp_path, text)


def test_counts_with_zeros_are_shares_or_scaled_where_the_user_says_so(tmp_path):
    text = "id,a,b,c\n1,50,50,0\n2,100,0,0\n"
    shares = answers(tmp_path, text, shares=True)
    assert shares.counts is None
    assert shares.probs.tolist() == [[0.5, 0.5, 0], [1, 0, 0]]
    scaled = answers(tmp_path, text, n_answers=10)
    assert scaled.counts.tolist() == [[5, 5, 0], [10, 0, 0]]
    assert scaled.probs is None


def test_a_column_that_nobody_used_is_named_and_a_score_has_a_hint(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("id,a,b,source\n1,0.2,0.8,web\n2,0.6,0.4,book\n")
    assert [note for note in read_predictions(path).notes if "not used" in note] == [
        f"{path}: source was not used"
    ]
    grouped = read_predictions(path, matching=Matching(groups=("source",)))
    assert not [note for note in grouped.notes if "not used" in note]
    path.write_text("id,a,b,uncertainty\n1,0.2,0.8,3\n2,0.6,0.4,4\n")
    (note,) = read_predictions(path, matching=Matching(classes=("a", "b"))).notes
    assert note.endswith(
        "uncertainty was not used; a score of epistemic uncertainty must be called epistemic"
    )
    path.write_text("id,label,uncertainty\n1,a,3\n1,b,4\n2,a,3\n")
    notes = [note for note in read_truth(path).notes if "uncertainty was not used" in note]
    assert notes
    assert "must be called" not in notes[0]


def test_ids_that_another_program_wrote_as_decimals_are_whole(tmp_path):
    found = predictions(tmp_path, "id,a,b\n7.0,0.2,0.8\n-12.0,0.6,0.4\n")
    assert found["ids"].tolist() == ["7", "-12"]
    found = predictions(tmp_path, "id,a,b\nx.0,0.2,0.8\n-12.0,0.6,0.4\n")
    assert found["ids"].tolist() == ["x.0", "-12.0"]


def test_a_total_that_is_no_number_of_answers_leaves_shares_as_they_are(tmp_path):
    counted = answers(tmp_path, "id,a,b,total\n1,0.5,0.5,2\n2,0.25,0.75,4\n")
    assert counted.counts.tolist() == [[1, 1], [1, 3]]
    shares = answers(tmp_path, "id,a,b,total\n1,0.5,0.5,2\n2,0.25,0.75,0\n")
    assert shares.counts is None
    assert shares.probs.tolist() == [[0.5, 0.5], [0.25, 0.75]]


def test_an_id_column_that_is_stated_must_be_there(tmp_path):
    text = "key,id,a,b\nx,1,0.2,0.8\ny,2,0.6,0.4\n"
    assert predictions(tmp_path, text, id_name="key")["ids"].tolist() == ["x", "y"]
    with pytest.raises(FileError, match="has no column 'name' to name its rows, only key, id"):
        predictions(tmp_path, text, id_name="name")


def test_a_row_without_a_class_is_named(tmp_path):
    with pytest.raises(FileError, match="every row needs a class, line 3 has none"):
        predictions(tmp_path, "id,class,prob\n1,a,0.5\n1,,0.5\n")


def test_a_column_that_counts_answers_holds_whole_numbers(tmp_path):
    assert answers(tmp_path, "id,label,count\n1,a,2\n1,b,1\n").counts.tolist() == [[2, 1]]
    for count in ("-1", "1.5"):
        with pytest.raises(FileError, match=f"must count answers, got {count} at line 2"):
            answers(tmp_path, f"id,label,count\n1,a,{count}\n1,b,3\n")


@pytest.mark.parametrize("blanks", [0, 1, 11, 12, 40])
def test_a_cell_of_blanks_is_no_answer_however_many_they_are(tmp_path, blanks):
    found = answers(tmp_path, f"id,label\n1,a\n1,b\n2,{' ' * blanks}\n2,a\n2,{' ' * blanks}NA\n")
    assert found.classes == ("a", "b")
    assert found.counts.tolist() == [[1, 1], [1, 0]]


INDEXES = ['"",', "Unnamed: 0,", "Unnamed: 0.1,", "__index_level_0__,"]


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_beside_ids_is_no_class(tmp_path, index):
    """It was a class, in silence where counts are whole."""
    path = tmp_path / "t.csv"
    name = "Unnamed: 0" if index == '"",' else index[:-1]
    note = f"{path}: {name} was not used"
    for own, options in (("id", {}), ("key", {"id_name": "key"})):
        matching = Matching(**options)
        path.write_text(f"{index}{own},no,yes\n7,a,1,2\n3,b,3,0\n")
        truth = read_truth(path, matching=matching)
        assert (truth.outcomes.names, truth.ids.tolist()) == (("no", "yes"), ["a", "b"])
        assert truth.counts.tolist() == [[1, 2], [3, 0]]
        assert note in truth.notes
        path.write_text(f"{index}{own},no,yes\n7,a,0.25,0.75\n3,b,1,0\n")
        belief = read_predictions(path, matching=matching)
        assert (belief.outcomes.names, belief.ids.tolist()) == (("no", "yes"), ["a", "b"])
        assert note in belief.notes
    if name != "Unnamed: 0.1":  # without other ids, it has them
        path.write_text(f"{index}no,yes\n7,1,2\n3,3,0\n")
        assert read_truth(path).ids.tolist() == ["7", "3"]


def test_an_index_of_words_is_no_annotator(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"",id,first,second\nyes,a,yes,no\nno,b,no,no\n')
    truth = read_truth(path)
    assert truth.counts.sum(axis=1).tolist() == [2, 2]
    assert f"{path}: Unnamed: 0 was not used" in truth.notes


def test_an_index_that_is_stated_is_used(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"",id,no,yes\n7,a,1,2\n3,b,3,0\n')
    stated = Matching(id_name="Unnamed: 0", classes=("no", "yes"))
    assert read_truth(path, matching=stated).ids.tolist() == ["7", "3"]


def test_counts_that_are_all_even_are_noted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,yes,no\n" + "".join(f"{i},{2 * (i % 3) + 2},4\n" for i in range(20)))
    assert any("all counts are multiples of 2" in note for note in read_truth(path).notes)
    np.savez(tmp_path / "t.npz", counts=np.tile([2.0, 4.0, 0.0], (20, 1)))
    assert any("multiples of 2" in note for note in read_truth(tmp_path / "t.npz").notes)


def test_lists_of_two_lengths_are_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 1, "counts": [5, 3, 2]}\n{"id": 2, "counts": [5, 5]}\n')
    with pytest.raises(FileError, match="a list of the same length in every row, not at line 2"):
        read_truth(path)


def test_numbered_classes_are_in_the_order_of_their_numbers(tmp_path):
    text = "id,class,prob\na,10,0.5\na,9,0.5\nb,10,0.2\nb,9,0.8\n"
    found = predictions(tmp_path, text)
    assert found["classes"].tolist() == ["9", "10"]
    assert found["probs"].tolist() == [[0.5, 0.5], [0.8, 0.2]]
    words = predictions(tmp_path, text.replace("10", "yes").replace("9", "no"))
    assert words["classes"].tolist() == ["yes", "no"]


def test_counts_as_an_object_in_one_row_and_a_list_in_another_are_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 1, "counts": {"a": 1, "b": 2}}\n{"id": 2, "counts": [1, 2]}\n')
    with pytest.raises(FileError, match=r"a number by class in every row, got \[1, 2\] at line 2"):
        read_truth(path)


def test_two_columns_of_numbers_by_tabs_are_two_classes(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("0.25\t0.75\n0.5\t0.5\n")
    assert read_predictions(path).mean().tolist() == [[0.25, 0.75], [0.5, 0.5]]


@pytest.mark.parametrize(("n_words", "are_annotators"), [(30, True), (31, False)])
def test_columns_that_share_up_to_30_words_are_annotators(tmp_path, n_words, are_annotators):
    path = tmp_path / "t.csv"
    path.write_text("id,x,y\n" + "".join(f"{i},w{i},w{i}\n" for i in range(n_words)))
    if are_annotators:
        assert read_truth(path).counts.sum() == 2 * n_words
    else:
        with pytest.raises(FileError):
            read_truth(path)


def test_choices_are_counted_for_each_draw(tmp_path):
    texts = np.array([[["yes", "yes", "no", "no"], ["no", "no", "no", "yes"]]])
    np.savez(tmp_path / "p.npz", sampled_labels=texts)
    matching = Matching(choices=("yes", "no"))
    belief = read_predictions(tmp_path / "p.npz", matching=matching)
    assert belief.probs.tolist() == [[[0.5, 0.5], [0.25, 0.75]]]


def test_whole_numbers_of_classes_are_exact(tmp_path):
    labels = pa.array([2**53, 2**53 + 1, 2**53 + 1])
    table = pa.table({"id": ["a", "a", "a"], "annotator": ["u", "v", "w"], "label": labels})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_truth(tmp_path / "t.parquet").counts.tolist() == [[1, 2]]


def test_a_word_in_brackets_is_a_label(tmp_path):
    """A submission to LeWiDi has a list in every line; one cell makes none."""
    path = tmp_path / "answers.tsv"
    path.write_text("id\tlabel\na\tyes\na\tyes\nb\t[unclear]\nb\tyes\n")
    truth = read_truth(path)
    assert truth.outcomes.names == ("[unclear]", "yes")
    assert truth.counts.tolist() == [[0, 2], [1, 1]]


def test_one_point_with_a_hundred_answers_has_no_note_about_percentages(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("id,no,yes\na,60,40\n")
    assert read_truth(path).notes == ()
    path.write_text("id,no,yes\na,60,40\nb,50,50\n")
    (note,) = read_truth(path).notes
    assert "all counts of a point sum to 100" in note


def test_arrays_that_are_asked_for_as_groups_are_used(tmp_path):
    path = tmp_path / "answers.npz"
    site = np.array(["a", "b", "c"])
    np.savez(path, counts=np.ones((3, 2), np.int64), site=site, other=np.arange(3.0))
    assert read_truth(path).notes == (f"{path}: site, other were not used",)
    assert read_truth(path, by="site").notes == (f"{path}: other was not used",)


def test_a_sampled_answer_that_nobody_gave_is_noted(tmp_path):
    answers, samples = tmp_path / "answers.csv", tmp_path / "samples.csv"
    answers.write_text("id,label\na,yes\na,no\nb,yes\nb,yes\n")
    for word, is_noted in (("perhaps", True), ("no", False)):
        samples.write_text(f"id,answer\na,yes\na,{word}\nb,yes\nb,yes\n")
        notes = " ".join(read_run(samples, read_truth(answers), "brier").notes)
        assert ("'perhaps' is an answer in" in notes) == is_noted
        assert ("a class that nobody chose" in notes) == is_noted


def test_only_rows_without_ids_may_be_draws_first():
    """Three points with four draws beside four points: the fourth is missing if there are ids."""
    truth = Annotations(np.ones((4, 2), np.int64), ids=list("abcd"))
    draws = np.full((3, 4, 2), 0.5)
    with pytest.raises(AlignmentError, match="draws come second"):
        align_files(Draws(draws), truth)
    with pytest.raises(AlignmentError, match="lacks 1 of the ids in the truth, first 'd'"):
        align_files(Draws(draws, ids=list("abc")), truth)


@pytest.mark.parametrize("names", ["ann0,ann1", "anna,bob"])
def test_stated_classes_leave_columns_of_annotators_what_they_are(tmp_path, names):
    path = tmp_path / "t.csv"
    path.write_text(f"id,{names}\nx,low,high\ny,high,\nz,low,low\n")
    truth = read_truth(path, matching=Matching(classes=("low", "mid", "high")))
    assert truth.outcomes.names == ("low", "mid", "high")
    assert truth.counts.tolist() == [[1, 0, 1], [0, 0, 1], [2, 0, 0]]
    assert truth.notes[-1] == f"{path}: 1 cells without an answer were left out"


def test_half_stars_are_classes_where_the_user_says_so(tmp_path):
    path, predicted, arrays = (tmp_path / name for name in ("t.csv", "p.csv", "t.npz"))
    path.write_text("id,label\nx,0.5\nx,0.50\nx,1\ny,2.5\n")
    predicted.write_text("id,2.5,1,0.5\nx,0,0.5,0.5\ny,1,0,0\n")
    np.savez(arrays, counts=[[0, 1, 2], [1, 0, 0]], classes=[2.5, 1.0, 0.5], ids=["x", "y"])
    with pytest.raises(FileError, match="belong into a column rating"):
        read_truth(path)
    stated = Matching(classes=("0.5", "1", "2.5"))
    for truth, matching in ((path, stated), (arrays, Matching())):
        run = read_run(predicted, read_truth(truth, matching=matching), "squared")
        np.testing.assert_allclose(run.star.total, [(2 * 0.25**2 + 0.25**2) / 3, 0])
        assert not any("not used" in note for note in run.notes)


@pytest.mark.parametrize("name", ["NA", "null", "n/a"])
def test_a_class_that_reads_as_no_answer_is_refused(tmp_path, name):
    truth, predicted = tmp_path / "t.csv", tmp_path / "p.csv"
    truth.write_text(f"id,label\nx,{name}\nx,yes\ny,no\nz,no\n")
    predicted.write_text(f"id,{name},yes,no\nx,0.5,0.5,0\ny,0,0,1\nz,0,0.5,0.5\n")
    with pytest.raises(
        AlignmentError, match=f"has the class '{name}', but such cells of .* no ans"
    ):
        read_run(predicted, read_truth(truth), "log")


def test_names_of_classes_may_have_a_point_beside_decimal_commas(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("id;0.5;1;2.5\nx;0,25;0,5;0,25\ny;1;0;0\n")
    belief = read_predictions(path)
    assert (belief.outcomes.names, belief.mean().tolist()) == (
        ("0.5", "1", "2.5"),
        [[0.25, 0.5, 0.25], [1, 0, 0]],
    )


def test_padded_numbers_of_an_ordered_column_are_numbers(tmp_path):
    words = pd.Categorical(["02", "01", "02"], categories=["01", "02", "10"], ordered=True)
    pd.DataFrame({"id": ["x", "x", "y"], "label": words}).to_parquet(tmp_path / "t.parquet")
    truth = read_truth(tmp_path / "t.parquet")
    assert (truth.outcomes.names, truth.counts.tolist()) == (
        ("1", "2", "10"),
        [[1, 1, 0], [0, 1, 0]],
    )

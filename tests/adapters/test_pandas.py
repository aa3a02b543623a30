"""Answers in long form are counted, whatever their order, and doubtful ones refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rue
from rue.adapters.pandas import annotations
from rue.errors import InputError
from rue.io.answers import read_truth


def frame(rows):
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def test_by_hand():
    """Two say b: one 1, one 3. One says a: 3. So counts are [1, 0, 1] and [0, 0, 1]."""
    said = annotations(frame([("b", "x", 3), ("a", "x", 3), ("b", "y", 1)]), classes=[1, 2, 3])
    assert said.ids.tolist() == ["b", "a"]
    assert said.outcomes.names == ("1", "2", "3")
    assert said.counts.tolist() == [[1, 0, 1], [0, 0, 1]]
    assert said.outcomes.values.tolist() == [1, 2, 3]


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 5), st.integers(0, 5)), st.sampled_from("xyz"), min_size=1
    ),
    st.randoms(use_true_random=False),
)
def test_against_a_naive_twin_in_any_order(answers, random):
    rows = [(item, who, label) for (item, who), label in answers.items()]
    random.shuffle(rows)
    said = annotations(frame(rows), classes=list("xyz"))
    for i, name in enumerate(said.ids):
        for k, label in enumerate("xyz"):
            wanted = sum(item == int(name) and what == label for item, _, what in rows)
            assert said.counts[i, k] == wanted
    assert said.counts.sum() == len(rows)


def test_categories_are_the_classes_and_names_are_no_values():
    rows = frame([(1, 1, "mid"), (2, 1, "low")])
    rows["label"] = pd.Categorical(rows["label"], ["low", "mid", "high"])
    said = annotations(rows)
    assert said.outcomes.names == ("low", "mid", "high")
    assert said.counts.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert said.outcomes.values is None
    assert annotations(rows, classes=["high", "mid", "low"]).counts[0, 1] == 1


def test_numbers_in_a_column_of_objects_are_values_too():
    rows = frame([(1, 1, 3), (1, 2, 1), (2, 1, 3)]).astype({"label": object})
    assert annotations(rows).outcomes.values.tolist() == [1, 3]
    mixed = frame([(1, 1, 3), (1, 2, "x")])
    said = annotations(mixed, classes=["x", 3])
    assert said.counts.tolist() == [[1, 1]]
    assert said.outcomes.values is None


def test_items_may_be_tuples():
    rows = frame([((1, 2), 0, "x"), ((1, 3), 0, "y")])
    assert annotations(rows).ids.tolist() == ["(1, 2)", "(1, 3)"]


def test_without_annotators_rows_may_repeat():
    rows = frame([("a", 0, "x"), ("a", 0, "x"), ("a", 0, "y")])
    said = annotations(rows.drop(columns="annotator"), annotator=None)
    assert said.counts.tolist() == [[2, 1]]


def test_other_names_and_the_way_to_a_truth_file(tmp_path):
    rows = frame([("a", 0, 0), ("a", 1, 1), ("b", 0, 1)])
    renamed = rows.rename(columns={"item": "img", "annotator": "who", "label": "cls"})
    said = annotations(renamed, item="img", annotator="who", label="cls")
    np.savez(tmp_path / "truth.npz", counts=said.counts, ids=said.ids)
    from rue.io.answers import read_truth

    truth = read_truth(tmp_path / "truth.npz")
    assert truth.ids.tolist() == ["a", "b"]
    assert rue.realize(truth, None, "zero_one", actions=[0, 0]).epistemic.tolist() == [
        0,
        1,
    ]


GOOD = [("a", 0, "x"), ("b", 0, "y")]
BAD = [
    (frame([*GOOD, ("a", 0, "y")]), {}, "1 rows are repeated, first row 2: annotator 0 on item a"),
    (frame([*GOOD, (None, 0, "y")]), {}, "item must not have missing values, first at row 2"),
    (frame([*GOOD, ("c", 0, None)]), {}, "label must not have missing values, first at row 2"),
    (frame([]), {}, "at least one answer"),
    (frame(GOOD), {"classes": ["x", "z"]}, "label must be one of the classes, got 'y' at row 1"),
    (frame(GOOD), {"classes": ["x", "y", "x"]}, "must not repeat, got 'x' twice"),
    (frame(GOOD), {"classes": ["x", "y", None]}, r"must not have missing values, got \[.x"),
    (frame(GOOD), {"classes": "xy"}, "classes must be a list of labels, got 'xy'"),
    (frame(GOOD), {"classes": {"x", "y"}}, "classes must be a list of labels, got {"),
    (frame(GOOD), {"classes": [["x", "y"]]}, "classes must be a list of labels, got"),
    (frame([*GOOD, ("c", 0, 3)]), {}, "label must have one type, or.*got int and str"),
    (frame([*GOOD, (["c"], 0, "y")]), {}, "item must be names or numbers, got a list at row 2"),
    (dict(frame(GOOD)), {}, "frame must be a pandas DataFrame, got dict"),
    (pd.concat([frame(GOOD), frame(GOOD)[["label"]]], axis=1), {}, "one column 'label', got item"),
    (frame(GOOD), {"item": "image"}, "one column 'image', got item, annotator, label"),
    (frame([("1", 0, "x"), (1, 0, "y")]), {}, "with the same text"),
    (frame([("1", 0, "x")]), {}, "classes must be two or more different names, got x"),
]


@pytest.mark.parametrize(("rows", "options", "message"), BAD)
def test_bad_input(rows, options, message):
    with pytest.raises(InputError, match=message):
        annotations(rows, **options)


def test_words_have_an_order_only_if_somebody_states_it():
    rows = frame([(1, 1, "b"), (1, 2, "a"), (2, 1, "a"), (2, 2, "a")])
    belief = rue.Draws([[[0.5, 0.5]], [[0.2, 0.8]]], ids=["2", "1"], classes=["a", "b"])
    with pytest.raises(rue.errors.AlignmentError, match="needs the order of the classes"):
        rue.evaluate(annotations(rows), belief, "rps", gap=False)
    ordered = rows.assign(label=pd.Categorical(rows["label"], ["a", "b"], ordered=True))
    by_scale, by_user = annotations(ordered), annotations(rows, classes=["a", "b"])
    results = [rue.evaluate(t, belief, "rps", gap=False) for t in (by_scale, by_user)]
    assert results[0].risk == results[1].risk == pytest.approx((0.25 + (0.04 + 0.64) / 2) / 2)


@pytest.mark.parametrize("classes", [["1", "2"], [1, 2], [1.0, 2.0]])
@pytest.mark.parametrize("labels", [[1, 2, 2], ["1", "2", "2"], [1.0, 2.0, 2.0]])
def test_numbers_and_their_texts_are_the_same_classes(classes, labels):
    frame = pd.DataFrame({"item": ["a", "a", "b"], "label": labels})
    truth = annotations(frame, annotator=None, classes=classes)
    assert (truth.outcomes.names, truth.counts.tolist()) == (("1", "2"), [[1, 1], [0, 1]])


@pytest.mark.parametrize("kind", [int, str])
def test_an_ordered_categorical_of_numbers_is_the_scale_of_the_numbers(tmp_path, kind):
    labels = pd.Categorical([kind(3), kind(1), kind(2)], [kind(k) for k in (3, 2, 1)], ordered=True)
    frame = pd.DataFrame({"id": ["a", "a", "b"], "label": labels})
    frame.to_parquet(tmp_path / "t.parquet")
    truths = [read_truth(tmp_path / "t.parquet"), annotations(frame, item="id", annotator=None)]
    for truth in truths:
        assert (truth.outcomes.names, truth.counts.tolist()) == (
            ("1", "2", "3"),
            [[1, 0, 1], [0, 1, 0]],
        )

"""A DataSet keeps inputs, labels and annotations in step."""

import dataclasses

import numpy as np
import pytest

import rue.data
from rue.data import DataSet
from rue.errors import InputError, ShapeError
from rue.truth.annotations import Annotations
from rue.truth.ratings import Ratings


def make(**changes):
    fields = {
        "name": "toy",
        "task": "tabular",
        "inputs": np.arange(10.0).reshape(5, 2),
        "ids": np.array(list("abcde")),
        "class_names": ("no", "yes"),
        "values": np.arange(2.0),
        "train": np.array([0, 1]),
        "validation": np.array([], dtype=int),
        "test": np.array([4, 2, 3]),
        "annotations": Annotations([[3, 1], [0, 2], [1, 1]]),
        "annotated": np.array([2, 3, 4]),
        "labels": np.array([0, 1, 0, 1, 1]),
        "extras": {"age": np.arange(5)},
        "licence": "none",
        "citation": "none",
    }
    return DataSet(**{**fields, **changes})


def test_part():
    # Test is points 4, 2, 3, whose annotations are rows 2, 0, 1.
    part = make().part("test")
    assert part.inputs.tolist() == [[8, 9], [4, 5], [6, 7]]
    assert part.ids.tolist() == ["e", "c", "d"]
    assert part.annotations.counts.tolist() == [[1, 1], [3, 1], [0, 2]]
    assert part.annotated.tolist() == [0, 1, 2]
    assert part.labels.tolist() == [1, 0, 1]
    assert part.extras["age"].tolist() == [4, 2, 3]
    assert (part.train.size, part.validation.size, part.test.tolist()) == (0, 0, [0, 1, 2])
    assert part.part("test").ids.tolist() == ["e", "c", "d"]


def test_part_without_annotations():
    part = make().part("train")
    assert part.annotations is None
    assert part.annotated.size == 0
    assert len(make().part("validation")) == 0
    assert make().part("all").ids.tolist() == list("abcde")


def test_part_of_known_probabilities():
    known = Annotations.from_probs([[0.2, 0.8], [0.5, 0.5], [1, 0]], [-1, 1])
    part = make(annotations=known, values=np.array([-1.0, 1.0])).part("test")
    assert part.annotations.probs.tolist() == [[1, 0], [0.2, 0.8], [0.5, 0.5]]
    assert part.annotations.values.tolist() == [-1, 1]


def test_unknown_part():
    with pytest.raises(InputError, match=r"split must be one of all, train, .* got 'tset'"):
        make().part("tset")


def test_targets():
    assert make().targets().tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [0, 1]]
    soft = make(labels=None).part("test")
    assert soft.targets().tolist() == [[0.5, 0.5], [0.75, 0.25], [0, 1]]
    with pytest.raises(InputError, match="neither a label nor an annotation"):
        make(labels=None).targets()


def test_with_inputs():
    data = make().with_inputs(np.ones((5, 7)), {"far": np.ones((2, 7))})
    assert (data.task, data.inputs.shape, list(data.ood)) == ("features", (5, 7), ["far"])
    with pytest.raises(ShapeError, match=r"\(5, n_features\), got \(4, 7\)"):
        make().with_inputs(np.ones((4, 7)))


def test_frozen():
    data = make()
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"
    with pytest.raises(TypeError):
        data.extras["age"] = None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": np.array(["a"])}, "ids must have 5 entries, got 1"),
        ({"labels": np.zeros(4, int)}, "labels must have 5"),
        ({"extras": {"age": np.zeros(6)}}, "age must have 5"),
        ({"annotated": np.array([1])}, "annotated must name 3 points, got 1"),
        ({"annotations": None}, "annotated must name 0 points, got 3"),
    ],
)
def test_what_is_out_of_step_raises(changes, message):
    with pytest.raises(ShapeError, match=message):
        make(**changes)


def test_what_loaders_share_cannot_be_written_to(sentiment):
    data = rue.data.load("sentiment-nyt", sentiment)
    for array in (data.values, data.train, data.test, data.annotated, data.annotations.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    labels = rue.data.load("random-rbf", n_points=10).labels
    with pytest.raises(ValueError, match="read-only"):
        labels[0] = 7


def test_truth_is_what_people_said_where_they_said_it_of_all():
    # Test is points 4, 2, 3, whose annotations are rows 2, 0, 1.
    test = make().part("test").truth()
    assert test.probs.tolist() == [[0.5, 0.5], [0.75, 0.25], [0, 1]]
    assert test.values.tolist() == [0, 1]
    # Rows of annotations in another order than the points'.
    turned = make(annotated=np.array([4, 3, 2])).part("test").truth()
    assert turned.probs.tolist() == [[0.75, 0.25], [0.5, 0.5], [0, 1]]


def test_truth_is_the_label_where_not_all_points_are_annotated():
    assert make().truth().probs.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [0, 1]]
    assert make().part("train").truth().probs.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(InputError, match="toy has points with neither a label nor an annotation"):
        make(labels=None).truth()


def test_answers_are_classes_or_numbers_not_both():
    known = rue.data.load("random-rbf", n_points=5)
    with pytest.raises(InputError, match="give annotations or ratings, not both"):
        dataclasses.replace(known, ratings=Ratings(np.zeros((5, 2))))
    with pytest.raises(ShapeError, match="annotated must name 2 points, got 5"):
        dataclasses.replace(known, annotations=None, ratings=Ratings(np.zeros((2, 2))))

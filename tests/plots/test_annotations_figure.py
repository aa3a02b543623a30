"""The figure of human entropy and annotator counts shows what is in the counts."""

from dataclasses import replace

import numpy as np
import pytest

import rue.data
from rue.data import simulate_annotators
from rue.errors import InputError
from rue.plots import plot_annotations
from rue.truth.annotations import Annotations


def toy(counts):
    data = rue.data.load("random-rbf", n_points=len(counts), n_classes=len(counts[0]))
    return replace(data, name="toy", annotations=Annotations(counts))


def test_bars_add_up():
    world = rue.data.load("random-rbf", n_points=200)
    some = replace(world, annotations=simulate_annotators(world.annotations, np.arange(1, 201)))
    figure = plot_annotations([some, toy([[3, 1]] * 5)])
    assert len(figure.axes) == 4
    for axes in figure.axes:
        assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1)


def test_by_hand():
    # Entropies 0, 0, 0, 0 and log 2: mean 0.14 and four fifths in the first bar; 2 or 4 people.
    figure = plot_annotations([toy([[2, 0], [0, 2], [4, 0], [2, 0], [2, 2]])])
    left, right = figure.axes
    assert left.get_title("left") == "toy"
    assert left.get_title("right") == "mean 0.14"
    assert left.patches[0].get_height() == pytest.approx(0.8)
    assert right.get_title("right") == "2 to 4, mean 2.8"
    heights = {round(bar.get_x() + 0.45): bar.get_height() for bar in right.patches}
    assert heights == {2: pytest.approx(0.6), 4: pytest.approx(0.4)}


def test_the_same_number_for_all():
    figure = plot_annotations([toy([[1, 2]] * 5)])
    assert figure.axes[1].get_title("right") == "3 each"


def test_bad_arguments():
    with pytest.raises(InputError, match="at least one data set"):
        plot_annotations([])
    with pytest.raises(InputError, match="random-rbf has no counts"):
        plot_annotations([rue.data.load("random-rbf", n_points=5)])

"""The bump chart shows the ranks, a name at both ends of each line."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rue.errors import InputError
from rue.plots.comparison import plot_ranks
from rue.plots.style import line_styles
from rue.ranking.inversions import find_inversions
from rue.ranking.scores import Score


@pytest.fixture
def found():
    return find_inversions(
        [
            Score("d", "a", None, "near_ood", "", 0.9),
            Score("d", "b", None, "near_ood", "", 0.9),
            Score("d", "a", None, "aurec", "log", 0.2),
            Score("d", "b", None, "aurec", "log", 0.1),
            Score("d", "c", None, "aurec", "log", 0.3),
        ]
    )


def lines_of(axes):
    return {line.get_color(): line for line in axes.lines if line.get_marker() != "None"}


def names_of(axes):
    return [text for text in axes.texts if text.get_text() in "abc"]


def test_lines_are_the_ranks(found):
    (axes,) = plot_ranks([found]).axes
    lines = lines_of(axes)
    wanted = {"a": [1.5, 2], "b": [1.5, 1], "c": [np.nan, 3]}
    for method, style in line_styles(wanted).items():
        assert lines[style["color"]].get_ydata() == pytest.approx(wanted[method], nan_ok=True)
    assert axes.yaxis_inverted()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["near-OOD", "AuReC\nlog"]
    assert axes.get_title("left") == "d"
    kinds = [text.get_text() for text in axes.texts if text not in names_of(axes)]
    assert kinds == ["proxies", "regret"]


def test_names_stand_at_both_ends_and_apart(found):
    (axes,) = plot_ranks([found]).axes
    names = [(text.get_text(), text.xy[0], text.get_ha()) for text in names_of(axes)]
    assert sorted(names) == [
        ("a", 0.0, "right"),
        ("a", 1.0, "left"),
        ("b", 0.0, "right"),
        ("b", 1.0, "left"),
        ("c", 1.0, "left"),
    ]
    # a and b are equal at the left: their names are above and below the point.
    heights = [text.xyann[1] for text in names_of(axes) if text.get_ha() == "right"]
    assert heights == [5, -5]


def test_a_panel_a_comparison_and_one_colour_a_method(found):
    other = find_inversions(
        [Score(d, m, None, "aurec", "log", v) for d in "ef" for m, v in (("c", 1.0), ("a", 2.0))]
    )
    first, second = plot_ranks([found, other]).axes
    styles = line_styles("abc")
    assert set(lines_of(second)) == {styles["a"]["color"], styles["c"]["color"]}
    assert second.get_title("left") == ""
    labels = [tick.get_text() for tick in second.get_xticklabels()]
    assert labels == ["AuReC\nlog\ne", "AuReC\nlog\nf"]
    assert len(lines_of(first)) == 3


def test_nothing_to_draw_is_refused():
    with pytest.raises(InputError, match="at least one ranking"):
        plot_ranks([])


def test_long_names_stay_clear_of_the_axis():
    long = "dirichlet_multinomial"
    scores = [
        Score("d", method, None, criterion, "log", value)
        for criterion in ("aurec", "n_aurec", "pareto_gap")
        for method, value in ((long, 0.1), ("b", 0.2))
    ]
    figure = plot_ranks([find_inversions(scores)])
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    edges = axes.get_window_extent(canvas.get_renderer())
    for text in axes.texts:
        if text.get_text() == long:
            name = text.get_window_extent(canvas.get_renderer())
            assert edges.x0 < name.x0
            assert name.x1 < edges.x1


def test_at_most_eight_criteria_are_drawn():
    scores = [
        Score("d", method, None, criterion, loss, value)
        for criterion in ("near_ood", "aurec", "n_aurec", "pareto_gap", "aurc")
        for loss in ("log", "zero_one", "brier")
        for method, value in (("a", 0.1), ("b", 0.2))
    ]
    (axes,) = plot_ranks([find_inversions(scores)], width=5.5).axes
    labels = [tick.get_text() for tick in axes.get_xticklabels()]
    assert len(labels) == 8
    assert labels[3:6] == ["n-AuReC\nlog", "n-AuReC\n0/1", "n-AuReC\nBrier"]
    assert axes.figure.get_size_inches()[0] == 5.5

"""The figures of the surfaces show what they say."""

import numpy as np
import pytest

from pareto_worlds import KINDS, components
from rue import achievable_surface, optimal_surface, pareto_gap
from rue.errors import InputError
from rue.plots.style import save
from rue.plots.surfaces import plot_slices, plot_surfaces


@pytest.mark.parametrize("kind", KINDS)
def test_surfaces(kind, tmp_path):
    star, hat = KINDS[kind](60)
    axes = plot_surfaces(optimal_surface(star), achievable_surface(star, hat))
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    gap = f"gap (mean {pareto_gap(star, hat):.3g})"
    assert labels == ["optimal", "achievable", gap, "random ranking"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()) == (
        *("coverage", "regret", "risk"),
    )
    for line in axes.lines[:4]:  # the edges of both ribbons end where everything is accepted
        c, regret, risk = line.get_data_3d()
        assert (c[0], regret[0], risk[0]) == (0, 0, 0)
        assert (c[-1], regret[-1], risk[-1]) == pytest.approx(
            (1, star.epistemic.mean(), star.total.mean())
        )
    save(axes, tmp_path / "figure.png")


def test_the_lines_between_the_surfaces_are_the_distances():
    # Constant estimates rank at random: half the line lacks 1/8 in regret, as in the gap by hand.
    star = components([0.0, 0.5], [0.5, 0.0])
    random = achievable_surface(star, components([1, 1], [2, 2]))
    axes = plot_surfaces(optimal_surface(star), random)
    lengths = [
        np.linalg.norm(np.diff(line.get_data_3d(), axis=1))
        for line in axes.lines
        if line.zorder == 3
    ]
    assert max(lengths) == pytest.approx(1 / 8)
    assert len(lengths) == 9


@pytest.mark.parametrize("kind", KINDS)
def test_slices(kind, tmp_path):
    star, hat = KINDS[kind](60)
    optimal, achievable = optimal_surface(star), achievable_surface(star, hat)
    figure = plot_slices(optimal, achievable, coverages=(0.3, 0.754))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["coverage 0.3", "coverage 0.75"]
    cross, ours, best = figure.axes[1].lines[:3]
    assert cross.get_xydata()[0] == pytest.approx(
        [0.75 * star.epistemic.mean(), 0.75 * star.total.mean()]
    )
    for line, surface in ((ours, achievable), (best, optimal)):
        level = surface.points[np.isclose(surface.coverage, 0.75)]
        assert np.sort(line.get_xdata()) == pytest.approx(np.sort(level[:, 2]))
        assert np.sort(line.get_ydata()) == pytest.approx(np.sort(level[:, 1]))
    figure.savefig(tmp_path / "figure.png")


@pytest.mark.parametrize("coverages", [(), (0.5, 0.0), (1.2,)])
def test_coverages_are_checked(coverages):
    star, hat = KINDS["gridded"](5)
    with pytest.raises(InputError, match=r"coverages must be in \(0, 1\]"):
        plot_slices(optimal_surface(star), achievable_surface(star, hat), coverages=coverages)

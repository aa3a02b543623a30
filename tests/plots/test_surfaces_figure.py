"""The figures of the surfaces show what they say."""

import numpy as np
import pytest

from pareto_worlds import KINDS, components
from rue import achievable_surface, optimal_surface, pareto_gap
from rue.plots.curves import plot_surfaces
from rue.plots.style import save


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

"""One style for each method: distinct, also for colour-blind readers, and the same everywhere."""

from itertools import combinations

import numpy as np
import pytest

import rue
from rue.inference.method_ranking import compare_column
from rue.methods import METHODS
from rue.plots import plot_curve, plot_curves, plot_ranking
from rue.plots.methods import COLOURS, COLOURS_ON_DARK, method_styles
from rue.plots.style import PALETTE

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("colours", [COLOURS, COLOURS_ON_DARK], ids=["light", "dark"])
def test_any_two_colours_differ_for_every_reader(colours, vision):
    seen = [lab(np.array(VISIONS[vision]) @ linear(colour)) for colour in colours]
    # Deuteranopes take the report's former two oranges for one: their distance was 2.2.
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 12


@pytest.mark.parametrize("names", [list(METHODS), [f"model {i}" for i in range(21)]])
def test_every_method_has_a_style_of_its_own(names):
    styles = method_styles(names)
    assert len({(style.colour, style.dash) for style in styles.values()}) == len(names) >= 12


def test_a_style_does_not_depend_on_the_order_or_on_other_methods_of_rue():
    names = ["mine", "ensemble", "yours", "snapshots"]
    assert method_styles(names) == method_styles(names[::-1])
    assert method_styles(["ddu", "ensemble"])["ensemble"] == method_styles(names)["ensemble"]


def test_more_methods_than_styles_share_some():
    styles = method_styles(str(i) for i in range(60))
    assert len(styles) == 60
    assert all(0 <= style.colour < len(COLOURS) for style in styles.values())


def test_a_method_has_one_colour_in_all_figures():
    star = rue.Components([0.5, 0.5, 0.2], [0.0, 0.5, 0.1], [0.5, 0.0, 0.1])
    runs = [rue.Run(star, star, method=name, loss="zero_one") for name in ("ddu", "ensemble")]
    wanted = PALETTE[method_styles(["ensemble"])["ensemble"].colour]
    assert plot_curve(runs[1:]).lines[0].get_color() == wanted
    panel = plot_curves(runs, gain=True, width=5.5).axes[0]
    assert panel.lines[1].get_color() == wanted
    assert panel.get_title("left") == "Regret below random (0/1 loss)"
    # The ranking is the oracle's: regrets 0, 0.1, 0.5 of mean 0.2 are kept in this order.
    assert panel.lines[1].get_ydata() == pytest.approx([0, 0.2 / 3, 0.4 / 3 - 0.1 / 3, 0])
    drawn = dict(zip(("ensemble", "b"), np.random.default_rng(0).normal(size=(2, 9)), strict=True))
    ranking = compare_column("aurec", {"ensemble": 0.0, "b": 9.0}, drawn)
    axes = plot_ranking(ranking)
    assert wanted in {line.get_color() for line in axes.lines}
    assert axes.get_xlabel() == "mean rank"

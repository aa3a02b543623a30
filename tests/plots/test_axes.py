"""Functions of one panel draw on the axes they are given, and return them."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import rue
from rue.errors import InputError
from rue.inference.method_ranking import compare_column
from rue.metrics.second_order import pair_scores
from rue.plots import (
    plot_agreement,
    plot_bracket,
    plot_curve,
    plot_ranking,
    plot_regret_calibration,
    plot_regret_parts,
    plot_surfaces,
    save,
)

STAR = rue.Components([0.5, 0.5, 0.2], [0.0, 0.5, 0.1], [0.5, 0.0, 0.1])
HAT = rue.Components([3, 3, 3], [1, 2, 1], [2, 1, 2])
SURFACES = rue.optimal_surface(STAR), rue.achievable_surface(STAR, HAT)
RUNS = [rue.Run(STAR, HAT, method="a", loss="log"), rue.Run(STAR, STAR, method="b", loss="log")]
ENDS = {"low": 0.1, "low_se": 0.01, "high": 0.3, "high_se": 0.01, "true": 0.2}

PARTS = [
    {"name": "a", "approximation": 0.1, "estimation": 0.3, "predicted_regret": 0.2},
    {"name": "b", "approximation": 0.2, "estimation": -0.1},
]


def ranking():
    drawn = np.random.default_rng(0).normal(size=(2, 100))
    return compare_column("aurec", {"a": 0.0, "b": 9.0}, {"a": drawn[0], "b": drawn[1] + 9})


def inversions():
    numbers = {("near_ood", ""): (0.9, 0.7), ("aurec", "log"): (0.08, 0.07)}
    return rue.find_inversions(
        [
            rue.Score("toy", method, None, criterion, loss, value)
            for (criterion, loss), values in numbers.items()
            for method, value in zip("ab", values, strict=True)
        ]
    )


def answered(n_answers=5):
    """A run that knows its belief and its annotators' answers."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 60)
    truth = rue.Annotations(rng.multinomial(n_answers, p))
    return rue.Run.from_belief(truth, rue.Dirichlet(4 * p + 0.5), method="a")


ONE_PANEL = {
    "plot_agreement": lambda **ax: plot_agreement([answered()], n_replicates=9, **ax),
    "plot_bracket": lambda **ax: plot_bracket(
        [{"loss": "log", "m": m, **ENDS} for m in (10, 5)], **ax
    ),
    "plot_curve": lambda **ax: plot_curve(RUNS, **ax),
    "plot_ranking": lambda **ax: plot_ranking(ranking(), title="AuReC", **ax),
    "plot_regret_calibration": lambda **ax: plot_regret_calibration(RUNS, n_replicates=9, **ax),
    "plot_regret_parts": lambda **ax: plot_regret_parts(PARTS, **ax),
    "plot_surfaces": lambda **ax: plot_surfaces(*SURFACES, **ax),
}


@pytest.mark.parametrize("name", ONE_PANEL)
def test_given_axes_are_drawn_on_and_returned(name, tmp_path):
    figure = Figure()
    other = figure.add_subplot(1, 2, 1)
    ax = figure.add_subplot(1, 2, 2, projection="3d" if name == "plot_surfaces" else None)
    assert ONE_PANEL[name](ax=ax) is ax
    assert ax.lines
    assert not other.lines
    assert figure.axes == [other, ax]
    save(ax, tmp_path / "both.svg")


@pytest.mark.parametrize("name", ONE_PANEL)
def test_without_axes_a_figure_is_made(name):
    ax = ONE_PANEL[name]()
    assert isinstance(ax, Axes)
    assert ax.figure.axes == [ax]


def test_every_function_takes_axes_or_returns_a_figure():
    for name in rue.plots.__all__:
        if name.startswith("plot_"):
            signature = inspect.signature(getattr(rue.plots, name), eval_str=True)
            one = "ax" in signature.parameters
            assert one == (name in ONE_PANEL), name
            assert signature.return_annotation is (Axes if one else Figure), name


def test_a_score_without_a_unit_has_no_reliability_diagram():
    outside = replace(RUNS[0], hat=replace(HAT, outside_score=True))
    with pytest.raises(InputError, match="the score of a comes from another source"):
        plot_regret_calibration([RUNS[1], outside])


def test_agreement_is_drawn_in_bins_of_what_is_predicted():
    run = answered()
    line = plot_agreement([run], bins=3, n_replicates=9).lines[0]
    scores = pair_scores(run.annotations, run.belief)
    order = np.argsort(scores.agreement_hat).reshape(3, 20)
    means = [scores.agreement_hat[order].mean(axis=1), scores.agreement_star[order].mean(axis=1)]
    assert np.allclose(line.get_xydata(), np.transpose(means))


def test_agreement_needs_a_belief_and_pairs_of_answers():
    with pytest.raises(InputError, match="of a cannot be drawn: it has no belief"):
        plot_agreement(RUNS[:1])
    with pytest.raises(InputError, match="60 of 60 points have one answer"):
        plot_agreement([answered(1)])


def test_curves_show_the_chosen_value():
    # HAT's epistemic part is (2, 1, 2): the second point comes first, then the others as one block.
    line = plot_curve(RUNS[:1], value="risk").lines[0]
    assert np.allclose(line.get_xydata(), [[0, 0], [1 / 3, 0.5 / 3], [1, 1.2 / 3]])
    line = plot_curve(RUNS[:1]).lines[0]
    assert np.allclose(line.get_xydata(), [[0, 0], [1 / 3, 0], [1, 0.6 / 3]])


def test_what_is_refused():
    with pytest.raises(InputError, match="runs must be of one loss, got log, brier"):
        plot_curve([RUNS[0], rue.Run(STAR, HAT, method="a", loss="brier")])
    with pytest.raises(InputError, match="runs must be of one loss, got none"):
        plot_curve([])
    with pytest.raises(InputError, match="value must be regret or risk, got 'gain'"):
        plot_curve(RUNS, value="gain")
    with pytest.raises(InputError, match="rows must be of one loss, got log, crps"):
        plot_bracket([{"loss": loss, "m": 5, **ENDS} for loss in ("log", "crps")])
    with pytest.raises(InputError, match='ax must have projection="3d", got rectilinear'):
        plot_surfaces(*SURFACES, ax=Figure().subplots())


def test_a_bar_of_parts_ends_at_the_regret():
    axes = plot_regret_parts(PARTS)
    ends = [bar.get_y() + bar.get_height() for bar in axes.patches]
    assert ends == pytest.approx([0.1, 0.2, 0.4, 0.1])  # approximations, then regrets
    assert np.isnan(axes.lines[0].get_ydata()[1])
    with pytest.raises(InputError, match="at least one row"):
        plot_regret_parts([])


def test_pdf_files_embed_truetype_fonts(tmp_path):
    """Camera-ready checks reject Type 3 fonts, matplotlib's default."""
    save(plot_curve(RUNS), tmp_path / "curve.pdf")
    content = (tmp_path / "curve.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/CIDFontType2" in content

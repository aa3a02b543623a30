"""The figure of promised, attained and possible shows every rule and the budgets."""

import math

from rue.deploy import Outcome
from rue.plots.comparison import plot_outcomes
from rue.plots.style import save
from rue.selectors import Problem


def test_bars_and_budgets(tmp_path):
    outcomes = [
        Outcome("learned", True, 0.6, 0.04, 0.01, 100),
        Outcome("epistemic", True, 0.0, math.nan, math.nan, 100),
        Outcome("possible", False, 0.9, 0.05, 0.0, 0),
    ]
    figure = plot_outcomes(outcomes, Problem(maximize="coverage", risk_max=0.05, normalized=True))
    coverage, risk, regret = figure.axes
    widths = [[bar.get_width() for bar in axes.patches] for axes in figure.axes]
    assert widths == [[0.9, 0.0, 0.6], [0.05, 0.0, 0.04], [0.0, 0.0, 0.01]]
    names = [label.get_text() for label in coverage.get_yticklabels()]
    assert names == ["possible", "epistemic, promised", "learned, promised"]
    assert "accepts nothing" in [text.get_text() for text in coverage.texts]
    assert [line.get_xdata()[0] for line in risk.lines] == [0.05]
    assert not regret.lines
    assert risk.get_xlabel() == "risk per accepted point"
    save(figure, tmp_path / "figure.png")

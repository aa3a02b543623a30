"""Theorem 1: optimal selectors under coverage, risk and regret budgets."""

from rue.selectors.optimal import optimal_selector, solve
from rue.selectors.selector import Problem, Selector
from rue.selectors.team import TeamSelector, team_selector

__all__ = ["Problem", "Selector", "TeamSelector", "optimal_selector", "solve", "team_selector"]

"""Theorem 1: optimal selectors under coverage, risk and regret budgets."""

from rue.selectors.optimal import TeamSelector, optimal_selector, solve, team_selector
from rue.selectors.selector import Problem, Selector

__all__ = ["Problem", "Selector", "TeamSelector", "optimal_selector", "solve", "team_selector"]

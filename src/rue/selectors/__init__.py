"""Theorem 1: optimal selectors under coverage, risk and regret budgets."""

from rue.selectors.optimal import Selector, optimal_selector, solve
from rue.selectors.problem import Problem

__all__ = ["Problem", "Selector", "optimal_selector", "solve"]

"""Theorem 1: optimal selectors under coverage, risk and regret budgets."""

from rue.selectors.optimal import Selector, optimal_selector

__all__ = ["Selector", "optimal_selector"]

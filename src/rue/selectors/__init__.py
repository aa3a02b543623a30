"""Theorem 1: optimal selectors under coverage, risk and regret budgets."""

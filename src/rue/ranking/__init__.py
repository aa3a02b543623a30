"""Criteria side by side: scores of methods, and where criteria disagree."""

"""Inference: bootstrap intervals, paired comparisons and plans."""

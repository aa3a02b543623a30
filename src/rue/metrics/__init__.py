"""Metrics: curves and areas, correlations, calibration, and the row they make."""

"""Speed against peers and limits, as ratios in one run: ``make speed``."""

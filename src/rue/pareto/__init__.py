"""The Pareto-gap, and the surfaces that it measures (section 4.2 of the paper)."""

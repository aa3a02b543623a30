"""The only matplotlib: one file for each kind of figure."""

"""Change the core of the package at random places and see whether its tests notice.

``make mutants`` runs it by hand: it takes hours and is not part of the suite.
"""

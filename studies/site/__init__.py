"""The documentation site: docs/ and pages generated from the code, built by Zensical.

``python -m studies.site [FOLDER]`` builds it into site/ without a network, and fails on a warning.
"""

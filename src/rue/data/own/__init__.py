"""Data of your own: what a folder or a file of answers holds, and a TOML file that names it."""

from rue.data.own.check import Check, check
from rue.data.own.description import Description, own_entry, read_description

__all__ = ["Check", "Description", "check", "own_entry", "read_description"]

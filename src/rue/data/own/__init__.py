"""Your own data sets: read files of answers, check them, and describe them in a TOML file."""

from rue.data.own.check import Check, check
from rue.data.own.description import Description, own_entry, read_description

__all__ = ["Check", "Description", "check", "own_entry", "read_description"]

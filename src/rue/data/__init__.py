"""Data sets that say what people said: one registry, one file per data set or family."""

from rue.data.annotators import simulate_annotators
from rue.data.dataset import DataSet
from rue.data.features import featurize
from rue.data.info import Info, info
from rue.data.registry import ENTRIES, fetch, is_here, load

__all__ = [
    "ENTRIES",
    "DataSet",
    "Info",
    "featurize",
    "fetch",
    "info",
    "is_here",
    "load",
    "simulate_annotators",
]

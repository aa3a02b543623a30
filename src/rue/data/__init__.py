"""Data sets with the answers of annotators: one registry, one file per data set or family."""

from rue.data.dataset import DataSet, Labelling, Split, TaskKind
from rue.data.entry import Entry
from rue.data.features import Encoder, featurize
from rue.data.images import LazyImages
from rue.data.ood import add_ood, ood_groups
from rue.data.own.check import Check, check
from rue.data.own.description import Description, OwnFacts
from rue.data.registry import ENTRIES, Info, fetch, info, is_here, load
from rue.data.truth import simulate_annotators

__all__ = [
    "ENTRIES",
    "Check",
    "DataSet",
    "Description",
    "Encoder",
    "Entry",
    "Info",
    "Labelling",
    "LazyImages",
    "OwnFacts",
    "Split",
    "TaskKind",
    "add_ood",
    "check",
    "featurize",
    "fetch",
    "info",
    "is_here",
    "load",
    "ood_groups",
    "simulate_annotators",
]

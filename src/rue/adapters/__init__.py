"""Convert outputs of other libraries to beliefs and annotations, one file per library.

sklearn.py      forests, bagging, any list of classifiers    -> Draws
torch.py        any list of modules, or one with dropout     -> Draws
pandas.py       a frame of answers in long form              -> Annotations, ids
accumulator.py  batches of a validation loop                 -> Evaluation
hf.py           what a Trainer of transformers evaluates     -> columns
torchmetrics.py the same as a metric of torchmetrics         -> a column
sampled_labels  answers sampled from language models         -> Draws

Each module, and with it its library, is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from rue._lazy import lazy_attributes

if TYPE_CHECKING:
    from rue.adapters import accumulator as accumulator
    from rue.adapters import hf as hf
    from rue.adapters import pandas as pandas
    from rue.adapters import sklearn as sklearn
    from rue.adapters import torch as torch
    from rue.adapters import torchmetrics as torchmetrics
    from rue.beliefs.sampled_labels import sampled_labels as sampled_labels

_PUBLIC = {
    name: f"rue.adapters.{name}"
    for name in ("accumulator", "hf", "pandas", "sklearn", "torch", "torchmetrics")
}
_PUBLIC["sampled_labels"] = "rue.beliefs.sampled_labels"

__all__ = sorted(_PUBLIC)

if not TYPE_CHECKING:
    __getattr__ = lazy_attributes(__name__, _PUBLIC)

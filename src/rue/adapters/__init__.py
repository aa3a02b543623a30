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

from rue import _lazy_names

_LAZY, __getattr__ = _lazy_names(__name__, __file__)
__all__ = [*_LAZY]

"""Data sets made here."""

import numpy as np

from rue.data import DataSet
from rue.truth.annotations import Annotations


def data_set(inputs, probs, *, n_train, soft=True, counts=None):
    """Points of which the first train and the others test; answers where there are counts."""
    n, n_classes = probs.shape
    return DataSet(
        name="made",
        task="features" if inputs.ndim == 2 else "image",
        inputs=inputs,
        ids=np.arange(n).astype(np.str_),
        class_names=tuple(map(str, range(n_classes))),
        values=np.arange(float(n_classes)),
        train=np.arange(n_train),
        validation=np.zeros(0, np.int64),
        test=np.arange(n_train, n),
        annotations=Annotations.from_probs(probs) if counts is None else Annotations(counts),
        annotated=np.arange(n),
        labels=None if soft else probs.argmax(axis=1),
        licence="",
        citation="",
    )

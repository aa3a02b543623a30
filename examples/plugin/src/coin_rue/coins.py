"""Bent coins: each was thrown 20 times, and two measurements of it predict how it falls."""

import numpy as np

import rue
from rue.data import DataSet, Entry

N_THROWS = 20


def load(reader, entry, *, seed, n_points=600):
    """Return the coins; n_points is an option that suites can set."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n_points, 2))
    heads = 1 / (1 + np.exp(-2 * inputs[:, 0] - inputs[:, 1] * inputs[:, 0]))
    thrown = rng.binomial(N_THROWS, heads)
    train, rest = np.split(np.arange(n_points), [n_points // 2])
    validation, test = np.split(rest, [len(rest) // 3])
    return DataSet(
        name=entry.name,
        task=entry.task,
        inputs=inputs,
        ids=np.array([f"coin-{i}" for i in range(n_points)]),
        class_names=("tails", "heads"),
        values=np.array([0.0, 1.0]),
        train=train,
        validation=validation,
        test=test,
        annotations=rue.Annotations(np.stack([N_THROWS - thrown, thrown], axis=1)),
        annotated=np.arange(n_points),
        licence=entry.licence,
        citation=entry.citation,
    )


ENTRY = Entry(
    name="coins",
    task="tabular",
    n_points=600,
    n_classes=2,
    annotators=(N_THROWS, float(N_THROWS), N_THROWS),
    splits={"train": 300, "validation": 100, "test": 200},
    size=0,
    licence="CC0",
    citation="Made up for this example.",
    load=load,
)

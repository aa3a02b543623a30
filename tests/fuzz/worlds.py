"""Valid content of small prediction and truth files: 12 points, 3 classes, a few draws."""

import random
from typing import Any

import numpy as np

N, K = 12, 3
CLASSES = ("cat", "emu", "dog")
IDS = tuple(f"p{i}" for i in range(N))


def belief(rng: random.Random, numbers: np.random.Generator) -> dict[str, Any]:
    """Return the arrays of a belief about classes, of any kind."""
    match rng.randrange(6):
        case 0:
            return {"probs": numbers.dirichlet(np.ones(K), (N, 3))}
        case 1:
            return {"probs": numbers.dirichlet(np.ones(K), N)}
        case 2:
            return {"logits": numbers.normal(0, 2, (N, 3, K))}
        case 3:
            return {"alpha": numbers.gamma(2, 1, (N, K)) + 0.1}
        case 4:
            return {"sampled_labels": numbers.integers(0, K, (N, 6))}
        case _:
            return {"probs": numbers.dirichlet(np.ones(K), N), "epistemic": numbers.normal(0, 1, N)}


def real_belief(rng: random.Random, numbers: np.random.Generator) -> dict[str, Any]:
    """Return the arrays of a belief about real numbers, of any kind."""
    match rng.randrange(3):
        case 0:
            return {"mean": numbers.normal(0, 1, (N, 3)), "sd": numbers.gamma(2, 1, (N, 3))}
        case 1:
            return {"samples": numbers.normal(0, 1, (N, 2, 4))}
        case _:
            shapes = {name: numbers.gamma(3, 1, N) + 1.5 for name in ("nu", "alpha", "beta")}
            return {"mu": numbers.normal(0, 1, N), **shapes}


def counts(numbers: np.random.Generator) -> Any:
    """Return how many annotators chose each class."""
    return numbers.multinomial(6, numbers.dirichlet(np.ones(K)), N)


def ratings(numbers: np.random.Generator) -> Any:
    """Return four real-valued answers to each point."""
    return numbers.normal(0, 2, (N, 4)).round(2)


def predictions(rng: random.Random, numbers: np.random.Generator) -> dict[str, Any]:
    """Return the arrays of a prediction file with its own truth."""
    if rng.random() < 0.25:
        arrays = real_belief(rng, numbers) | {"ratings": ratings(numbers)}
    else:
        arrays = belief(rng, numbers) | {"counts": counts(numbers)}
        if rng.random() < 0.5:
            arrays["classes"] = np.array(CLASSES)
            if "sampled_labels" in arrays:
                arrays["sampled_labels"] = np.array(CLASSES)[arrays["sampled_labels"]]
        if rng.random() < 0.3:
            arrays["values"] = np.array([-1.0, 0.0, 2.5])
    if rng.random() < 0.6:
        arrays["ids"] = np.array(IDS)
    if rng.random() < 0.4:
        arrays["group"] = numbers.integers(0, 2, N)
    if rng.random() < 0.3:
        arrays["method"] = np.array("mine")
    return arrays


def components(numbers: np.random.Generator) -> list[list[str]]:
    """Return a table of components."""
    risk = numbers.random(N)
    rows = np.stack([numbers.random(N), numbers.random(N), risk, risk * numbers.random(N)], 1)
    header = ["id", "aleatoric", "epistemic", "risk", "regret"]
    return [
        header,
        *([name, *map(repr, row)] for name, row in zip(IDS, rows.tolist(), strict=True)),
    ]


def wide(matrix: Any, extra: dict[str, Any] | None = None) -> list[list[str]]:
    """Return a table with a column per class."""
    more = extra or {}
    rows = [
        [name, *map(repr, row), *(str(column[i]) for column in more.values())]
        for i, (name, row) in enumerate(zip(IDS, np.asarray(matrix).tolist(), strict=True))
    ]
    return [["id", *CLASSES, *more], *rows]


def long(draws: Any) -> list[list[str]]:
    """Return a table with a row per point, draw and class."""
    rows = [["id", "draw", "class", "prob"]]
    for name, point in zip(IDS, np.asarray(draws).tolist(), strict=True):
        for d, row in enumerate(point):
            rows += [[name, str(d), c, repr(p)] for c, p in zip(CLASSES, row, strict=True)]
    return rows


def answers(numbers: np.random.Generator) -> list[list[str]]:
    """Return a table with a row per answer."""
    rows = [["id", "annotator", "label"]]
    for name in IDS:
        rows += [[name, f"w{w}", CLASSES[numbers.integers(K)]] for w in range(4)]
    return rows

"""Pool-based active learning: the choice of the next points to label (section 5.3, table 5).

A model is trained on a few labelled points and scores the rest of the training split. The points
with the highest scores are labelled, and the model is trained again; it is tested after each
round. A query reveals the training targets of the data set (``data.targets()``): a label, or the
answers of the annotators.

Acquisitions are the components of the model's belief (the paper uses ``epistemic`` and
``total``); ``random``, the baseline; and ``oracle``, the realised regret, which no model knows.
The truth of the oracle is ``data.truth()``: p* if it is known, and otherwise, as for letter, the
label taken as p*, so that the regret is the whole loss. The oracle is no strict upper bound: the
point with the highest regret need not be the most useful one to label (section 3.1).

The paper only states the number of rounds and of runs, ten. By default we start with 500 random
points and add 250 per round, 3,000 in total. The pool is the whole training split (letter, OpenML
6, has 20,000 points, of which 11,875 are training points at seed 0). The public code behind the
paper's numbers (``BUDGETS``) starts OpenML 6 with 1,000 labels and adds 1,000 in each round, and
OpenML 156 (RandomRBF) with 100 and 100; in the last round most of letter's split is labelled and
acquisitions differ little. The network and its training are those of :mod:`rue.methods`.

All seeds and acquisitions of a method are trained together in each round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, as_vector, require_one_of, require_whole
from rue._schema import Positive, build, require_fields
from rue._text import JsonObject
from rue.beliefs import Belief
from rue.components import realize
from rue.data.dataset import DataSet
from rue.data.images import LazyImages
from rue.data.splits import hashed, stream
from rue.errors import InputError
from rue.losses import Loss, get_loss
from rue.proxies.selective import SCORES, score
from rue.truth.annotations import Annotations

Acquisition = Literal["total", "aleatoric", "epistemic", "random", "oracle"]
ACQUISITIONS: tuple[Acquisition, ...] = get_args(Acquisition)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A budget of labels.

    Attributes
    ----------
    start : int
        The number of labelled points before the first round.
    step : int
        The number of points that each round adds.
    rounds : int
        The number of rounds.
    runs : int or None
        The number of runs, each with its own seed; None leaves it to the caller.

    Examples
    --------
    >>> from rue.proxies import BUDGETS
    >>> BUDGETS["openml-156"].n_labelled
    1100
    """

    start: Positive
    step: Positive
    rounds: Positive = 10
    runs: Positive | None = None

    def __post_init__(self) -> None:
        require_fields(self)

    @property
    def n_labelled(self) -> int:
        """The number of labelled points after the last round."""
        return self.start + self.step * self.rounds

    def to_dict(self) -> dict[str, int]:
        """Return start, step and rounds, what the result of one run depends on."""
        return {"start": self.start, "step": self.step, "rounds": self.rounds}


BUDGETS: Mapping[str, Budget] = MappingProxyType(
    {
        "openml-6": Budget(start=1_000, step=1_000, rounds=10, runs=10),
        "openml-156": Budget(start=100, step=100, rounds=10, runs=10),
    }
)
"""The budgets of table 5 by name."""


def get_budget(value: object, what: str = "active_learning") -> Budget:
    """Return a budget by its name, or from a table with the keys of :class:`Budget`."""
    if isinstance(value, str):
        if value not in BUDGETS:
            raise InputError(f"{what} must be of {', '.join(BUDGETS)} or a table, got {value!r}")
        return BUDGETS[value]
    if not isinstance(value, Mapping):
        keys = ", ".join(field.name for field in fields(Budget))
        raise InputError(
            f"{what} must be a name ({', '.join(BUDGETS)}) or a table with {keys}, got {value!r}"
        )
    return build(Budget, dict(value), where=what, table="a table")


@dataclass(frozen=True)
class ActiveLearning:
    """The results of one run of active learning, for rounds 0 (the start) to n_rounds.

    Attributes
    ----------
    data, method, acquisition, loss, seed
        The configuration; ``loss`` is the loss of the acquisition's score.
    n_labelled : tuple of int
        The number of points that the model of each round was trained on.
    accuracy, log_loss : tuple of float
        On the test split, against its ``truth()``: the probability that the predicted class is
        the answer, and the mean log loss.
    """

    data: str
    method: str
    acquisition: str
    loss: str
    seed: int
    n_labelled: tuple[int, ...]
    accuracy: tuple[float, ...]
    log_loss: tuple[float, ...]

    @property
    def nauc(self) -> float:
        """The normalised area under the accuracy; see :func:`nauc`."""
        return nauc(self.accuracy)

    def to_dict(self) -> JsonObject:
        """Return a dictionary that can be written as JSON."""
        lists = {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}
        return lists | {"nauc": self.nauc}


def nauc(values: ArrayLike) -> float:
    """Return the normalised area under the budget curve."""
    curve = as_vector("values", values)
    if len(curve) < 2:
        raise InputError(f"values must have at least 2 rounds, got {len(curve)}")
    return float(np.trapezoid(curve) / (len(curve) - 1))


def run(
    data: DataSet | Sequence[DataSet],
    method: str,
    seeds: Sequence[int] = (0,),
    *,
    acquisitions: Sequence[Acquisition] = ("epistemic", "total"),
    loss: str | Loss = "log",
    n_initial: int = 500,
    n_batch: int = 250,
    n_rounds: int = 10,
    config: Any = None,
    progress: bool = False,
) -> list[ActiveLearning]:
    """Run active learning with one method, for each acquisition and seed."""
    from tqdm import tqdm

    from rue.methods import METHODS
    from rue.methods.learner import one_for_each, whole_seeds

    require_one_of("method", method, METHODS)
    for acquisition in acquisitions:
        require_one_of("acquisition", acquisition, ACQUISITIONS)
    if not acquisitions or len(set(acquisitions)) < len(acquisitions):
        raise InputError(
            f"acquisitions must be a non-empty list without repetitions, got {acquisitions!r}"
        )
    for name, value in (("n_initial", n_initial), ("n_batch", n_batch), ("n_rounds", n_rounds)):
        require_whole(name, value, least=1)
    seeds = whole_seeds(seeds)
    data_sets = one_for_each(data, seeds)
    for one in data_sets:
        _require_pool(one, n_initial + n_rounds * n_batch)

    runs = [
        _Run(one, acquisition, seed, n_initial)
        for acquisition in acquisitions
        for one, seed in zip(data_sets, seeds, strict=True)
    ]
    tests = {id(one): one.part("test") for one in data_sets}
    truths = {key: test.truth() for key, test in tests.items()}
    hidden = None if progress else True
    for number in tqdm(range(n_rounds + 1), method, unit=" rounds", disable=hidden, delay=2):
        # Before the first query, the runs of all acquisitions are the same.
        different = runs if number else runs[: len(seeds)]
        fitted = METHODS[method].fit(
            [replace(r.data, train=r.labelled) for r in different],
            config,
            seeds=[
                hashed("active learning", r.acquisition if number else "", r.seed, number)
                for r in different
            ],
        )
        for place, r in enumerate(runs):
            model = fitted[place % len(different)]
            test = tests[id(r.data)]
            r.record(truths[id(r.data)], model.predict(test.inputs))
            if number == n_rounds:
                continue
            rest = np.setdiff1d(r.data.train, r.labelled)
            rng = stream("active learning", r.acquisition, r.seed, number, "query")
            values = _values(r, model, rest, loss)
            r.labelled = np.union1d(r.labelled, rest[acquire(values, n_batch, rng)])
    name = get_loss(loss, values=data_sets[0].values).name
    return [r.result(method, name, n_initial, n_batch) for r in runs]


def acquire(values: ArrayLike, n: int, rng: np.random.Generator) -> IntArray:
    """Return the rows of the ``n`` highest values, with ties broken at random."""
    vector = as_vector("values", values)
    if not 1 <= n <= len(vector):
        raise InputError(f"n must be from 1 to {len(vector)}, got {n}")
    return np.lexsort((rng.permutation(len(vector)), -vector))[:n]


class _Run:
    """The state of one run; the only mutable object of this module."""

    def __init__(self, data: DataSet, acquisition: Acquisition, seed: int, n_initial: int) -> None:
        self.data, self.acquisition, self.seed = data, acquisition, seed
        first = stream("active learning", seed, "start").permutation(data.train)[:n_initial]
        self.labelled: IntArray = np.sort(first)
        self.accuracy: list[float] = []
        self.log_loss: list[float] = []

    def record(self, truth: Annotations, belief: Belief) -> None:
        self.accuracy.append(1.0 - float(realize(truth, belief, "zero_one").total.mean()))
        self.log_loss.append(float(realize(truth, belief, "log").total.mean()))

    def result(self, method: str, loss: str, n_initial: int, n_batch: int) -> ActiveLearning:
        return ActiveLearning(
            data=self.data.name,
            method=method,
            acquisition=self.acquisition,
            loss=loss,
            seed=self.seed,
            n_labelled=tuple(n_initial + n_batch * r for r in range(len(self.accuracy))),
            accuracy=tuple(self.accuracy),
            log_loss=tuple(self.log_loss),
        )


def _values(r: _Run, model: Any, rest: IntArray, loss: str | Loss) -> FloatArray:
    """Return the acquisition value of each point that is not labelled yet."""
    if r.acquisition == "random":
        return np.zeros(len(rest))
    belief: Belief = model.predict(r.data.inputs[rest])
    if r.acquisition in SCORES:
        return score(belief, r.acquisition, loss, values=r.data.values)
    truth = replace(r.data, train=rest).part("train").truth()
    return realize(truth, belief, loss).epistemic


def _require_pool(data: DataSet, n: int) -> None:
    if data.task == "text":
        raise InputError(f"{data.name} contains texts: apply rue.data.featurize first")
    if isinstance(data.inputs, LazyImages) or data.inputs.ndim != 2:
        raise InputError(f"active learning needs a matrix of features, {data.name} has none")
    if len(data.train) <= n:
        raise InputError(
            f"the pool must have more than the {n:,} points that are labelled in total, "
            f"the training split of {data.name} has {len(data.train):,}"
        )
    if len(data.test) == 0:
        raise InputError(f"{data.name} has no test points")

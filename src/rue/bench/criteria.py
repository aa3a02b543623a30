"""The criteria of a suite: what is computed for a trained method.

``regret`` gives a row of the paper's table for each loss. The proxies give one number or two
each, all of the same trained models: ``ood`` (near and far AUROC of the epistemic part),
``selective`` (AuAC of the total, against the answers and against the labels) and
``active_learning`` (NAUC of querying by either), under log loss as the paper has them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rue._text import JsonObject
from rue.beliefs import Belief, Convention
from rue.data import DataSet
from rue.data.images import LazyImages
from rue.data.ood import ood_groups
from rue.errors import InputError
from rue.metrics.columns import columns_where
from rue.metrics.evaluation import evaluate
from rue.proxies import active_learning
from rue.proxies.active_learning import Budget
from rue.proxies.rows import evaluate_proxies

PROXY_KEYS = columns_where(kind="proxy")


def regret(
    test: DataSet,
    belief: Belief,
    losses: Sequence[str],
    *,
    method: str,
    convention: Convention = "definition",
) -> list[JsonObject]:
    """Return a row of the paper's table for each loss."""
    truth = test.annotations if test.ratings is None else test.ratings
    assert truth is not None  # require_criteria has seen to it
    values = None if test.ratings is not None else test.values
    return [
        evaluate(truth, belief, loss, values=values, method=method, convention=convention).to_dict()
        for loss in losses
    ]


def proxies(
    criteria: Sequence[str],
    test: DataSet,
    fitted: Any,
    belief: Belief,
    learnt: Sequence[active_learning.ActiveLearning],
) -> JsonObject:
    """Return the numbers of the proxy tasks by their column, and ``details`` of each."""
    numbers: JsonObject = dict.fromkeys(PROXY_KEYS)
    details: JsonObject = {}
    outside: dict[str, Belief] = {}
    answers = labels = None
    if "ood" in criteria:
        outside = {name: fitted.predict(x) for name, x in test.ood.items()}
    if "selective" in criteria:
        complete = test.annotations is not None and len(test.annotated) == len(test)
        answers, labels = test.truth() if complete else None, test.labels
    if outside or answers is not None or labels is not None:
        groups = ood_groups(test.name) if outside else None
        row = evaluate_proxies(
            belief, outside=outside, groups=groups, answers=answers, labels=labels
        )
        numbers |= row.columns()
        details = row.details()
    for run in learnt:
        numbers[f"nauc_{run.acquisition}"] = run.nauc
    if learnt:
        details["active_learning"] = [run.to_dict() for run in learnt]
    return {**numbers, "details": details}


def require_criteria(criteria: Sequence[str], data: DataSet) -> None:
    """Raise, before any training, if a criterion is impossible for a data set."""
    proxy = next((name for name in criteria if name != "regret"), None)
    if data.ratings is not None and proxy is not None:
        raise InputError(f"{data.name} has real-valued answers, and {proxy} is for classes")
    if "regret" in criteria and not np.isin(data.test, data.annotated).all():
        raise InputError(f"{data.name}: every test point must have answers, and some have none")
    if "ood" in criteria and not data.ood:
        raise InputError(f"{data.name} has no OOD sets, so its criteria cannot have ood")
    if "active_learning" in criteria and (
        isinstance(data.inputs, LazyImages) or data.inputs.ndim != 2
    ):
        raise InputError(f"active_learning takes matrices of features, and {data.name} has none")


def learn_actively(
    data: Sequence[DataSet],
    method: str,
    seeds: Sequence[int],
    config: Any,
    budget: Budget | None = None,
) -> list[list[active_learning.ActiveLearning]]:
    """Run active learning for all seeds together, and return the runs of each seed."""
    if budget is None:
        step = min(250, max(1, min(len(one.train) for one in data) // 24))
        budget = Budget(start=2 * step, step=step)
    runs = active_learning.run(
        data,
        method,
        seeds,
        n_initial=budget.start,
        n_batch=budget.step,
        n_rounds=budget.rounds,
        config=config,
    )
    return [[run for run in runs if run.seed == seed] for seed in seeds]

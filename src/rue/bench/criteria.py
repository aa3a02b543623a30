"""The criteria of a suite: what is computed for a trained method.

``regret`` gives a row of the paper's table for each loss. The proxies give one number or two
each, all of the same trained models: ``ood`` (near and far AUROC of the epistemic part),
``selective`` (AuAC of the total) and ``active_learning`` (NAUC of querying by either), under log
loss as the paper has them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rue.beliefs import Belief, RealBelief
from rue.components import decompose
from rue.data import DataSet
from rue.data.images import LazyImages
from rue.data.ood import ood_groups
from rue.errors import InputError
from rue.metrics.columns import columns_where
from rue.metrics.evaluation import evaluate
from rue.proxies import active_learning
from rue.proxies.ood import evaluate_ood
from rue.proxies.scores import score
from rue.proxies.selective import correctness, evaluate_selective

__all__ = ["PROXY_KEYS", "learn_actively", "proxies", "regret", "require_criteria"]

PROXY_KEYS = columns_where(kind="proxy")


def regret(
    test: DataSet, belief: Belief | RealBelief, losses: Sequence[str], *, method: str
) -> list[dict[str, Any]]:
    """Return a row of the paper's table for each loss."""
    if test.ratings is not None:
        return [evaluate(test.ratings, belief, loss, method=method).to_dict() for loss in losses]
    assert test.annotations is not None  # require_criteria has seen to it
    return [
        evaluate(test.annotations, belief, loss, values=test.values, method=method).to_dict()
        for loss in losses
    ]


def proxies(
    criteria: Sequence[str],
    test: DataSet,
    fitted: Any,
    belief: Belief,
    learnt: Sequence[active_learning.ActiveLearning],
) -> dict[str, Any]:
    """Return the numbers of the proxy tasks by their column, and ``details`` of each."""
    found: dict[str, Any] = dict.fromkeys(PROXY_KEYS)
    details: dict[str, Any] = {}
    if "ood" in criteria and test.ood:
        outside = {name: score(fitted.predict(x)) for name, x in test.ood.items()}
        ood = evaluate_ood(score(belief), outside, ood_groups(test.name))
        found["near_ood"] = None if ood.near is None else ood.near.auroc
        found["far_ood"] = None if ood.far is None else ood.far.auroc
        details["ood"] = ood.to_dict()
    if "selective" in criteria:
        rows = evaluate_selective(correctness(test.truth(), belief), decompose(belief, "log"))
        found["auac"] = next(row.auac for row in rows if row.score == "total")
        details["selective"] = [row.to_dict() for row in rows]
    for run in learnt:
        found[f"nauc_{run.acquisition}"] = run.nauc
    if learnt:
        details["active_learning"] = [run.to_dict() for run in learnt]
    return {**found, "details": details}


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
    data: Sequence[DataSet], method: str, seeds: Sequence[int], config: Any
) -> list[list[active_learning.ActiveLearning]]:
    """Run active learning for all seeds together, and return the runs of each seed.

    At most half of the pool is labelled: 3,000 points if the pool has at least 6,000, otherwise
    proportionally fewer at the start and per round.
    """
    n_batch = min(250, max(1, min(len(one.train) for one in data) // 24))
    runs = active_learning.run(
        data, method, seeds, n_initial=2 * n_batch, n_batch=n_batch, config=config
    )
    return [[run for run in runs if run.seed == seed] for seed in seeds]

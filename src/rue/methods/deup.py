"""DEUP (Lahlou et al. 2023): a second network predicts the regret of the first.

Five networks that leave out a fold each tell, for every training point, a prediction that has not
seen it; the regret of that under log loss, with p* the distribution of the point's answers, is

    KL(p* || p_hat) = sum_k p*_k (log p*_k - log p_hat_k).

The error network e(x) = exp(logit) learns these out-of-fold regrets, by the loss e - r log e of
each regret r, whose expectation is least at the mean of r. The belief is the distribution of a
network that was trained on all points, and e(x) as its epistemic score: the regret to expect.

In-fold regret would be that of memorised answers. With one answer a point the regret would be all
of its loss, the part too that nobody could have avoided; so DEUP needs replicates.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rue.beliefs import Scored
from rue.data.dataset import Inputs
from rue.data.splits import N_FOLDS
from rue.methods._training.settings import Training
from rue.methods.learner import FitRequest, Fitted, Learner, Trained, networks

if TYPE_CHECKING:
    from rue.methods._training.models import Recipe

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """How to train: six networks for the mean and its regret, and the error network."""

    temperature: bool = False
    training: Training | None = None


def _recipe(config: Config, real: bool) -> "Recipe":  # noqa: ARG001
    from rue.methods._training import objectives
    from rue.methods._training.models import Recipe

    return Recipe(
        method="deup",
        n_members=1 + N_FOLDS,
        fold_of=lambda index: index - 1 if index else None,
        objective=objectives.count_cross_entropy,
        kind="answers",
        mean=lambda model, x: model.only(0).logits(x)[0].softmax(-1),
    )


def _train(config: Config, request: FitRequest) -> list[Trained]:
    """Train the networks for the mean, then the error networks; those of all seeds together."""
    from rue.methods._training.fitting import fit_pools
    from rue.methods._training.jobs import out_of_fold_regret
    from rue.methods._training.models import Recipe
    from rue.methods._training.objectives import regret_loss

    trained = networks(_recipe)(config, request)
    errors = fit_pools(
        Recipe(method="deup_error", objective=regret_loss),
        [replace(one.pool, targets=out_of_fold_regret(one)) for one in trained],
        [[one.model.training for one in trained]],
        [one.model.seed for one in trained],
        request,
    )[0]
    return [
        replace(one, model=one.model.only(0), state=error)
        for one, error in zip(trained, errors, strict=True)
    ]


def _belief(fitted: Fitted, inputs: Inputs | ArrayLike) -> Scored:
    from rue.methods._training.objectives import clipped_logs

    probs, scores = [], []
    for _, x in fitted.model.scaling.batches(inputs, fitted.model.chunk):
        probs.append(fitted.model.logits(x)[0].softmax(-1).cpu().numpy())
        logs = clipped_logs(fitted.state.logits(x)[0, :, 0].double())
        scores.append(logs.exp().cpu().numpy())
    return Scored(np.concatenate(probs), np.concatenate(scores))


learner = Learner("deup", Config, _train, _belief)
fit = learner.fit
predict = learner.predict

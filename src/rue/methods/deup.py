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

from rue.beliefs import Scored
from rue.data.dataset import as_inputs
from rue.data.splits import N_FOLDS
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import (
    AnyInputs,
    FitRequest,
    Fitted,
    Learner,
    Recipe,
    Trained,
    networks,
)

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """How to train: six networks for the mean and its regret, and the error network."""

    temperature: bool = False
    training: Training | None = None


def _recipe(config: Config) -> Recipe:  # noqa: ARG001
    from rue.methods._training import objectives

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
    from rue.methods._training.fitting import fit_pools, out_of_fold_regret
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


def _belief(fitted: Fitted, inputs: AnyInputs) -> Scored:
    from rue.methods._training.objectives import clipped_logs

    array = as_inputs(inputs)
    logs = clipped_logs(fitted.state.outputs(array)[:, 0, 0].double())
    return Scored(fitted.model.distributions(array)[:, 0], logs.exp().cpu().numpy())


learner = Learner("deup", Config, _train, _belief)
fit = learner.fit
predict = learner.predict

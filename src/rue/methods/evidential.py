"""Evidential network (Sensoy et al. 2018): the network's output is a Dirichlet.

alpha = softplus(logits) + 1, trained on the soft-label evidential cross-entropy, the expected
log loss under the Dirichlet (appendix C):

    sum_k p_k (psi(alpha_0) - psi(alpha_k)),  alpha_0 = sum_k alpha_k.

Where answers are real numbers, the output is a normal-inverse-gamma distribution (Amini et al.
2020), trained on the log density of the answers and a penalty on evidence for wrong predictions.
Its known weakness: the likelihood depends on nu and beta through beta (1 + nu)/nu alone, so that
the split into aleatoric and epistemic is left to the penalty and the training (Meinert et al.
2023).
"""

from dataclasses import dataclass
from functools import partial

from rue._schema import NotNegative
from rue.beliefs import Dirichlet, NormalInverseGamma
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, networks

__all__ = ["Config", "fit", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """The weight of the KL term (the paper has none, 0), and how to train.

    The term is ``kl`` times KL(Dirichlet(p + (1 - p) alpha) || Dirichlet(1)), the evidence that
    is not for the label; Sensoy et al. raise its weight over the first epochs, we do not.
    Where answers are real numbers there is no such term.
    """

    kl: NotNegative = 0.0
    training: Training | None = None


def _recipe(config: Config) -> Recipe:
    from rue.methods._training import objectives

    return Recipe(
        method="evidential",
        objective=partial(objectives.evidential_loss, kl=config.kl),
        settings=(config.kl,),
        mean=lambda model, x: objectives.proportions(objectives.evidence(model.logits(x)[0]) + 1),
    )


def _of_ratings(config: Config) -> Recipe:  # noqa: ARG001
    from rue.methods._training import objectives

    return Recipe(
        method="evidential",
        objective=objectives.real_evidential_loss,
        n_outputs=lambda _: 4,
        kind="ratings",
        log_loss=lambda model, x, y: objectives.evidential_log_loss(model.logits(x)[0].double(), y),
    )


def _belief(fitted: Fitted, inputs: AnyInputs) -> Dirichlet | NormalInverseGamma:
    from rue.methods._training.objectives import evidence

    outputs = fitted.model.outputs(inputs)
    if fitted.answers is not None:
        return fitted.answers.normal_inverse_gamma(outputs[:, 0])
    return Dirichlet((evidence(outputs[:, 0]) + 1).cpu().numpy())


learner = Learner("evidential", Config, networks(_recipe, ratings=_of_ratings), _belief)
fit = learner.fit
predict = learner.predict

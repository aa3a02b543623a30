"""Dirichlet-multinomial network: a Dirichlet that is fitted to several answers per input.

If the answers about x are drawn from p, and p from Dirichlet(alpha(x)), then counts c of m answers
have the likelihood

    m! Gamma(alpha_0) / Gamma(m + alpha_0)
        prod_k Gamma(c_k + alpha_k) / (c_k! Gamma(alpha_k)),   alpha_0 = sum_k alpha_k.

The network's output is alpha(x) = softplus(logits), and training maximises this likelihood. With
one answer (m = 1) it is alpha_k / alpha_0, which does not depend on the strength alpha_0: the
strength cannot be learnt from single labels. With two or more answers it can, because answers agree
more often the weaker the Dirichlet is. So the strength measures how far distributions of answers
differ among inputs that look the same to the network. The head is that of
:mod:`~rue.methods.evidential`, without adding 1 and with another loss.

Members are combined in their second moment (:mod:`rue.methods._training.second_moments`).
"""

from dataclasses import dataclass

import numpy as np

from rue._arrays import FloatArray
from rue._schema import Positive
from rue.beliefs import Dirichlet
from rue.methods._training.second_moments import clipped, dirichlet_joint, dirichlet_traces, match
from rue.methods._training.settings import Settings, Training
from rue.methods.learner import AnyInputs, Fitted, Learner, Recipe, networks

__all__ = ["Config", "clipped", "fit", "joint", "predict"]


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """How many members, and how to train."""

    n_members: Positive = 5
    training: Training | None = None


def _recipe(config: Config) -> Recipe:
    from rue.methods._training import objectives

    # The likelihood of all answers has gradients as many times as large, which AdamW divides out.
    per_answer = config.training is not None and config.training.optimizer == "sgd"
    return Recipe(
        method="dirichlet_multinomial",
        objective=objectives.per_answer_loss
        if per_answer
        else objectives.dirichlet_multinomial_loss,
        settings=("per answer",) if per_answer else (),
        n_members=config.n_members,
        kind="answers",
        mean=lambda model, x: objectives.proportions(
            objectives.concentrations(model.logits(x))
        ).mean(0),
    )


def _belief(fitted: Fitted, inputs: AnyInputs) -> Dirichlet:
    parts = []
    for alpha in _alphas(fitted, inputs):
        mean = (alpha / alpha.sum(axis=-1, keepdims=True)).mean(axis=0)
        parts.append(match(mean, dirichlet_traces(alpha).mean(axis=0)))
    return Dirichlet(np.concatenate(parts))


def joint(fitted: Fitted, inputs: AnyInputs) -> FloatArray:
    """Return the members' mean of :math:`E[p p^T]`, shape (n_points, n_classes, n_classes)."""
    return np.concatenate([dirichlet_joint(a).mean(axis=0) for a in _alphas(fitted, inputs)])


def _alphas(fitted: Fitted, inputs: AnyInputs) -> list[FloatArray]:
    """Return the members' concentrations (n_members, n, n_classes), chunk by chunk."""
    from rue.methods._training.objectives import concentrations

    return [concentrations(logits).cpu().numpy() for logits in fitted.model.chunks(inputs)]


learner = Learner("dirichlet_multinomial", Config, networks(_recipe), _belief, clipped)
fit = learner.fit
predict = learner.predict

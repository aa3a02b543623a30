"""Heads for real-valued outcomes: what outputs mean, and the log loss of answers under them.

Networks see answers in units of their standard deviation over the training points, around their
mean; :class:`AnswerScale` takes predictions back. The targets of a point are its answers, filled up
with NaN to a common number.

gaussian      mean and softplus(raw) + 0.001 as standard deviation
evidential    mu, nu = softplus + 0.001, alpha = softplus + 1.001 and beta = softplus + 0.001, a
              normal-inverse-gamma distribution (Amini et al. 2020)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from rue.beliefs import Gaussians, NormalInverseGamma

if TYPE_CHECKING:
    from rue.methods._training.models import Model, Recipe

PENALTY = 0.01
"""The weight of Amini et al. on evidence for wrong predictions."""
_FLOOR = 1e-3  # in units of the answers' standard deviation, so that no density is a spike
_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class AnswerScale:
    """How answers are scaled for networks: (answer - center) / width."""

    center: float
    width: float

    def gaussians(self, *outputs: Tensor) -> Gaussians:
        """Return the normal distributions of outputs (n, n_draws, 2), in one or more parts."""
        mean, sd = _gaussian(torch.cat(outputs).double())
        return Gaussians(
            (self.center + self.width * mean).cpu().numpy(), (self.width * sd).cpu().numpy()
        )

    def normal_inverse_gamma(self, outputs: Tensor) -> NormalInverseGamma:
        """Return the normal-inverse-gamma distributions of outputs (n, 4)."""
        mu, nu, alpha, beta = _evidential(outputs.double())
        return NormalInverseGamma(
            (self.center + self.width * mu).cpu().numpy(),
            nu.cpu().numpy(),
            alpha.cpu().numpy(),
            (self.width**2 * beta).cpu().numpy(),
        )


def gaussian_plan(recipe: "Recipe", outputs: "Callable[[Model, Tensor], Tensor]") -> "Recipe":
    """Return a recipe for real-valued answers, by outputs (n_draws, n, 2) of scaled inputs."""
    return replace(
        recipe,
        objective=gaussian_loss,
        n_outputs=lambda _: 2,
        kind="ratings",
        log_loss=lambda model, x, y: gaussian_mixture_log_loss(outputs(model, x).double(), y),
    )


def gaussian_loss(outputs: Tensor, answers: Tensor) -> Tensor:
    """Return the mean negative log density of each point's answers, (n_members, n)."""
    return _mean(_gaussian_log_loss(outputs, answers), answers)


def gaussian_mixture_log_loss(outputs: Tensor, answers: Tensor) -> Tensor:
    """Return the log loss (n,) of the mixture of outputs (n_draws, n, 2), mean over answers."""
    each = -_gaussian_log_loss(outputs, answers.expand(len(outputs), *answers.shape))
    return _mean(math.log(len(outputs)) - torch.logsumexp(each, 0), answers)


def evidential_loss(outputs: Tensor, answers: Tensor) -> Tensor:
    """Return the mean negative log density, plus 0.01 |y - mu| (2 nu + alpha)."""
    mu, nu, alpha, _ = _evidential(outputs)
    wrong = (_filled(answers, mu) - mu[..., None]).abs() * (2 * nu + alpha)[..., None]
    return evidential_log_loss(outputs, answers) + PENALTY * _mean(wrong, answers)


def evidential_log_loss(outputs: Tensor, answers: Tensor) -> Tensor:
    """Return the mean negative log density under Student's t, the mixture of the distribution."""
    mu, nu, alpha, beta = (part[..., None] for part in _evidential(outputs))
    omega = 2 * beta * (1 + nu)
    squared = (_filled(answers, mu[..., 0]) - mu) ** 2
    each = (
        0.5 * torch.log(math.pi / nu)
        - alpha * torch.log(omega)
        + (alpha + 0.5) * torch.log(nu * squared + omega)
        + torch.lgamma(alpha)
        - torch.lgamma(alpha + 0.5)
    )
    return _mean(each, answers)


def _gaussian(outputs: Tensor) -> tuple[Tensor, Tensor]:
    return outputs[..., 0], functional.softplus(outputs[..., 1]) + _FLOOR


def _evidential(outputs: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    nu, alpha, beta = (functional.softplus(outputs[..., k]) + _FLOOR for k in (1, 2, 3))
    return outputs[..., 0], nu, alpha + 1, beta


def _gaussian_log_loss(outputs: Tensor, answers: Tensor) -> Tensor:
    mean, sd = _gaussian(outputs)
    z = (_filled(answers, mean) - mean[..., None]) / sd[..., None]
    return 0.5 * z**2 + torch.log(sd)[..., None] + _HALF_LOG_2_PI


def _filled(answers: Tensor, value: Tensor) -> Tensor:
    """Replace missing answers by a number, so that no gradient is NaN."""
    return torch.where(torch.isnan(answers), value.detach()[..., None], answers)


def _mean(each: Tensor, answers: Tensor) -> Tensor:
    """Return the mean over the answers that are not missing."""
    there = ~torch.isnan(answers)
    return (each * there).sum(-1) / there.sum(-1)

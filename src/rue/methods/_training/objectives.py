"""Objectives: the losses that training minimises, one value per point.

Where answers are real numbers, networks see them in units of their standard deviation over the
training points, around their mean; :class:`AnswerScale` takes predictions back. The targets of a
point are its answers, filled up with NaN to a common number. Outputs are, for a normal
distribution, its mean and softplus(raw) + 0.001 as standard deviation; for a normal-inverse-gamma
distribution (Amini et al. 2020) mu, nu = softplus + 0.001, alpha = softplus + 1.001 and
beta = softplus + 0.001.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from rue.beliefs import Gaussians, NormalInverseGamma
from rue.methods.dirichlet_multinomial import unordered_pairs

if TYPE_CHECKING:
    from rue.methods._training.models import Model
    from rue.methods.learner import Recipe

Objective = Callable[[Tensor, Tensor], Tensor]
"""The loss (n_members, n) of logits and targets (n_members, n, K)."""

_LEAST = 1e-6  # of a concentration: softplus underflows to 0
_LOGS = (-16.0, 5.0)  # that a predicted regret's logarithm is clipped to
_PENALTY = 0.01  # the weight of Amini et al. on evidence for wrong predictions
_FLOOR = 1e-3  # in units of the answers' standard deviation, so that no density is a spike
_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """-sum_k p_k log softmax(logits)_k of soft labels p."""
    return -(targets * torch.log_softmax(logits, dim=-1)).sum(-1)


def count_cross_entropy(logits: Tensor, counts: Tensor) -> Tensor:
    """Cross-entropy of the distribution of answers; rows without any, which fill up, have 0."""
    return cross_entropy(logits, counts / counts.sum(-1, keepdim=True).clamp(min=1))


def evidential_loss(logits: Tensor, targets: Tensor, *, kl: float = 0.0) -> Tensor:
    """Evidential cross-entropy of each point, plus ``kl`` times the KL term."""
    alpha = evidence(logits) + 1
    loss = (targets * (torch.digamma(alpha.sum(-1, keepdim=True)) - torch.digamma(alpha))).sum(-1)
    return loss + kl * _divergence(targets + (1 - targets) * alpha) if kl else loss


def evidence(logits: Tensor) -> Tensor:
    """softplus(logits), which is not negative."""
    return functional.softplus(logits)


def _divergence(alpha: Tensor) -> Tensor:
    """KL(Dirichlet(alpha) || Dirichlet(1))."""
    total = alpha.sum(-1, keepdim=True)
    n_classes = torch.tensor(float(alpha.shape[-1]), dtype=alpha.dtype, device=alpha.device)
    constant = torch.lgamma(total[..., 0]) - torch.lgamma(alpha).sum(-1) - torch.lgamma(n_classes)
    return constant + ((alpha - 1) * (torch.digamma(alpha) - torch.digamma(total))).sum(-1)


def dirichlet_multinomial_loss(logits: Tensor, counts: Tensor) -> Tensor:
    """Minus the log-likelihood of counts."""
    return -log_likelihood(concentrations(logits), counts)


def per_answer_loss(logits: Tensor, counts: Tensor) -> Tensor:
    """Minus the log-likelihood of counts, divided by the number of answers."""
    return dirichlet_multinomial_loss(logits, counts) / counts.sum(-1).clamp(min=1)


def log_likelihood(alpha: Tensor, counts: Tensor) -> Tensor:
    """Return the Dirichlet-multinomial log-likelihood of counts (..., n_classes), in float64."""
    alpha, counts = alpha.double(), counts.double()
    total, n = alpha.sum(-1), counts.sum(-1)
    ratio = torch.lgamma(counts + alpha) - torch.lgamma(counts + 1) - torch.lgamma(alpha)
    return torch.lgamma(n + 1) + torch.lgamma(total) - torch.lgamma(n + total) + ratio.sum(-1)


def concentrations(logits: Tensor) -> Tensor:
    """Return alpha = softplus(logits), above 0 and in float64."""
    return functional.softplus(logits.double()) + _LEAST


def proportions(alpha: Tensor) -> Tensor:
    """Return the means of Dirichlets."""
    return alpha / alpha.sum(-1, keepdim=True)


def pair_cross_entropy(logits: Tensor, counts: Tensor) -> Tensor:
    """Cross-entropy of the pairs of answers of each point, 0 where there are fewer than two."""
    first, second = map(torch.from_numpy, unordered_pairs(logits.shape[-1]))
    same = (first == second).to(counts)
    n = counts.sum(-1, keepdim=True)
    ordered = counts[..., first] * (counts[..., second] - same) * (2 - same)
    target = ordered / (n * (n - 1)).clamp(min=1)
    return -(target * torch.log_softmax(logits, -1)).sum(-1)


def pair_marginal(shares: Tensor) -> Tensor:
    """Return the mean (n, n_classes) of shares of pairs (n, n_pairs)."""
    first, second = map(torch.from_numpy, unordered_pairs(shares.shape[-1]))
    mean = torch.zeros(len(shares), int(first[-1]) + 1, dtype=shares.dtype, device=shares.device)
    for classes in (first, second):
        mean.index_add_(1, classes.to(shares.device), shares / 2)
    return mean


def regret_loss(logits: Tensor, regret: Tensor) -> Tensor:
    """e - r log e of each point, with e = exp(logit): least in expectation at e = E r."""
    logs = clipped_logs(logits)
    return (logs.exp() - regret * logs).sum(-1)


def clipped_logs(logits: Tensor) -> Tensor:
    """Return logarithms of regrets within what they may be."""
    return logits.clamp(*_LOGS)


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


def of_ratings(recipe: "Recipe", outputs: "Callable[[Model, Tensor], Tensor]") -> "Recipe":
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


def real_evidential_loss(outputs: Tensor, answers: Tensor) -> Tensor:
    """Return the mean negative log density, plus 0.01 |y - mu| (2 nu + alpha)."""
    mu, nu, alpha, _ = _evidential(outputs)
    wrong = (_filled(answers, mu) - mu[..., None]).abs() * (2 * nu + alpha)[..., None]
    return evidential_log_loss(outputs, answers) + _PENALTY * _mean(wrong, answers)


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

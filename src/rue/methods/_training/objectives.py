"""Objectives: the losses that training minimises, one value per point."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from rue.methods._training.second_moments import unordered_pairs

Objective = Callable[[Tensor, Tensor], Tensor]
"""The loss (n_members, n) of logits and targets (n_members, n, K)."""

_LEAST = 1e-6  # of a concentration: softplus underflows to 0
_LOGS = (-16.0, 5.0)  # that a predicted regret's logarithm is clipped to


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

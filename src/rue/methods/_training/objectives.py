"""Objectives: the losses that training minimises, one value per point."""

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["Objective", "cross_entropy"]

Objective = Callable[[Tensor, Tensor], Tensor]
"""The loss (n_members, n) of logits and targets (n_members, n, K)."""


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """-sum_k p_k log softmax(logits)_k of soft labels p."""
    return -(targets * torch.log_softmax(logits, dim=-1)).sum(-1)

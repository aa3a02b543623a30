"""Optimisers of a stack: every member has its own learning rate and weight decay.

Members with the same settings lie side by side, so each run of them is a slice of every
parameter; torch's own optimiser takes the slices as parameters of one group. AdamW and SGD act on
each number by itself, so a member's steps do not depend on what lies beside it.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from rue.methods._training.networks import Network
from rue.methods._training.settings import Training

__all__ = ["StackOptimizer"]


class StackOptimizer:
    """AdamW (fused), or SGD with momentum 0.9, on a stack of networks."""

    def __init__(self, network: Network, settings: Sequence[Training]) -> None:
        self.settings = list(settings)
        self.whole = list(network.parameters())
        self.runs: list[slice] = []
        groups: list[dict[str, Any]] = []
        for (lr, decay), run in groupby(settings, key=lambda s: (s.lr, s.weight_decay)):
            first = self.runs[-1].stop if self.runs else 0
            self.runs.append(slice(first, first + len(list(run))))
            groups.append({"params": [], "lr": lr, "weight_decay": decay})
        if len(self.runs) == 1:
            groups[0]["params"] = self.whole
        else:
            for group, part in zip(groups, self.runs, strict=True):
                group["params"] = [nn.Parameter(p.detach()[part]) for p in self.whole]
        self.rates = [group["lr"] for group in groups]
        self.torch: torch.optim.Optimizer
        if settings[0].optimizer == "adamw":
            self.torch = torch.optim.AdamW(groups, fused=True)
        else:
            nesterov = settings[0].schedule == "one_cycle"
            self.torch = torch.optim.SGD(groups, lr=self.rates[0], momentum=0.9, nesterov=nesterov)

    def scale_rates(self, factor: float) -> None:
        """Set every rate to ``factor`` times its own."""
        for group, rate in zip(self.torch.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor

    def step(self, loss: Tensor) -> None:
        """Take one step down the gradient of a sum of the members' losses."""
        for parameter in self.whole:
            parameter.grad = None
        torch.autograd.backward(loss)
        if len(self.runs) > 1:
            for group, part in zip(self.torch.param_groups, self.runs, strict=True):
                for own, parameter in zip(group["params"], self.whole, strict=True):
                    own.grad = None if parameter.grad is None else parameter.grad[part]
        self.torch.step()

    def take(self, network: Network, members: Sequence[int]) -> "StackOptimizer":
        """Continue with some of the members, whose networks are ``network``."""
        other = StackOptimizer(network, [self.settings[i] for i in members])
        index = torch.tensor(list(members))
        for place in range(len(self.whole)):
            states = [self.torch.state[group["params"][place]] for group in self.torch.param_groups]
            joined = {
                name: torch.cat([state[name] for state in states])[index]
                for name, value in states[0].items()
                if isinstance(value, Tensor) and value.ndim
            }
            for group, part in zip(other.torch.param_groups, other.runs, strict=True):
                # What is not of a number each, the count of steps, is the same for all members.
                own = {
                    name: joined[name][part] if name in joined else _copied(value)
                    for name, value in states[0].items()
                }
                other.torch.state[group["params"][place]] = own
        return other


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value

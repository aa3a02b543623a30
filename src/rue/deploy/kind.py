"""What a rule is made for: the kind of belief, the loss, its scale and the number of classes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rue._arrays import show
from rue._schema import build, plain
from rue._text import JsonObject
from rue.beliefs import Belief
from rue.errors import InputError
from rue.losses import Classes, CostMatrix, Log, Loss, Valued, get_loss

_WORDS = {
    "method": "the method",
    "belief": "the kind of belief",
    "n_draws": "the number of draws per point",
    "n_classes": "the number of classes",
    "loss": "the loss",
    "values": "the values of the classes",
    "floor": "the floor of probabilities",
    "costs": "the cost matrix",
    "range": "the range of the answers",
}


@dataclass(frozen=True)
class Kind:
    """The kind of predictions that a rule is made for; None where it is unknown.

    Another method, loss or scale gives scores of another unit, on which the threshold of the rule
    is meaningless.

    Attributes
    ----------
    method : str or None
        Name of the method, if the prediction file gives it.
    belief : str or None
        ``"draws"``, ``"dirichlet"``, ``"scored"``, ``"gaussians"``, ``"samples"``,
        ``"normalinversegamma"``, or ``"components"`` read from a table.
    n_draws, n_classes : int or None
        Draws per point, and classes.
    loss : str or None
        Name of the loss.
    values : tuple of float or None
        Values of the classes under squared, absolute, rps and pinball loss.
    floor : float or None
        Floor on probabilities of the log loss; 0 for none.
    costs : tuple of tuple of float or None
        The cost matrix.
    classes : tuple of str or None
        Names of the classes in their order. New points may have them in another order.
    range : tuple of two floats or None
        The least and the largest answer possible, of real-valued outcomes.
    """

    method: str | None = None
    belief: str | None = None
    n_draws: int | None = None
    n_classes: int | None = None
    loss: str | None = None
    values: tuple[float, ...] | None = None
    floor: float | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    classes: tuple[str, ...] | None = None
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.loss is not None:
            _require_known(self.loss)
        if self.range is not None and not self.range[0] < self.range[1]:
            raise InputError(f"range must be two rising numbers, got {self.range}")
        if self.classes is None:
            return
        if len(set(self.classes)) < len(self.classes):
            raise InputError(f"classes must have different names, got {', '.join(self.classes)}")
        if self.n_classes not in (None, len(self.classes)):
            raise InputError(
                f"classes must name the {self.n_classes} classes, got {len(self.classes)} names"
            )

    @staticmethod
    def of(
        belief: Belief,
        loss: Loss,
        *,
        method: str | None = None,
        limits: tuple[float, float] | None = None,
    ) -> "Kind":
        """Return the kind of a belief and a loss, and of answers within ``limits``."""
        values = None
        if isinstance(loss, Valued) and belief.n_classes:
            scale = np.arange(float(belief.n_classes)) if loss.values is None else loss.values
            values = tuple(scale.tolist())
        return replace(
            Kind.of_loss(loss),
            method=method,
            belief=type(belief).__name__.lower(),
            n_draws=belief.n_draws,
            n_classes=belief.n_classes or None,
            classes=belief.outcomes.names,
            values=values,
            range=limits,
        )

    @staticmethod
    def of_loss(loss: Loss) -> "Kind":
        """Return the kind of a loss alone."""
        costs = loss.costs.tolist() if isinstance(loss, CostMatrix) else None
        return Kind(
            loss=loss.name,
            floor=(loss.floor or 0.0) if isinstance(loss, Log) else None,
            costs=None if costs is None else tuple(map(tuple, costs)),
        )

    def require(self, other: "Kind", name: str, *, owner: str = "the rule") -> None:
        """Raise InputError if the other is known to differ; the message says in what."""
        differences = []
        for field, words in _WORDS.items():
            mine, its = getattr(self, field), getattr(other, field)
            if mine is not None and its is not None and mine != its:
                differences.append(
                    f"{words} is {_shown(mine)} in {owner} and {_shown(its)} in {name}"
                )
        if differences:
            raise InputError(f"{owner} is made for something else: " + "; ".join(differences))

    def placed(self, belief: Belief, owner: str = "the rule") -> Belief:
        """Return a belief with its classes in the order that these have, by name."""
        if not belief.n_classes or self.n_classes is None:
            return belief
        names = self.n_classes if self.classes is None else self.classes
        return belief.onto_classes(Classes(names, self.values, order="user"), owner)

    def get_loss(self) -> Loss:
        """Return the loss; raise InputError if it is unknown."""
        if self.loss is None:
            raise InputError("the rule does not say which loss it is made for")
        if self.costs is not None:
            return CostMatrix(self.costs, self.classes)
        if self.loss == "log":
            return Log(self.floor or None)
        return get_loss(self.loss, values=self.values)

    def to_dict(self) -> JsonObject:
        """Return what is known, as JSON represents it."""
        content: JsonObject = plain(self)
        return content

    @staticmethod
    def from_dict(known: Mapping[str, object]) -> "Kind":
        """Return the kind that :meth:`to_dict` gave; raise InputError at an invalid field."""
        return build(Kind, known)


def largest_loss(kind: Kind) -> float:
    """Return the largest loss that predictions of this kind can have; infinity if unknown."""
    if kind.loss is None or (kind.n_classes is None and kind.belief not in (None, "components")):
        return math.inf if kind.range is None else kind.get_loss().real().bound(*kind.range)
    try:
        loss = kind.get_loss()
        few, many = (loss.bound(kind.n_classes or n) for n in (2, 3))
    except InputError:  # a loss of another package, or one about other classes
        return math.inf
    return few if few == many else math.inf


def _require_known(name: str) -> None:
    """Raise InputError unless a loss of rue, or one of another package, has this name."""
    classes = list(Loss.__subclasses__())
    for each in classes:  # which grows
        classes += each.__subclasses__()
    own = [getattr(each, "name", None) for each in classes]
    foreign = [each for each in classes if not each.__module__.startswith("rue.losses.")]
    unnamed = any(not isinstance(getattr(each, "name", None), str) for each in foreign)
    if name not in own and not unnamed:  # a loss with a parameter has its name from that
        get_loss(name)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        row = np.array(value)
        return f"{len(value)} rows" if row.ndim == 2 else show(row)
    return f"{value:g}" if isinstance(value, float) else str(value)
